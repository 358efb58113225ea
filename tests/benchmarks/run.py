"""``make bench``: the figures of docs/benchmarks.md, measured on this machine.

``run.py [startup] [site] [apply]`` measures only those named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rocetune.report.table import table

HERE = Path(__file__).resolve().parent
ROCETUNE = str(Path(sys.executable).with_name("rocetune"))
LATENCY_MS = 50
Row = tuple[str, str, str]


def startup() -> Iterator[Row]:
    """``--help`` against the bare import of its one dependency."""
    bare = _median([sys.executable, "-c", "import click"])
    full = _median([ROCETUNE, "--help"])
    yield "python -c 'import click'", f"{bare * 1000:.0f} ms", ""
    yield "rocetune --help", f"{full * 1000:.0f} ms = {full / bare:.2f}x", "under 2.5x"


def _median(command: Sequence[str], times: int = 21) -> float:
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def site() -> Iterator[Row]:
    """Load, plan and render the large site, written with ranges and flat."""
    for kind, words in (("large", "bracket ranges"), ("flat", "one entry per device")):
        with tempfile.TemporaryDirectory() as folder:
            _make(kind, folder)
            command = [sys.executable, str(HERE / "load_plan_render.py"), folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                yield f"1,000 switches + 8,000 servers, {words}", f"failed: {_last(done.stderr)}", "under 30 s, 500 MB"
                continue
            found = json.loads(done.stdout)
        total = found["load_s"] + found["plan_s"] + found["render_s"]
        parts = f"load {found['load_s']:.1f}, plan {found['plan_s']:.1f}, render {found['render_s']:.1f}"
        name = f"{found['devices']:,} devices, {found['ports']:,} ports, {words}"
        yield name, f"{total:.1f} s ({parts}), peak {found['peak_mb']:.0f} MB", "under 30 s, 500 MB"
        if found["problems"]:
            yield "  plan problems", "; ".join(found["problems"]), "none"


def apply() -> Iterator[Row]:
    """Bring up 2 leaves and 32 servers whose every answer takes 50 ms longer."""
    with tempfile.TemporaryDirectory() as folder:
        _make("rack", folder)
        base = [ROCETUNE, "--site", folder]
        _run([*base, "lab", "start", "--latency", str(LATENCY_MS)])
        try:
            for name, target in (("first apply", "under 30 s"), ("second apply", "no changes")):
                begun = time.perf_counter()
                done = _run([*base, "--lab", "apply", "--bring-up", "--yes", "--wave", "32"], check=False)
                words = f"{time.perf_counter() - begun:.1f} s: {_last(done.stdout) or _last(done.stderr)}"
                yield f"{name}: 2 leaves + 32 servers, {LATENCY_MS} ms", words, target
        finally:
            _run([*base, "lab", "stop"], check=False)


def _make(kind: str, folder: str) -> None:
    subprocess.run([sys.executable, str(HERE / "sites.py"), kind, folder], check=True)


def _run(command: Sequence[str], check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=check)


def _last(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


MEASURES = {"startup": startup, "site": site, "apply": apply}


def main(names: Sequence[str]) -> int:
    """Print one table; rows appear when all are measured."""
    parser = argparse.ArgumentParser(description="Measures what docs/benchmarks.md has targets for.")
    parser.add_argument("name", nargs="*", help=f"what to measure, all if left out: {', '.join(MEASURES)}")
    chosen = parser.parse_args(names).name or list(MEASURES)
    unknown = [name for name in chosen if name not in MEASURES]
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(MEASURES)}")
    rows: list[Row] = []
    for name in chosen:
        print(f"measuring {name} ...", file=sys.stderr)
        rows += MEASURES[name]()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
    print(table(rows, ["what", "measured", "target"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
