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

Layout = Literal["shared", "sliced", "voq", "nic"]
Confidence = Literal["high", "medium", "low"]

_VENDORS = ("broadcom", "nvidia", "mellanox", "marvell", "innovium", "cisco", "intel", "brcm", "strataxgs", "stratadnx")
_MAKERS = {"arista", "dell", "dellemc", "juniper", "cisco", "nexus", "nokia", "edgecore", "accton", "celestica", "fs"}
_MAKERS |= {"supermicro", "wistron", "marvell", "nexthop"}
_REVISION = re.compile(r"([a-z]+[0-9]{4,})([a-z][0-9]*)")


@dataclass(frozen=True, slots=True)
class Fit:
    """Headroom preset fitted to a published table: ``base + fixed_us * R + wire_factor * 2LR/v``."""

    base_bytes: float
    fixed_us: float
    wire_factor: float
    error_percent: float  # worst error of the fit; the planned number is raised by it


@dataclass(frozen=True, slots=True)
class Parts:
    """Headroom preset as a sum of parts (NVIDIA's calculation). ``response_bytes`` None: the IEEE limit."""

    mac_phy_bytes: float
    response_bytes: float | None
    delay_ns: float = 0.0


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
    preset: Fit | Parts | None
    preset_table: str
    gearbox_ns: tuple[tuple[str, float], ...]
    pools: tuple[Pool, ...]
    source: str
    confidence: Confidence
    unsure: tuple[str, ...]

    def pool(self, model: str | None) -> Pool | None:
        """Pools of a model (``Z9332F`` is found in ``DellEMC-Z9332f-O32``), or None."""
        text = _squeeze(model or "")
        return next((pool for pool in self.pools if _squeeze(pool.model) in text), None) if text else None

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
        wanted = _squeeze(text)
        for vendor in _VENDORS:
            if wanted.startswith(vendor) and wanted[len(vendor) :] in self._names:
                wanted = wanted[len(vendor) :]
        revision = _REVISION.fullmatch(wanted)
        key = self._names.get(wanted) or (self._names.get(revision[1]) if revision else None)
        return self._asics[key] if key else self.by_model(text)

    def by_model(self, text: str) -> Asic | None:
        """A chip by switch model or SONiC hardware SKU (``DCS-7060DX4-32``, ``DellEMC-Z9332f-O32``)."""
        wanted = _squeeze(text)
        hits = [model for model in self._models if len(model) >= 5 and model in wanted]
        return self._asics[self._models[max(hits, key=len)]] if hits else None

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
    )


@cache
def table() -> AsicTable:
    """The shipped table, read once."""
    text = resources.files("rocetune.tuning").joinpath("data/asics.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load(text, Loader=loader)["asics"]
    return AsicTable({key: _asic(key, row) for key, row in rows.items()})
