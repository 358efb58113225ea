#!/usr/bin/env python3
"""Writes docs/reproduction.md and docs/reproduction-rows.md: published headroom rows beside what this program computes.

    python scripts/reproduction.py            write both pages
    python scripts/reproduction.py --check    exit 1 when a committed page is not what would be written
    python scripts/reproduction.py FILE.csv   the same statistics for other tables of the same shape, on the terminal:
                                              as a table of one's own, by default, by preset, by the bare chip

A CSV has the columns hwsku (or model), asic, speed_mbps, cable_m and xoff_bytes. Everything else is packaged data.
"""

from __future__ import annotations

import argparse
import csv
import io
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path

from reproduction_other import BadFile, other_tables, percent
from reproduction_points import Point, chip, points, preset_of
from reproduction_text import (
    APPENDIX,
    CAUTION,
    EXAMPLES,
    INTRODUCTION,
    NVIDIA,
    ONE_CHIP,
    RAISED,
    SECOND,
    SMALLER,
    STRANGER,
)

from rocetune.model.units import show_speed
from rocetune.tuning import lossless_formulas as formulas
from rocetune.tuning import wire
from rocetune.tuning.asics import Fit, Parts, table
from rocetune.tuning.cells import nvidia_worst
from rocetune.tuning.families import Apart, Lines, Preset, families
from rocetune.tuning.headroom import fit_bytes, parts_bytes
from rocetune.tuning.nic import mlx5_receive_buffer
from rocetune.tuning.published import PublishedTable, Row, published

REPORT = Path(__file__).resolve().parents[1] / "docs" / "reproduction.md"
ROWS = REPORT.with_name("reproduction-rows.md")  # every row
LIMIT = 0.05


def spread(errors: Sequence[float]) -> str:
    """Median and the two ends."""
    if not errors:
        return "-"
    return f"{percent(statistics.median(errors))} ({percent(min(errors))} to {percent(max(errors))})"


def worst(errors: Sequence[float]) -> str:
    return percent(max(errors, key=abs)) if errors else "-"


def grid(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    return [
        "| " + " | ".join(heading) + " |",
        "|" + "---|" * len(heading),
        *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows),
        "",
    ]


Tables = dict[str, tuple[PublishedTable, list[Point]]]


def everything() -> Tables:
    return {item.name: (item, points(item)) for item in published()}


def report(made: Tables) -> str:
    lines = [
        *_summary(made),
        *_per_asic(made),
        *_per_table(made),
        *_one_chip(made),
        *_strangers(made),
        *_not_exact(made),
    ]
    lines += [*_examples(), *_why_off()]
    return "\n".join(lines).rstrip() + "\n"


def _summary(made: Tables) -> list[str]:
    every = [item for _, found in made.values() for item in found]
    exact = sum(item.default == item.published for item in every)
    raised = sum(item.raised for item in every)
    below = sum(item.default < item.published for item in every)
    unknown = [item.error(item.stranger) for item in every if item.stranger is not None]
    low = [error for error in unknown if error < 0]
    return [
        "# Headroom: computed against published",
        "",
        *INTRODUCTION.splitlines(),
        "",
        *CAUTION.splitlines(),
        "",
        *grid(
            ("", "rows", "exact", "raised to the floor", "below published"),
            [("default", len(every), exact, raised, below)],
        ),
        *grid(
            ("lookup off", "rows", "within 5 %", "median", "worst", "below published", "by at most"),
            [
                _off_row("the preset itself", every, [item.rule for item in every]),
                _off_row("as given: not below the floor", every, [item.off for item in every]),
            ],
        ),
        *grid(
            ("not known: each table in turn", "rows", "median", "below published", "by at most", "no number at all"),
            [
                (
                    "what the rest of the data gives its rows",
                    len(unknown),
                    percent(statistics.median(unknown)),
                    f"{len(low)} ({len(low) / len(unknown):.0%})",
                    percent(min(low)),
                    sum(item.stranger is None for item in every),
                )
            ],
        ),
    ]


def _off_row(name: str, every: Sequence[Point], values: Sequence[int | None]) -> tuple[object, ...]:
    errors = [one.error(value) for one, value in zip(every, values, strict=True) if value is not None]
    low = [error for error in errors if error < 0]
    near = sum(abs(error) <= LIMIT for error in errors)
    lowest = percent(min(low)) if low else "-"
    return name, len(errors), near, percent(statistics.median(errors)), worst(errors), len(low), lowest


def _per_asic(made: Tables) -> list[str]:
    groups: dict[str, list[Point]] = {}
    for item, found in made.values():
        groups.setdefault(chip(item).name, []).extend(found)
    rows = []
    for name, found in groups.items():
        if not found:
            continue
        off = [item.error(item.rule) for item in found if item.rule is not None]
        rows.append(
            (
                name,
                len(found),
                sum(item.default == item.published for item in found),
                sum(item.raised for item in found),
                sum(item.default < item.published for item in found),
                len(off),
                percent(statistics.median(off)) if off else "-",
                worst(off),
                sum(error < 0 for error in off),
                spread([item.error(item.bare) for item in found if item.bare is not None]),
            )
        )
    heading = ("ASIC", "rows", "exact", "raised", "below", "preset", "median", "worst", "below", "bare chip: median")
    return ["## By ASIC", "", *grid(heading, rows)]


def _per_table(made: Tables) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for item, found in made.values():
        if not found:
            rows.append((chip(item).name, item.name, 0, "empty: an error", "-", "-", "-", "-", "-"))
            continue
        family = preset_of(item)
        off = [one.error(one.rule) for one in found if one.rule is not None]
        rows.append(
            (
                chip(item).name,
                item.name,
                len(found),
                sum(one.default == one.published for one in found),
                family.name if family else "none: the chip's",
                len(off) if family else "-",
                percent(statistics.median(off)) if off else "-",
                worst(off),
                sum(error < 0 for error in off),
            )
        )
    heading = ("ASIC", "table (hardware SKU)", "rows", "exact", "preset", "its rows", "median", "worst", "below")
    return ["## By table", "", *grid(heading, rows)]


def _one_chip(made: Tables) -> list[str]:
    rows = []
    for item, found in made.values():
        known = [one for one in found if one.bare is not None]
        if known:
            errors = [one.error(one.bare or 0) for one in known]
            kind = "private" if item.private else "shared pool"
            rows.append(
                (chip(item).name, item.name, kind, spread(errors), sum(error < 0 for error in errors), len(errors))
            )
    return [
        "## One chip, many tables",
        "",
        *ONE_CHIP.splitlines(),
        "",
        *grid(("ASIC", "table", "headroom", "bare chip: median (range)", "below", "of"), rows),
    ]


def _strangers(made: Tables) -> list[str]:
    rows = []
    every: list[float] = []
    for item, found in made.values():
        errors = [one.error(one.stranger) for one in found if one.stranger is not None]
        every += errors
        if errors:
            rows.append((chip(item).name, item.name, spread(errors), sum(error < 0 for error in errors), len(errors)))
    below = sum(error < 0 for error in every)
    return [
        "## As if the table were not known",
        "",
        *STRANGER.splitlines(),
        "",
        f"All tables: {spread(every)}; {below} of {len(every)} rows below published.",
        "",
        *grid(("ASIC", "table", "median (range)", "below", "of"), rows),
    ]


def _not_exact(made: Tables) -> list[str]:
    raised = [
        (name, f"{show_speed(one.speed_mbps)}, {one.cable_m:g} m", f"{one.published:,}", f"{one.default:,}")
        for name, (_, found) in made.items()
        for one in found
        if one.raised
    ]
    second = [
        (
            rule.table,
            ", ".join([*(f"{cable:g} m" for cable in rule.cable_m), *map(show_speed, rule.speed_mbps)]),
            _words(family.preset, rule),
        )
        for family in families().values()
        for rule in family.apart
    ]
    smaller = [
        (name, f"{show_speed(row.speed_mbps)}, {row.cable_m:g} m", f"{row.xoff_bytes:,}", place(decides))
        for name, (item, _) in made.items()
        for row in item.rows
        if (decides := item.dominated(row.speed_mbps, row.cable_m)) is not None and decides.xoff_bytes > row.xoff_bytes
    ]
    return [
        "## Rows with a reason of their own",
        "",
        "### Raised to the physical floor",
        "",
        *RAISED.splitlines(),
        "",
        *grid(("table", "speed, length", "published", "default and lookup off"), raised),
        "### Second rules",
        "",
        *SECOND.splitlines(),
        "",
        *grid(("table", "at", "rule"), second),
        "### Rows below another row of their table",
        "",
        *SMALLER.splitlines(),
        "",
        *grid(("table", "speed, length", "published", "less than"), smaller),
    ]


def place(row: Row) -> str:
    return f"{row.xoff_bytes:,} for {show_speed(row.speed_mbps)}, {row.cable_m:g} m"


def _words(usual: Preset, rule: Apart) -> str:
    """What a table does at lengths where it follows a second rule."""
    if rule.as_m is not None:
        return f"the rows of {rule.as_m:g} m"
    if rule.most_mbps is not None:
        return f"faster ports have the rows of {show_speed(rule.most_mbps)}"
    if isinstance(rule.preset, Parts) and isinstance(usual, Parts):
        if rule.preset.share != usual.share:
            return f"{rule.preset.share:g} of the sum"
        return f"a port frame of {rule.preset.port_frame_bytes} B"
    assert isinstance(rule.preset, Lines)
    if rule.speed_mbps:
        return "a line of its own, below that of slower ports"
    return "; ".join(
        f"{show_speed(line.speed_mbps)}: {base:,.0f} + {factor:g} x cable"
        for line in rule.preset.lines
        for base, factor in line.pieces
    )


def _examples() -> list[str]:
    text = resources.files("rocetune.tuning").joinpath("data/headroom_examples.csv").read_text(encoding="utf-8")
    rows = []
    summary: dict[str, list[float]] = {}
    for cells in csv.DictReader(io.StringIO(text)):
        value = _example(cells)
        expected = int(cells["expected_bytes"]) if cells["expected_bytes"] else None
        error = value / expected - 1 if value is not None and expected else None
        if error is not None:
            summary.setdefault(f"{_rule(cells['rule'])}, {cells['asic']}", []).append(error)
        rows.append(
            (
                cells["asic"],
                f"{cells['speed_gbps']}G" if cells["speed_gbps"] else "-",
                f"{cells['cable_m']} m" if cells["cable_m"] else "-",
                _rule(cells["rule"]),
                f"{expected:,}" if expected else "none",
                f"{value:,.0f}" if value is not None else "-",
                percent(error) if error is not None else "-",
            )
        )
    counts = [
        (name, len(errors), percent(statistics.median(errors)), worst(errors), sum(error < 0 for error in errors))
        for name, errors in summary.items()
    ]
    return [
        "## Worked examples",
        "",
        *EXAMPLES.splitlines(),
        "",
        *grid(("rule, ASIC", "rows", "median", "worst", "below"), counts),
        *grid(("ASIC", "speed", "length", "rule", "published", "computed", "error"), rows),
    ]


def _rule(name: str) -> str:
    """The rule of an example in words."""
    words = {
        "M1": "NVIDIA's sum",
        "M2-fit": "fit of the chip, row used for it",
        "M2-heldout": "fit of the chip, row not used for it",
    }
    return words.get(name, name)


def _example(cells: dict[str, str]) -> float | None:
    rule, name = cells["rule"], cells["asic"].replace(" + gearbox", "")
    speed = int(cells["speed_gbps"]) * 1000 if cells["speed_gbps"] else 0
    cable = float(cells["cable_m"] or 0)
    mtu = int(cells["mtu_bytes"] or 0)
    if rule.startswith(("M1", "M2")):
        asic = table().find(name)
        assert asic is not None, name
        if rule == "M1" and isinstance(asic.preset, Parts) and asic.cell_bytes:
            gearbox = 400.0 if "gearbox" in cells["asic"] else 0.0
            quanta = wire.reaction_quanta(speed, wire.QUANTA_800G_SONIC)
            return parts_bytes(speed, cable, asic.preset, asic.cell_bytes, gearbox_ns=gearbox, quanta=quanta)
        assert isinstance(asic.preset, Fit)
        return fit_bytes(speed, cable, asic.preset)
    simple: dict[str, Callable[[], float]] = {
        "mlx5": lambda: mlx5_receive_buffer(speed, int(cable), mtu).headroom_bytes,
        "ixgbe 82599": lambda: formulas.bit_times_to_bytes(formulas.ixgbe_delay_bit_times(mtu, mtu)),
        "ixgbe X540": lambda: formulas.bit_times_to_bytes(
            formulas.ixgbe_delay_bit_times(mtu, mtu, interface_delay=formulas.IXGBE_X540_DELAY)
        ),
        "HPCC ns-3": lambda: formulas.hpcc_simulator_bytes(speed, 1000),
        "book": lambda: formulas.book_sum_bytes(speed, cable),
        "DCQCN paper": lambda: 2 * (mtu + 18) + 84 + 2 * cable * 5e-9 * speed * 125e3 + 118 * 64 + 2 * 24576 / 8,
        "cells measured": lambda: (60228 - 59605) * 256,
        "250 cells": lambda: 250 * 254,
        "one frame more": lambda: (
            1024 + nvidia_worst(96) * (9100 + wire.cable_round_trip_bytes(speed, cable) + 819.2 + 394 * 64) + 9100
        ),
    }
    made = simple.get(rule)
    return float(made()) if made else None


def _why_off() -> list[str]:
    return [
        "## What NVIDIA's tables were built with",
        "",
        *NVIDIA.splitlines(),
        "",
        *grid(
            ("tables", "K", "because", "frame", "peer response"),
            [
                ("ACS-MSN2700, SN2201", "1.986", "every packet small: 1.979 by 96 B cells", "1024", "3891.2 B"),
                ("ACS-MSN3800, MSN4700", "2.25", "cell 144 B, every packet small", "1024", "3891.2 B"),
                ("ACS-SN5600", "3", "cell 192 B, every packet small; 120 ns of tile", "1024", "quanta, 905 at 800G"),
                ("ACS-SN6600_LD", "1.092", "share 50 % by number, 4096 B frames", "4096", "quanta, 1810 at 800G"),
                ("SN2700-D48C8, -D40C8S8, SN3800-D112C8", "1.49, 1.625", "50 % by bytes", "1024", "3891.2 B"),
                ("SN4700-C128", "1.625", "50 % by bytes", "1024", "quanta"),
                ("SN4600C-D24C52", "1.1465", "about 15 % by number", "1024", "quanta"),
                ("SN4280-O28, -C48", "1.0175", "almost none", "1024", "quanta"),
                ("SN5600-C256S1, -C224O8, SN5640-C512X2", "1.062", "50 % by number; 120 ns", "4096", "quanta, 905"),
            ],
        ),
    ]


def rows_page(made: Tables) -> str:
    """Every row, table by table."""
    lines = ["# Headroom: every published row", "", *APPENDIX.splitlines(), ""]
    for name, (item, found) in made.items():
        if not found:
            continue
        lines += [f"## {chip(item).name}: {name}", ""]
        by_speed: dict[int, list[str]] = {}
        for one in found:
            text = f"{one.cable_m:g} m {one.published}{'^' if one.raised else ''}"
            if one.rule is not None:
                text += f" / {one.rule} ({percent(one.error(one.rule))})"
            by_speed.setdefault(one.speed_mbps, []).append(text)
        lines += [f"- {show_speed(speed)}: {'; '.join(texts)}" for speed, texts in by_speed.items()]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 when a page is out of date")
    parser.add_argument("csv", nargs="*", type=Path, help="other tables of the same shape")
    options = parser.parse_args(arguments)
    for path in options.csv:
        if not path.exists():
            print(f"{path}: no such file", file=sys.stderr)
            return 2
        try:
            heading, rows = other_tables(path)
        except BadFile as error:
            print(error, file=sys.stderr)
            return 2
        print("\n".join([path.name, "", *grid(heading, rows)]))
    if options.csv and not options.check:
        return 0
    made = everything()
    pages = ((REPORT, report(made)), (ROWS, rows_page(made)))
    stale = [path.name for path, text in pages if not path.exists() or path.read_text(encoding="utf-8") != text]
    if options.check:
        print(f"docs/{', docs/'.join(stale)}: out of date, run this script" if stale else "both pages are up to date")
        return 1 if stale else 0
    for path, text in pages:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(path.parents[1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
