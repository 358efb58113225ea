"""The chips that are known: buffer, cells, headroom presets, and how sure each figure is."""

from __future__ import annotations

from collections.abc import Iterable

from rocetune.model.units import show_bytes, show_speed
from rocetune.report import encode
from rocetune.report.table import PLAIN, Paint, markdown_table, table, to_json
from rocetune.tuning.asics import Asic, Fit, Lines, Parts
from rocetune.tuning.families import Family
from rocetune.tuning.published import PublishedTable, published

_HEAD = ("chip", "part", "buffer", "cell", "fastest port", "headroom preset", "tables", "confidence")
_LAYOUTS = {
    "shared": "one buffer for all ports",
    "sliced": "slices that do not lend to each other",
    "voq": "virtual output queues, deep buffer outside the chip",
    "nic": "network adapter",
}


_ONE_TABLE = "A preset is one maker's calculation for the chip; others of the same chip differ (docs/reproduction.md)."


def asics_text(found: Iterable[Asic]) -> str:
    """One row per chip."""
    return table(_rows(found), _HEAD, right=(2, 3, 4, 6)) + "\n\n" + _ONE_TABLE


def asics_markdown(found: Iterable[Asic]) -> str:
    """The same as a markdown table."""
    return markdown_table(_rows(found), _HEAD) + "\n\n" + _ONE_TABLE + "\n"


def _rows(found: Iterable[Asic]) -> list[list[str]]:
    return [
        [
            asic.name,
            asic.part or "-",
            _size(asic.packet_bytes()),
            f"{asic.cell_bytes} B" if asic.cell_bytes else "-",
            _port(asic),
            _short_preset(asic),
            str(len(_tables(asic))),
            asic.confidence + (f" (unsure: {', '.join(asic.unsure)})" if asic.unsure else ""),
        ]
        for asic in found
    ]


def _size(size: int | None) -> str:
    if size is None:
        return "-"
    return show_bytes(size) if size < 10**9 else f"{size / 10**9:.4g} GB"


def _port(asic: Asic) -> str:
    return f"{asic.port_gbps}G" if asic.port_gbps else "-"


def _short_preset(asic: Asic) -> str:
    family = asic.reference
    if family is None:
        return "canonical sum" if asic.cell_bytes and asic.layout != "voq" else "-"
    preset = family.preset
    if isinstance(preset, Parts):
        return "sum of parts"
    kind = "a line per speed" if isinstance(preset, Lines) else "fitted"
    return f"{kind}, {preset.error_percent:g} % off its own table"


_TABLES = ("published table", "speeds", "lengths", "at the longest", "confidence", "note")


def asic_text(asic: Asic, paint: Paint = PLAIN) -> str:
    """Everything about one chip."""
    rows = [[name, value] for name, value in _facts(asic) if value]
    blocks = [f"{paint('bold', asic.name)}  {asic.vendor}", table(rows, indent="  ")]
    listed = _table_rows(asic)
    if listed:
        blocks.append(f"published headroom tables ({len(listed)})\n" + table(listed, _TABLES, indent="  "))
    return "\n\n".join(blocks)


def asic_markdown(asic: Asic) -> str:
    """The same for a document."""
    rows = [[name, value] for name, value in _facts(asic) if value]
    blocks = [f"### {asic.name} ({asic.vendor})", markdown_table(rows, ("", ""))]
    listed = _table_rows(asic)
    return "\n\n".join([*blocks, *([markdown_table(listed, _TABLES)] if listed else [])]) + "\n"


def _tables(asic: Asic) -> list[PublishedTable]:
    return [item for item in published() if asic.key in (item.asic, *item.also)]


def _table_rows(asic: Asic) -> list[list[str]]:
    return [_table_row(item) for item in _tables(asic)]


def _table_row(item: PublishedTable) -> list[str]:
    if not item.rows:
        return [item.name, "-", "-", "no rows", item.confidence, item.note]
    lengths = sorted({row.cable_m for row in item.rows})
    speeds = sorted({row.speed_mbps for row in item.rows})
    last = max(item.rows, key=lambda row: (row.speed_mbps, row.cable_m))
    return [
        item.name,
        f"{show_speed(speeds[0])} to {show_speed(speeds[-1])}" if len(speeds) > 1 else show_speed(speeds[0]),
        " ".join(f"{metres:g}" for metres in lengths) + " m",
        f"{show_speed(last.speed_mbps)}: {last.xoff_bytes:,} B",
        item.confidence,
        item.note,
    ]


def _facts(asic: Asic) -> Iterable[tuple[str, str]]:
    yield "part", asic.part or ""
    yield "also called", ", ".join(asic.aliases)
    yield "in", ", ".join(asic.models)
    yield "capacity", f"{asic.capacity_gbps / 1000:g} Tbit/s" if asic.capacity_gbps else ""
    yield "fastest port", _port(asic)
    yield "buffer, data sheet", f"{asic.nominal_bytes:,} B" if asic.nominal_bytes else ""
    yield "buffer, largest pool seen", f"{asic.usable_bytes:,} B" if asic.usable_bytes else ""
    yield "memory outside", f"{asic.hbm_bytes:,} B" if asic.hbm_bytes else ""
    slices = f", {asic.slices} slices" if asic.slices > 1 else ""
    yield "layout", _LAYOUTS[asic.layout] + slices
    yield "cell", f"{asic.cell_bytes} B" if asic.cell_bytes else "not published"
    yield from _preset_facts(asic)
    for pool in asic.pools:
        sizes = (("packets", pool.packets_bytes), ("headroom", pool.headroom_bytes))
        yield f"pools on {pool.model}", ", ".join(f"{name} {size:,} B" for name, size in sizes if size)
    for model, delay in asic.gearbox_ns:
        yield f"gearbox of {model}", f"{delay:g} ns each way"
    yield "source", asic.source
    yield "confidence", asic.confidence
    yield "not confirmed", ", ".join(asic.unsure)


def _preset_facts(asic: Asic) -> Iterable[tuple[str, str]]:
    family = asic.reference
    if family is None:
        canonical = "canonical sum with the worst factor of its cells" if asic.cell_bytes else "give the cell size"
        yield "headroom preset", f"none: {canonical}"
        return
    for number, words in enumerate(_preset_words(family)):
        yield "" if number else "headroom preset", words
    yield "fitted to", ", ".join(family.tables) or asic.preset_table


def _preset_words(family: Family) -> Iterable[str]:
    preset = family.preset
    if isinstance(preset, Fit):
        words = f"{preset.base_bytes:,.0f} B + {preset.fixed_us:g} us x R + {preset.wire_factor:g} x 2LR/v"
        yield f"{words}; worst error of the fit {preset.error_percent:g} %"
    elif isinstance(preset, Parts):
        response = "limit of IEEE 802.3" if preset.response_bytes is None else f"{preset.response_bytes:,.1f} B"
        factor = "from the cell" if preset.factor is None else f"{preset.factor:.4g}"
        words = f"frame + F x (MTU + 2LR/v + delay {preset.delay_ns:g} ns + MAC/PHY {preset.mac_phy_bytes:g} B + peer: "
        yield f"{words}{response}), F {factor}"
    else:
        for line in preset.lines:
            pieces = (f"{base:,.0f} B + {factor:g} x 2LR/v" for base, factor in line.pieces)
            yield f"{show_speed(line.speed_mbps)}: {', or if more '.join(pieces)}"
        yield f"worst error {preset.error_percent:g} %"


def asics_json(found: Iterable[Asic]) -> str:
    """Every chip as ``rocetune.asics/1``; see docs/calculators.md."""
    return to_json({"format": "rocetune.asics/1", "asics": [asic_json(asic) for asic in found]})


def asic_json(asic: Asic) -> encode.Json:
    """One chip; null where a figure is not known."""
    return {
        "key": asic.key,
        "name": asic.name,
        "vendor": asic.vendor,
        "part": asic.part,
        "aliases": list(asic.aliases),
        "models": list(asic.models),
        "capacity_gbps": asic.capacity_gbps,
        "port_gbps": asic.port_gbps,
        "cell_bytes": asic.cell_bytes,
        "nominal_bytes": asic.nominal_bytes,
        "usable_bytes": asic.usable_bytes,
        "hbm_bytes": asic.hbm_bytes,
        "layout": asic.layout,
        "slices": asic.slices,
        "preset": _preset_json(asic.reference),
        "tables": [
            {"name": item.name, "rows": len(item.rows), "source": item.source, "confidence": item.confidence}
            for item in _tables(asic)
        ],
        "pools": [
            {"model": pool.model, "packets_bytes": pool.packets_bytes, "headroom_bytes": pool.headroom_bytes}
            for pool in asic.pools
        ],
        "gearbox_ns": dict(asic.gearbox_ns),
        "source": asic.source,
        "confidence": asic.confidence,
        "unsure": list(asic.unsure),
    }


def _preset_json(family: Family | None) -> encode.Json | None:
    if family is None:
        return None
    preset = family.preset
    about = {"name": family.name, "tables": list(family.tables)}
    if isinstance(preset, Fit):
        return about | {
            "kind": "fit",
            "base_bytes": preset.base_bytes,
            "fixed_us": preset.fixed_us,
            "wire_factor": preset.wire_factor,
            "error_percent": preset.error_percent,
        }
    if isinstance(preset, Parts):
        return about | {
            "kind": "sum",
            "mac_phy_bytes": preset.mac_phy_bytes,
            "response_bytes": preset.response_bytes,
            "delay_ns": preset.delay_ns,
            "factor": preset.factor,
        }
    lines = {str(line.speed_mbps): [list(piece) for piece in line.pieces] for line in preset.lines}
    return about | {"kind": "lines", "lines": lines, "error_percent": preset.error_percent}
