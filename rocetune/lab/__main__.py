"""The background process of a lab: ``python -m rocetune.lab --root DIR``, started by ``control.start``."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pickle
import signal
import sys
from pathlib import Path

from rocetune.lab import control, keys
from rocetune.lab.clock import OffsetClock
from rocetune.lab.errors import LabError
from rocetune.lab.frame import Lab
from rocetune.lab.serve import serve


async def _live(root: Path, site: str | None, latency_ms: float) -> None:
    # The file was written by control.start of the same user a moment ago, in a folder of mode 0700.
    plan, options = pickle.loads((root / control.PLAN_FILE).read_bytes())
    lab = Lab(root, plan, now=OffsetClock(root), latency_ms=latency_ms, options=options)
    done = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, done.set)
    async with serve(lab):
        await lab.prepare()
        info = {
            "pid": os.getpid(),
            "site": site,
            "latency_ms": latency_ms,
            "devices": {
                name: {"platform": host.platform, "transport": host.kind.transport} for name, host in lab.hosts.items()
            },
        }
        keys.store(root / control.INFO_FILE, json.dumps(info, indent=1).encode())
        await done.wait()


def main() -> int:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m rocetune.lab")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--site")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    given = parser.parse_args()
    try:
        asyncio.run(_live(given.root, given.site, given.latency_ms))
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
