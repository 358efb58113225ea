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

from reproduction_other import other_tables, percent
from reproduction_points import Point, chip, points, preset_of
from reproduction_text import (
    APPENDIX,
    ASTRAY,
    CAUTION,
    EXAMPLES,
    INTRODUCTION,
    NONE,
    NVIDIA,
    ONE_CHIP,
    RAISED,
    STRANGER,
)

from rocetune.model.units import show_speed
from rocetune.tuning import lossless_formulas as formulas
from rocetune.tuning import wire
from rocetune.tuning.asics import Fit, Parts, table
from rocetune.tuning.cells import nvidia_worst
from rocetune.tuning.headroom import fit_bytes, parts_bytes
from rocetune.tuning.nic import mlx5_receive_buffer
from rocetune.tuning.published import PublishedTable, published

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
    whole = [item for item in every if item.preset is not None]
    ruled = [item for item in whole if not item.astray and not item.preset_raised]
    unknown = [item.error(item.stranger) for item in every if item.stranger is not None and not item.astray]
    low = [error for error in unknown if error < 0]
    return [
        "# Headroom: computed against published",
        "",
        *INTRODUCTION.splitlines(),
        "",
        *grid(
            ("", "rows", "exact", "raised to the floor", "below published"),
            [("default", len(every), exact, raised, below)],
        ),
        *grid(
            ("lookup off", "rows", "within 5 %", "median", "worst", "below published", "by at most"),
            [
                _off_row("every row with a preset", whole),
                _off_row("without those raised or astray, counted below", ruled),
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
                    sum(item.stranger is None and not item.astray for item in every),
                )
            ],
        ),
        *grid(
            ("of the rows with lookup off", "count"),
            [
                ("raised to the floor", sum(item.preset_raised for item in whole)),
                (
                    "astray: more than 5 % off, listed below with what the table does there",
                    sum(item.astray for item in whole),
                ),
                ("in tables without a preset, not counted above", len(every) - len(whole)),
            ],
        ),
        *CAUTION.splitlines(),
        "",
    ]


def _off_row(name: str, found: Sequence[Point]) -> tuple[object, ...]:
    errors = [item.error(item.preset or 0) for item in found]
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
        ruled = [item for item in found if item.preset is not None and not item.astray and not item.preset_raised]
        off = [item.error(item.preset or 0) for item in ruled]
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
    heading = ("ASIC", "rows", "exact", "raised", "below", "off: rows", "median", "worst", "below", "bare chip: median")
    return ["## By ASIC", "", *grid(heading, rows)]


def _per_table(made: Tables) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for item, found in made.values():
        if not found:
            rows.append((chip(item).name, item.name, 0, "empty: an error", "-", "-", "-", "-", "-"))
            continue
        family = preset_of(item)
        ruled = [one for one in found if one.preset is not None and not one.astray and not one.preset_raised]
        off = [one.error(one.preset or 0) for one in ruled]
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
    heading = ("ASIC", "table (hardware SKU)", "rows", "exact", "preset", "off: rows", "median", "worst", "below")
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
        errors = [one.error(one.stranger) for one in found if one.stranger is not None and not one.astray]
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
    astray = []
    for name, (item, found) in made.items():
        rows = [one for one in found if one.astray]
        if rows:
            by_length: dict[float, list[str]] = {}
            for one in rows:
                by_length.setdefault(one.cable_m, []).append(show_speed(one.speed_mbps))
            where = "; ".join(f"{cable:g} m: {', '.join(speeds)}" for cable, speeds in by_length.items())
            errors = [one.error(one.preset) for one in rows if one.preset is not None]
            astray.append((name, where, spread(errors), item.note))
    none = [
        (chip(item).name, name, spread([one.error(one.bare) for one in found if one.bare is not None]), item.note)
        for name, (item, found) in made.items()
        if found and preset_of(item) is None
    ]
    return [
        "## Rows that are not reproduced, and why",
        "",
        "### Raised to the physical floor",
        "",
        *RAISED.splitlines(),
        "",
        *grid(("table", "speed, length", "published", "default"), raised),
        "### Rows that leave the rule of their own table",
        "",
        *ASTRAY.splitlines(),
        "",
        *grid(("table", "rows", "lookup off", "what the table does there"), astray),
        "### Tables without a preset of their own",
        "",
        *NONE.splitlines(),
        "",
        *grid(("ASIC", "table", "bare chip: median (range)", "note"), none),
    ]


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
                ("ACS-MSN2700, SN2201", "1.979", "cell 96 B, every packet small", "1024", "3891.2 B"),
                ("ACS-MSN3800, MSN4700", "2.25", "cell 144 B, every packet small", "1024", "3891.2 B"),
                ("ACS-SN5600", "3", "cell 192 B, every packet small; 120 ns of tile", "1024", "quanta, 905 at 800G"),
                ("ACS-SN6600_LD", "1.092", "share 50 % by number, 4096 B frames", "4096", "quanta, 1810 at 800G"),
                ("SN2700-D48C8, -D40C8S8, SN3800-D112C8", "1.49, 1.625", "50 % by bytes", "1024", "3891.2 B"),
                ("SN4700-C128", "1.625", "50 % by bytes", "1024", "quanta"),
                ("SN4600C-D24C52", "1.145", "about 15 % by number", "1024", "quanta"),
                ("SN4280-O28, -C48", "1.02", "almost none", "1024", "quanta"),
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
            if one.preset is not None:
                text += f" / {one.preset} ({percent(one.error(one.preset))})"
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
        heading, rows = other_tables(path)
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
