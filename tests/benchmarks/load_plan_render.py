"""One measured process: load a site, plan it, render every device; prints JSON. Used by run.py."""

from __future__ import annotations

import itertools
import json
import resource
import sys
import time
from pathlib import Path

from rocetune.app.planning import make_plan, render, select, with_refusals
from rocetune.app.workspace import open_workspace


def main(root: Path) -> None:
    """Times are wall clock; the peak is this process's resident set."""
    marks = [time.perf_counter()]
    workspace = open_workspace(root)
    marks.append(time.perf_counter())
    plan = with_refusals(make_plan(workspace))
    marks.append(time.perf_counter())
    size = devices = 0
    for _, rendered in render(workspace, plan, select(workspace, plan, None)):
        devices += 1
        size += len(rendered.text)
    marks.append(time.perf_counter())
    ports = sum(len(device.ports) for device in plan.devices.values())
    load, planning, rendering = (after - before for before, after in itertools.pairwise(marks))
    print(
        json.dumps(
            {
                "devices": devices,
                "ports": ports,
                "settings": len(plan.settings),
                "problems": [problem.text[:60] for problem in plan.problems if not problem.warning][:3],
                "rendered_mb": size / 1e6,
                "load_s": load,
                "plan_s": planning,
                "render_s": rendering,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


main(Path(sys.argv[1]))
