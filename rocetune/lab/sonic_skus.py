"""Hardware SKUs that the lab can stand in for: ASIC kind, folder, and the headroom table of the image.

Rows are those of ``pg_profile_lookup.ini`` in sonic-net/sonic-buildimage ``device/``, commit 086b03bd, in the
file's own columns: speed Mbit/s, cable m, size, xon, xoff, threshold [, xon_offset]. One table stands for a family
of SKUs. A SKU without one gets a table computed by the formula of sonic-swss ``buffer_headroom_mellanox.lua``
(2024-09 algorithm; half the packets small, a 144 byte cell), which is a stand-in and no vendor's number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

DEFAULT = "DellEMC-Z9332f-O32"
_SPEEDS = (10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000)
_LENGTHS_M = (5, 40, 300)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; sizes in bytes, ``threshold`` is log2(alpha)."""

    speed_mbps: int
    cable_m: int
    size: int
    xon: int
    xoff: int
    threshold: int
    xon_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Sku:
    """One family. ``word`` is looked for in the SKU's name, in lower case and without separators."""

    word: str
    asic_type: str
    platform: str
    table: str = ""

    @property
    def lossy_queue_profile(self) -> str:
        """NVIDIA images have one of their own."""
        return "q_lossy_profile" if self.asic_type == "mellanox" else "egress_lossy_profile"

    @property
    def rows(self) -> tuple[Row, ...]:
        """The headroom table."""
        return _rows(self.table) if self.table else _computed(self.asic_type)


FAMILIES: tuple[Sku, ...] = (
    Sku(
        "z9332f", "broadcom", "x86_64-dellemc_z9332f_d1508-r0",  # DellEMC-Z9332f-O32
        "100000,5,2540,2540,68580,-2,2540; 100000,40,2540,2540,74422,-2,2540; "
        "100000,300,2540,2540,117348,-2,2540; 100000,1000,2540,2540,233172,-2,2540; "
        "100000,2000,2540,2540,398526,-2,2540; 400000,5,2540,2540,178562,-2,2540; "
        "400000,40,2540,2540,201930,-2,2540; 400000,300,2540,2540,373888,-2,2540; "
        "400000,1000,2540,2540,836676,-2,2540; 400000,2000,2540,2540,1498092,-2,2540",
    ),
    Sku(
        "z9264f", "broadcom", "x86_64-dellemc_z9264f_c3538-r0",  # DellEMC-Z9264f-C64
        "10000,5,1248,2288,38064,-3,2288; 25000,5,1248,2288,52000,-3,2288; "
        "40000,5,1248,2288,64728,-3,2288; 50000,5,1248,2288,77168,-3,2288; "
        "100000,5,1248,2288,136032,-3,2288; 10000,40,1248,2288,39104,-3,2288; "
        "25000,40,1248,2288,54288,-3,2288; 40000,40,1248,2288,69472,-3,2288; "
        "50000,40,1248,2288,81744,-3,2288; 100000,40,1248,2288,145392,-3,2288; "
        "10000,300,1248,2288,47216,-3,2288; 25000,300,1248,2288,74464,-3,2288; "
        "40000,300,1248,2288,101712,-3,2288; 50000,300,1248,2288,122096,-3,2288; "
        "100000,300,1248,2288,225680,-3,2288",
    ),
    Sku(
        "z9864f", "broadcom", "x86_64-dell_z9864f-r0",  # Dell-Z9864f-O64
        "10000,5,18796,0,91440,0,3556; 25000,5,18796,0,91440,0,3556; 40000,5,18796,0,106934,0,3556; "
        "50000,5,18796,0,106934,0,3556; 100000,5,18796,0,147066,0,3556; 200000,5,18796,0,229362,0,3556; "
        "400000,5,18796,0,393192,0,3556; 800000,5,18796,0,729488,0,3556; 10000,40,18796,0,94742,0,3556; "
        "25000,40,18796,0,94742,0,3556; 40000,40,18796,0,113538,0,3556; 50000,40,18796,0,113538,0,3556; "
        "100000,40,18796,0,160274,0,3556; 200000,40,18796,0,255778,0,3556; "
        "400000,40,18796,0,446024,0,3556; 800000,40,18796,0,835406,0,3556; "
        "10000,300,18796,0,258572,0,3556; 25000,300,18796,0,258572,0,3556; "
        "40000,300,18796,0,258572,0,3556; 50000,300,18796,0,258572,0,3556; "
        "100000,300,18796,0,258572,0,3556; 200000,300,18796,0,452374,0,3556; "
        "400000,300,18796,0,839216,0,3556; 800000,300,18796,0,1621536,0,3556",
    ),
    Sku(
        "7050cx3", "broadcom", "x86_64-arista_7050cx3_32s",  # Arista-7050CX3-32S-C32/BALANCED
        "50000,5,4608,4608,160000,0,4608; 100000,5,4608,4608,160000,0,4608; "
        "50000,40,4608,4608,160000,0,4608; 100000,40,4608,4608,160000,0,4608; "
        "50000,300,4608,4608,160000,0,4608; 100000,300,4608,4608,160000,0,4608",
    ),
    Sku(
        "7060cx", "broadcom", "x86_64-arista_7060_cx32s",  # Arista-7060CX-32S
        "10000,5,1248,2288,35776,0,2288; 25000,5,1248,2288,53248,0,2288; 40000,5,1248,2288,66560,0,2288; "
        "50000,5,1248,2288,90272,0,2288; 100000,5,1248,2288,165568,0,2288; "
        "10000,40,1248,2288,37024,0,2288; 25000,40,1248,2288,53248,0,2288; "
        "40000,40,1248,2288,71552,0,2288; 50000,40,1248,2288,96096,0,2288; "
        "100000,40,1248,2288,177632,0,2288; 10000,300,1248,2288,46176,0,2288; "
        "25000,300,1248,2288,79040,0,2288; 40000,300,1248,2288,108160,0,2288; "
        "50000,300,1248,2288,141856,0,2288; 100000,300,1248,2288,268736,0,2288",
    ),
    Sku(
        "7260cx3", "broadcom", "x86_64-arista_7260cx3_64",  # Arista-7260CX3-D96C16
        "50000,5,1248,1248,56160,0,2496; 100000,5,1248,1248,96928,0,2496; "
        "50000,40,1248,1248,96096,0,2496; 100000,40,1248,1248,177632,0,2496; "
        "50000,300,1248,1248,141856,0,2496; 100000,300,1248,1248,268736,0,2496",
    ),
    Sku(
        "sn2", "mellanox", "x86_64-mlnx_msn2700-r0",  # ACS-MSN2700
        "10000,5,49152,19456,29696,0; 25000,5,49152,19456,29696,0; 40000,5,49152,19456,29696,0; "
        "50000,5,49152,19456,29696,0; 100000,5,50176,19456,30720,0; 10000,40,49152,19456,29696,0; "
        "25000,40,51200,19456,31744,0; 40000,40,52224,19456,32768,0; 50000,40,53248,19456,33792,0; "
        "100000,40,58368,19456,38912,0; 10000,300,56320,19456,36864,0; 25000,300,67584,19456,48128,0; "
        "40000,300,78848,19456,59392,0; 50000,300,86016,19456,66560,0; 100000,300,123904,19456,104448,0",
    ),
    Sku(
        "sn38", "mellanox", "x86_64-mlnx_msn3800-r0",  # ACS-MSN3800
        "10000,5,54272,19456,34816,0; 25000,5,58368,19456,38912,0; 40000,5,61440,19456,41984,0; "
        "50000,5,64512,19456,45056,0; 100000,5,75776,19456,56320,0; 10000,40,55296,19456,35840,0; "
        "25000,40,60416,19456,40960,0; 40000,40,65536,19456,46080,0; 50000,40,69632,19456,50176,0; "
        "100000,40,86016,19456,66560,0; 10000,300,63488,19456,44032,0; 25000,300,78848,19456,59392,0; "
        "40000,300,95232,19456,75776,0; 50000,300,106496,19456,87040,0; 100000,300,159744,19456,140288,0",
    ),
    Sku("sn3", "mellanox", "x86_64-mlnx_msn3700-r0"),  # up to 200G: computed
    Sku(
        "sn4", "mellanox", "x86_64-mlnx_msn4700-r0",  # ACS-MSN4700
        "10000,5,52224,19456,32768,0; 25000,5,52224,19456,32768,0; 40000,5,53248,19456,33792,0; "
        "50000,5,53248,19456,33792,0; 100000,5,53248,19456,33792,0; 200000,5,55296,19456,35840,0; "
        "400000,5,86016,37888,38912,0; 10000,40,53248,19456,33792,0; 25000,40,55296,19456,35840,0; "
        "40000,40,57344,19456,37888,0; 50000,40,58368,19456,38912,0; 100000,40,63488,19456,44032,0; "
        "200000,40,74752,19456,55296,0; 400000,40,124928,37888,77824,0; 10000,300,60416,19456,40960,0; "
        "25000,300,73728,19456,54272,0; 40000,300,86016,19456,66560,0; 50000,300,95232,19456,75776,0; "
        "100000,300,137216,19456,117760,0; 200000,300,223232,19456,203776,0; "
        "400000,300,420864,37888,373760,0",
    ),
    Sku(
        "sn5", "mellanox", "x86_64-nvidia_sn5600-r0",  # ACS-SN5600
        "10000,5,64512,19456,45056,0; 25000,5,67584,19456,48128,0; 40000,5,75776,19456,57344,0; "
        "50000,5,82944,19456,63488,0; 100000,5,133120,19456,113664,0; 200000,5,150528,19456,131072,0; "
        "400000,5,250880,19456,231424,0; 800000,5,304128,38912,257024,0; 10000,40,65536,19456,46080,0; "
        "25000,40,71680,19456,52224,0; 40000,40,81920,19456,62464,0; 50000,40,89088,19456,69632,0; "
        "100000,40,146432,19456,126976,0; 200000,40,177152,19456,157696,0; "
        "400000,40,303104,19456,283648,0; 800000,40,410624,38912,362496,0; "
        "10000,300,75776,19456,56320,0; 25000,300,96256,19456,76800,0; 40000,300,120832,19456,101376,0; "
        "50000,300,138240,19456,118784,0; 100000,300,244736,19456,225280,0; "
        "200000,300,374784,19456,355328,0; 400000,300,697344,19456,677888,0; "
        "800000,300,1198080,38912,1150976,0",
    ),
    Sku("sn6", "mellanox", "x86_64-nvidia_sn6600_ld-r0"),  # computed
)  # fmt: skip
OTHERS = Sku("", "broadcom", "x86_64-generic_leaf-r0")


def sku(name: str) -> Sku:
    """The family of a hardware SKU."""
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    return next((family for family in FAMILIES if family.word in plain), OTHERS)


def headroom_ini(name: str) -> str:
    """pg_profile_lookup.ini of a SKU."""
    head = "# PG lossless profiles.\n# speed cable size xon xoff threshold xon_offset\n"
    return head + "".join(
        "  ".join(
            [str(row.speed_mbps), f"{row.cable_m}m", *map(str, (row.size, row.xon, row.xoff, row.threshold))]
            + ([] if row.xon_offset is None else [str(row.xon_offset)])
        )
        + "\n"
        for row in sku(name).rows
    )


# Pause quanta of 64 bytes by speed (IEEE 802.3 31B.3.7), as sonic-swss has them.
_QUANTA = {
    10_000: 67, 25_000: 80, 40_000: 118, 50_000: 147, 100_000: 394, 200_000: 453, 400_000: 905, 800_000: 905,
}  # fmt: skip
_XON, _MAC_PHY_DELAY, _LOSSLESS_MTU = 19 * 1024, round(0.8 * 1024), 1024
_SIGNAL_M_PER_S = 198_000_000
_CELL_FACTOR = 3  # worst case of a 144 byte cell
_SMALL_SHARE = 6400 / ((50 * 64 + 50 * _LOSSLESS_MTU) / 100)  # percent of bytes, half of all packets being small


def xoff_bytes(speed_mbps: int, cable_m: int, mtu_bytes: int = 9100) -> int:
    """Headroom by the formula, bytes. An unknown speed counts as the next higher known one."""
    known = min((rate for rate in _QUANTA if rate >= speed_mbps), default=max(_QUANTA))
    cable = 2 * cable_m * speed_mbps * 1_000_000_000 / _SIGNAL_M_PER_S / 8000
    delay = mtu_bytes + cable + _MAC_PHY_DELAY + 64 * _QUANTA[known]
    cells = ((100 - _SMALL_SHARE) + _SMALL_SHARE * _CELL_FACTOR) / 100
    return 1024 * math.ceil((_LOSSLESS_MTU + delay * cells) / 1024)


def computed(speed_mbps: int, cable_m: int, mtu_bytes: int, *, shared: bool) -> Row:
    """A row by the formula. ``shared``: headroom comes out of a pool, the private size is xon alone."""
    xoff = xoff_bytes(speed_mbps, cable_m, mtu_bytes)
    return Row(speed_mbps, cable_m, _XON if shared else _XON + xoff, _XON, xoff, 0)


@cache
def _computed(asic_type: str) -> tuple[Row, ...]:
    shared = asic_type != "mellanox"
    return tuple(computed(speed, length, 9100, shared=shared) for speed in _SPEEDS for length in _LENGTHS_M)


@cache
def _rows(table: str) -> tuple[Row, ...]:
    return tuple(_parsed(line) for line in table.split(";"))


def _parsed(line: str) -> Row:
    numbers: Iterator[int] = (int(part) for part in line.split(","))
    return Row(*numbers)
