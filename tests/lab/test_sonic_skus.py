"""The lab's headroom tables against the published ones, and its formula against worked values."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from rocetune.lab.sonic_skus import headroom_ini, sku, xoff_bytes
from rocetune.model.state import Reply
from rocetune.platforms.sonic import PLATFORM, asics
from rocetune.platforms.sonic import facts as facts_of

TABLE = Path(__file__).resolve().parents[3] / "shared/data/sonic_headroom_lookup.csv"
SKUS = (
    "ACS-MSN2700", "ACS-MSN3800", "ACS-MSN4700", "ACS-SN5600", "DellEMC-Z9332f-O32", "DellEMC-Z9264f-C64",
    "Dell-Z9864f-O64", "Arista-7050CX3-32S-C32/BALANCED", "Arista-7060CX-32S", "Arista-7260CX3-D96C16",
)  # fmt: skip


@pytest.mark.skipif(not TABLE.exists(), reason="the published tables are not beside the repository")
@pytest.mark.parametrize("name", SKUS)
def test_rows_are_the_published_ones(name: str) -> None:
    """sonic-buildimage device/**/pg_profile_lookup.ini, re-tabulated."""
    fields = ("speed_mbps", "cable_m", "size_bytes", "xon_bytes", "xoff_bytes", "threshold")
    with TABLE.open() as stream:
        want = {tuple(int(row[field]) for field in fields) for row in csv.DictReader(stream) if row["hwsku"] == name}
    assert want
    have = {(r.speed_mbps, r.cable_m, r.size, r.xon, r.xoff, r.threshold) for r in sku(name).rows}
    assert have == want


@pytest.mark.parametrize(
    ("speed", "metres", "bytes_"), [(100_000, 5, 46080), (400_000, 5, 88064)], ids=["Spectrum-2", "Spectrum-3"]
)
def test_the_formula(speed: int, metres: int, bytes_: int) -> None:
    """Worked values of the headroom reference: MTU 9100, half the packets small, no shared pool."""
    assert xoff_bytes(speed, metres) == bytes_


@pytest.mark.parametrize("name", [*SKUS, "ACS-MSN3700", "Some-Box-32"])
def test_the_product_reads_every_table(name: str) -> None:
    facts = PLATFORM.facts({facts_of.HEADROOM: Reply(headroom_ini(name))})
    assert len(facts_of.headroom_rows(facts)) == len(sku(name).rows) > 5


@pytest.mark.parametrize("name", [*SKUS, "ACS-MSN3700", "ACS-SN6600_LD"])
def test_the_product_takes_a_sku_for_the_same_kind(name: str) -> None:
    """Offline the ASIC's kind follows from the SKU's name; the lab says it in sonic_version.yml."""
    assert asics.asic_type(asics.asic(name)) == sku(name).asic_type
