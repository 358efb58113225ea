"""Which ASIC a hardware SKU has. Data: a word of the SKU or platform name and a name of the ASIC table.

Source: folder and table names of sonic-net/sonic-buildimage ``device/``, as listed in the headroom data.
"""

from __future__ import annotations

# First match wins; words are compared in lower case without separators.
WORDS: tuple[tuple[str, str], ...] = (
    ("z9864f", "Tomahawk 5"),
    ("7060x6", "Tomahawk 5"),
    ("ixr7220h5", "Tomahawk 5"),
    ("ais800", "Tomahawk 5"),
    ("nh4010", "Tomahawk 5"),
    ("ixr7220h6", "Tomahawk 6"),
    ("nh4210", "Tomahawk 6"),
    ("z9664f", "Tomahawk 4"),
    ("ixr7220h4", "Tomahawk 4"),
    ("z9332f", "Tomahawk 3"),
    ("silverstone", "Tomahawk 3"),
    ("ix932x", "Tomahawk 3"),
    ("z9264f", "Tomahawk 2"),
    ("7260cx3", "Tomahawk 2"),
    ("z9100", "Tomahawk"),
    ("7060cx", "Tomahawk"),
    ("seastone", "Tomahawk"),
    ("s6100", "Tomahawk"),
    ("s5232f", "Trident 3 X7"),
    ("7050cx3", "Trident 3 X7"),
    ("as7726", "Trident 3 X7"),
    ("s5448f", "Trident 4 X9"),
    ("ixr7220d4", "Trident 4 (D4 class)"),
    ("7800r3a", "Jericho 2C+"),
    ("7280dr3a", "Jericho 2C+"),
    ("7800r3", "Jericho 2"),
    ("7280r4", "Qumran 3D"),
    ("nh5010", "Qumran 3D"),
    ("sn66", "Spectrum-6"),
    ("sn68", "Spectrum-6"),
    ("sn5640", "Spectrum-5"),
    ("sn56", "Spectrum-4"),
    ("sn54", "Spectrum-4"),
    ("sn4", "Spectrum-3"),
    ("sn3", "Spectrum-2"),
    ("sn2", "Spectrum-1"),
    ("as9516", "Tofino 2"),
    ("newport", "Tofino 2"),
    ("d64p512t", "Teralynx 10"),
    ("dbmvtx9180", "Teralynx 8"),
    ("wistron6512", "Teralynx 7"),
)

# asic_type of sonic_version.yml, by the ASIC's family.
_FAMILIES = (
    ("Spectrum", "mellanox"),
    ("Tofino", "barefoot"),
    ("Teralynx", "marvell-teralynx"),
    ("Silicon", "cisco-8000"),
)


def asic(*names: str | None) -> str | None:
    """The ASIC behind a SKU or platform name, or None when the table does not know it."""
    for name in filter(None, names):
        plain = "".join(letter for letter in name.lower() if letter.isalnum())
        for text, found in WORDS:
            if text in plain:
                return found
    return None


def asic_type(asic_name: str | None) -> str:
    """SONiC's asic_type for an ASIC; Broadcom where nothing else is known."""
    for start, found in _FAMILIES:
        if (asic_name or "").startswith(start):
            return found
    return "broadcom"
