"""The ASIC table: packet buffer, cell size and headroom presets of switch chips, as data."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml

from rocetune.model.units import show_speed
from rocetune.tuning import published
from rocetune.tuning.families import Family, Fit, Lines, Parts, Preset, fallback_of, family_of, reference_of

__all__ = ["Asic", "AsicTable", "Fit", "Lines", "Parts", "Pool", "Preset", "table"]

Layout = Literal["shared", "sliced", "voq", "nic"]
Confidence = Literal["high", "medium", "low"]

_VENDORS = ("broadcom", "nvidia", "mellanox", "marvell", "innovium", "cisco", "intel", "brcm", "strataxgs", "stratadnx")
_MAKERS = {"arista", "dell", "dellemc", "juniper", "cisco", "nexus", "nokia", "edgecore", "accton", "celestica", "fs"}
_MAKERS |= {"supermicro", "wistron", "marvell", "nexthop"}
# Speeds that Ethernet has, Mbit/s.
_ETHERNET_MBPS = (100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000)
_OWN_BUFFER = {"buffer_bytes", "usable_bytes"}  # fields of a user's row
_REVISION = re.compile(r"([a-z]+[0-9]{4,})([a-z][0-9]*)")


@dataclass(frozen=True, slots=True)
class Pool:
    """Pools that one network OS configures on one model, bytes."""

    model: str
    packets_bytes: int | None
    headroom_bytes: int | None


@dataclass(frozen=True, slots=True)
class Asic:
    """One chip. What is not known is None."""

    key: str
    name: str
    vendor: str
    part: str | None
    aliases: tuple[str, ...]
    models: tuple[str, ...]
    capacity_gbps: int | None
    port_gbps: int | None  # fastest port that the sources list
    cell_bytes: int | None
    nominal_bytes: int | None
    usable_bytes: int | None
    hbm_bytes: int | None
    layout: Layout
    slices: int
    preset: Fit | Parts | None  # the chip's own, from one table; see presets_for
    preset_table: str
    gearbox_ns: tuple[tuple[str, float], ...]
    pools: tuple[Pool, ...]
    source: str
    confidence: Confidence
    unsure: tuple[str, ...]
    slowest_mbps: int | None = None  # where ports are slower than published tables list
    user: tuple[str, ...] = ()  # fields that a user stated or overrode

    @property
    def threshold_cell(self) -> int:
        """What thresholds are whole multiples of, bytes: 1 where the cell is not known or the buffer is a deep one."""
        return (self.cell_bytes or 1) if self.layout != "voq" else 1

    @property
    def reference(self) -> Family | None:
        """The preset of the bare chip: the user's, else the one that holds on the whole of its table, else the fit."""
        mine = Family(self.name, self.preset, ()) if self.preset is not None else None
        return mine if "headroom" in self.user else reference_of(self.key) or mine

    def presets_for(self, model: str | None, copied: bool = True) -> tuple[Family, ...]:
        """Presets of a model, of which the largest value counts; without a model the chip's reference.

        A model with a table gets the preset fitted to it. For any other the reference is joined by what its maker
        publishes for this chip, and by the table that makers of Broadcom platforms copy most: one of them is likely
        what the model runs. ``copied=False`` leaves the last out, for a platform that runs no SONiC.
        A chip without any preset borrows its maker's from other chips of the vendor.
        """
        reference = self.reference
        if model is None or "headroom" in self.user:
            return (reference,) if reference is not None else ()
        found = published.match(model)
        own = [item for item in found.tables if self._has(item)] if found is not None and found.own else []
        fitted = [family_of(item.name) for item in own if not item.empty]
        if fitted and all(fitted):
            return tuple(dict.fromkeys(item for item in fitted if item is not None))
        maker = published.maker_of(model)
        wanted = [reference, *fitted]
        wanted += [family_of(item.name) for item in published.published() if item.maker == maker and self._has(item)]
        if reference is None:
            wanted += [family for family, _ in self._lenders(maker)]
        if copied and self.layout != "voq":
            wanted.append(fallback_of(self.vendor))
        return tuple(dict.fromkeys(item for item in wanted if item is not None))

    def _lenders(self, maker: str) -> list[tuple[Family, int | None]]:
        """Presets of a maker for other chips of the vendor, with their cells: those that have ports as fast, if any."""
        chips = table()
        found: list[tuple[Family, int | None, int]] = []
        for item in published.published():
            chip, family = chips.get(item.asic), family_of(item.name)
            if item.maker == maker and chip is not None and chip.vendor == self.vendor and family is not None:
                found.append((family, chip.cell_bytes, max(row.speed_mbps for row in item.rows)))
        as_fast = [item for item in found if item[2] >= (self.port_gbps or 0) * 1000]
        return [(family, cell) for family, cell, _ in as_fast or found]

    def lent(self, family: Family, model: str | None) -> float:
        """By how much a preset of another chip grows here: larger cells inflate every frame. 1 for its own."""
        if self.reference is not None or family.fallback or self.cell_bytes is None:
            return 1.0
        cells = [cell for item, cell in self._lenders(published.maker_of(model)) if item is family and cell]
        return max((self.cell_bytes / cell for cell in cells), default=1.0) if cells else 1.0

    def _has(self, item: published.PublishedTable) -> bool:
        return self.key in (item.asic, *item.also)

    def speeds(self) -> tuple[int, ...]:
        """Port speeds (Mbit/s) that published tables list for the chip, without those that a copied table adds."""
        most = (self.port_gbps or 10**6) * 1000
        found = {row.speed_mbps for item in published.published() if self._has(item) for row in item.rows}
        return tuple(sorted(speed for speed in found if speed <= most))

    def accepted(self) -> tuple[int, ...]:
        """Ethernet speeds (Mbit/s) from the slowest port that is known of the chip to its fastest."""
        listed = self.speeds()
        slowest = self.slowest_mbps or (10_000 if listed else 1000)
        most = self.port_gbps * 1000 if self.port_gbps is not None else max((*listed, _ETHERNET_MBPS[-1]))
        return tuple(speed for speed in _ETHERNET_MBPS if min(slowest, *listed, most) <= speed <= most)

    def check_speed(self, speed_mbps: int) -> None:
        """Raises ValueError for a speed that no port of the chip has, with those that are accepted."""
        accepted = self.accepted()
        if speed_mbps in accepted:
            return
        rates = ", ".join(show_speed(speed) for speed in accepted)
        if speed_mbps > accepted[-1]:
            most = show_speed(accepted[-1])
            raise ValueError(
                f"{self.name} has ports up to {most} ({rates}): {show_speed(speed_mbps)} is more than that"
            )
        raise ValueError(f"no port of {self.name} runs at {show_speed(speed_mbps)}: its speeds are {rates}")

    def pool(self, model: str | None) -> Pool | None:
        """Pools of a model (``Z9332F`` is found in ``DellEMC-Z9332f-O32``), or None."""
        text = _squeeze(model or "")
        if not text or _OWN_BUFFER & set(self.user):  # a user's own buffer is not what SONiC's pools were made for
            return None
        return next((pool for pool in self.pools if _squeeze(pool.model) in text), None)

    def packet_bytes(self, model: str | None = None) -> int | None:
        """Buffer that packets can use: the model's configured pool, else the smaller of nominal and usable size."""
        pool = self.pool(model)
        if pool is not None and pool.packets_bytes is not None:
            return pool.packets_bytes
        known = [size for size in (self.nominal_bytes, self.usable_bytes) if size is not None]
        return min(known) if known else None

    def gearbox(self, model: str | None) -> float:
        """Extra one-way delay of a model in nanoseconds, 0 where none is known."""
        text = _squeeze(model or "")
        return next((delay for name, delay in self.gearbox_ns if text and _squeeze(name) in text), 0.0)


class AsicTable:
    """All known chips, found by name, alias, part number or switch model in any spelling."""

    def __init__(self, asics: Mapping[str, Asic]) -> None:
        self._asics = dict(asics)
        self._names: dict[str, str] = {}
        self._models: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        for key, asic in self._asics.items():
            for name in (key, asic.name, asic.part, *asic.aliases):
                if name:
                    self._names.setdefault(_squeeze(name), key)
            for model in asic.models:
                self._models.setdefault(_core(model), key)
                self._spelled.setdefault(_core(model), model)

    def __iter__(self) -> Iterator[Asic]:
        return iter(self._asics.values())

    def __len__(self) -> int:
        return len(self._asics)

    def find(self, text: str) -> Asic | None:
        """A chip by ``Tomahawk 3``, ``broadcom-tomahawk3``, ``TH3``, ``BCM56980B0`` or a model; None if unknown."""
        key = self._key_of(text)
        return self._asics[key] if key else self.by_model(text)

    def _key_of(self, text: str) -> str | None:
        wanted = _squeeze(text)
        for vendor in _VENDORS:
            if wanted.startswith(vendor) and wanted[len(vendor) :] in self._names:
                wanted = wanted[len(vendor) :]
        revision = _REVISION.fullmatch(wanted)
        return self._names.get(wanted) or (self._names.get(revision[1]) if revision else None)

    def by_model(self, text: str) -> Asic | None:
        """A chip by switch model or SONiC hardware SKU (``DCS-7060DX4-32``, ``DellEMC-Z9332f-O32``)."""
        wanted = _squeeze(text)
        if wanted in self._models:
            return self._asics[self._models[wanted]]
        hits = [model for model in self._models if len(model) >= 5 and model in wanted]
        if hits:
            return self._asics[self._models[max(hits, key=len)]]
        return self._asics.get(published.asic_of(text))

    def get(self, key: str) -> Asic | None:
        """A chip by its key in asics.yaml."""
        return self._asics.get(key)

    def extended(self, rows: Mapping[str, Mapping[str, Any]]) -> AsicTable:
        """A table with a user's chips: new ones, or single fields of known ones. See asic_rows for the fields.

        ``rows`` is by name in any spelling. Raises ValueError for an unknown field or a value that cannot be.
        """
        from rocetune.tuning.asic_rows import changed, made  # it needs Asic

        asics = dict(self._asics)
        for name, row in rows.items():
            known = self.find_name(name)
            asic = changed(known, name, row) if known is not None else made(name, row, _squeeze(name))
            asics[asic.key] = asic
        return AsicTable(asics)

    def find_name(self, text: str) -> Asic | None:
        """A chip by name, alias or part number alone; None if unknown."""
        key = self._key_of(text)
        return self._asics[key] if key else None

    def suggest(self, text: str) -> tuple[str, ...]:
        """Up to three names that the user may have meant."""
        near = difflib.get_close_matches(_squeeze(text), self._names, n=6, cutoff=0.6)
        return tuple(dict.fromkeys(self._asics[self._names[name]].name for name in near))[:3]

    def near_models(self, text: str) -> tuple[str, ...]:
        """Up to two models that the user may have meant, each with its chip: ``SN4700 (Spectrum-3)``."""
        near = difflib.get_close_matches(_squeeze(text), self._models, n=2, cutoff=0.6)
        return tuple(f"{self._spelled[name]} ({self._asics[self._models[name]].name})" for name in near)

    def names(self) -> tuple[str, ...]:
        """Names of all chips, in the table's order."""
        return tuple(asic.name for asic in self._asics.values())

    def widest_cell(self) -> int:
        """The largest cell of any on-chip buffer: what an unknown chip is assumed to have."""
        return max(asic.cell_bytes for asic in self if asic.cell_bytes and asic.layout != "voq")


def _squeeze(text: str) -> str:
    return re.sub(r"[^a-z0-9+]", "", text.lower())


def _core(model: str) -> str:
    """A model name without its maker and without the ``-ON`` of open-networking variants."""
    words = [word for word in model.split() if word.lower() not in _MAKERS]
    return _squeeze(re.sub(r"-ON$", "", " ".join(words)))


def _preset(block: Mapping[str, Any]) -> Fit | Parts | None:
    if "fit" in block:
        return Fit(**{key: float(value) for key, value in block["fit"].items()})
    if "sum" in block:
        parts = block["sum"]
        response = None if parts.get("quanta") else float(parts["response_bytes"])
        return Parts(float(parts["mac_phy_bytes"]), response, float(parts.get("delay_ns", 0)))
    return None


def _asic(key: str, row: Mapping[str, Any]) -> Asic:
    buffer, headroom = row["buffer"], row.get("headroom", {})
    pools = row.get("pools", {})
    return Asic(
        key=key,
        name=row["name"],
        vendor=row["vendor"],
        part=row.get("part"),
        aliases=tuple(row.get("aliases", ())),
        models=tuple(row.get("models", ())),
        capacity_gbps=row.get("capacity_gbps"),
        port_gbps=row.get("port_gbps"),
        cell_bytes=row.get("cell"),
        nominal_bytes=buffer.get("nominal"),
        usable_bytes=buffer.get("usable"),
        hbm_bytes=buffer.get("hbm"),
        layout=buffer["layout"],
        slices=buffer.get("slices", 1),
        preset=_preset(headroom),
        preset_table=headroom.get("table", ""),
        gearbox_ns=tuple((name, float(delay)) for name, delay in row.get("gearbox_ns", {}).items()),
        pools=tuple(Pool(name, pool.get("packets"), pool.get("headroom")) for name, pool in pools.items()),
        source=row["from"],
        confidence=row["confidence"],
        unsure=tuple(row.get("unsure", ())),
        slowest_mbps=row.get("slowest_mbps"),
    )


@cache
def table() -> AsicTable:
    """The shipped table, read once."""
    text = resources.files("rocetune.tuning").joinpath("data/asics.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load(text, Loader=loader)["asics"]
    return AsicTable({key: _asic(key, row) for key, row in rows.items()})
