"""Writes docs/auto-values.md: what the shipped profiles make of ``auto`` on well-known chips, beside vendor defaults.

``python scripts/auto_values.py`` writes the page; with ``--check`` it only compares and exits 1 on a difference.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from rocetune.model.fabric import Device, Fabric, Network, Port
from rocetune.model.plan import Plan
from rocetune.model.profile import Profile
from rocetune.model.qos import PriorityQos
from rocetune.model.units import bytes_to_us, show_bytes, show_speed
from rocetune.planner import plan
from rocetune.report.table import markdown_table
from rocetune.site.errors import Problems
from rocetune.site.profiles import Shelf
from rocetune.site.sources import Sources
from rocetune.tuning.asics import Asic, table
from rocetune.tuning.presets import ecn_presets
from rocetune.tuning.published import published

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "auto-values.md"
CHIPS = ("Trident 3", "Tomahawk 3", "Tomahawk 4", "Tomahawk 5", "Spectrum-3", "Spectrum-4", "Jericho 2C+")
SPEEDS = (25_000, 100_000, 200_000, 400_000, 800_000)
PROFILES = {25_000: "inference"}  # the others: ai-training, which is made for 100G and up
CABLE_M = 30.0
MOST_PORTS = 256
PRESETS = ("sonic-default", "cumulus-default", "hpcc", "dcqcn-paper")
_BOUNDS = ("strict bound", "incast bound")
_HEAD = ("chip", "speed", "ports", "profile", "headroom", "published", "kmin", "kmax", "pmax", *_BOUNDS)

INTRO = f"""# What `auto` becomes

Written by `python scripts/auto_values.py`; a test compares the page with what the planner says today.

One leaf with as many ports of one speed as the chip has capacity for (at most {MOST_PORTS}), servers at the end of
{CABLE_M:g} m cables, one lossless class, the shipped profile for the speed. Round trip 8 us, assumed. *published* is
the range that SONiC's tables of boards with this chip give for the speed, at the next listed length.
*strict bound* and *incast bound*: kmax below them keeps marking ahead of PFC, see the design of DCQCN (SIGCOMM 2015).
A star: kmax is above the strict bound, so with all ports congested at once PFC may start before every frame is marked;
`ecn: {{objective: latency}}` keeps below it. It is the usual case: a balanced curve keeps marking ahead of PFC in
ordinary incast, not in the worst that can be thought of.
"""


def profile(name: str) -> Profile:
    """A shipped profile."""
    problems = Problems(Sources(ROOT))
    shelf = Shelf(ROOT, problems)
    shelf.load(name)
    problems.check()
    return shelf.models[name]


def leaf(asic: str, speed_mbps: int, ports: int, wanted: Profile) -> Plan:
    """The plan of one leaf full of servers."""
    devices = {"leaf1": Device("leaf1", "switch", "sonic", "leaf", declared={"asic": asic})}
    links: dict[str, list[Port]] = {"leaf1": []}
    for number in range(ports):
        server = f"gpu{number:03}"
        devices[server] = Device(server, "server", "linux", "gpu")
        here, there = ("leaf1", f"Ethernet{number}"), (server, "rail0")
        for one, other in ((here, there), (there, here)):
            links.setdefault(one[0], []).append(
                Port(*one, "rail", "backend", 0, speed_mbps, "aoc", CABLE_M, peer=other, link_role="host")
            )
    return plan(
        Fabric(devices, {name: tuple(found) for name, found in links.items()}, {"backend": Network("backend", wanted)})
    )


def rows() -> Iterator[list[str]]:
    """One row per chip and speed that the chip has."""
    for name in CHIPS:
        asic = table().find(name)
        assert asic is not None, name
        for speed in SPEEDS:
            if asic.port_gbps is not None and speed > asic.port_gbps * 1000:
                continue
            capacity = (asic.capacity_gbps or 0) * 1000 // speed
            ports = max(2, min(MOST_PORTS, capacity or MOST_PORTS))
            wanted = profile(PROFILES.get(speed, "ai-training"))
            yield _row(asic, speed, ports, wanted, leaf(name, speed, ports, wanted))


def _row(asic: Asic, speed: int, ports: int, wanted: Profile, made: Plan) -> list[str]:
    setting = made.devices["leaf1"].ports[0].setting
    entry: PriorityQos = setting.qos.lossless()[0]
    basis = setting.basis.get(entry.priority)
    errors = [item.text for item in made.problems if not item.warning]
    start = [asic.name, show_speed(speed), str(ports), wanted.name]
    if errors:
        return [*start, "cannot be: " + "; ".join(errors), *[""] * 6]
    return [
        *start,
        _size(entry.headroom_bytes, speed),
        _published(asic, speed),
        _size(entry.kmin_bytes, speed),
        _size(entry.kmax_bytes, speed),
        "-" if entry.pmax_percent is None else f"{entry.pmax_percent:g} %",
        _strict(entry.kmax_bytes, None if basis is None else basis.strict_bytes, speed),
        _size(None if basis is None or basis.incast_bytes is None else int(basis.incast_bytes), speed),
    ]


def _strict(kmax: int | None, bound: float | None, speed: int) -> str:
    """The strict bound, marked where the curve reaches beyond it."""
    words = _size(None if bound is None else int(bound), speed)
    return f"{words} *" if kmax is not None and bound is not None and kmax >= bound else words


def _published(asic: Asic, speed: int) -> str:
    found = [row.xoff_bytes for item in published() if item.asic == asic.key and (row := item.row(speed, CABLE_M))]
    if not found:
        return "none"
    return (
        show_bytes(min(found)) if min(found) == max(found) else f"{show_bytes(min(found))} to {show_bytes(max(found))}"
    )


def _size(value: int | None, speed: int) -> str:
    if value is None:
        return "not known"
    time = bytes_to_us(value, speed)
    return f"{show_bytes(value)} ({time:,.0f} us)" if time >= 1000 else f"{show_bytes(value)} ({time:.3g} us)"


def vendor_rows() -> Iterator[list[str]]:
    """Well-known curves in bytes and microseconds at each speed."""
    for name in PRESETS:
        preset = ecn_presets()[name]
        for speed in SPEEDS:
            made = preset.thresholds(speed)
            sizes = [_size(made.kmin_bytes, speed), _size(made.kmax_bytes, speed)]
            yield [name, show_speed(speed), *sizes, f"{made.pmax_percent:g} %", preset.confidence]


def page() -> str:
    """The whole page."""
    vendor = markdown_table(list(vendor_rows()), ("preset", "speed", "kmin", "kmax", "pmax", "confidence"))
    return "\n".join(
        [
            INTRO,
            markdown_table(list(rows()), _HEAD),
            "",
            "## Vendor defaults for the same speeds",
            "",
            "Fixed bytes mean another time at each speed; `rocetune plan --compare NAME` shows them on your ports.",
            "",
            vendor,
            "",
        ]
    )


def main(arguments: list[str]) -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description="Writes docs/auto-values.md from what the planner says.")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 on a difference")
    check = parser.parse_args(arguments).check
    text = page()
    if check:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print(f"{PAGE.name} is {'as' if same else 'not as'} the planner says")
        return 0 if same else 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
