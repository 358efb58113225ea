"""``rocetune diff``: what would change, live or from a folder of saved running configurations."""

from __future__ import annotations

from pathlib import Path

from rocetune import platforms
from rocetune.app.errors import UseError
from rocetune.app.planning import Fitted, make_plan, refuse_problems, select
from rocetune.app.reading import Scene, comparison_of, device_diff, failed_diff, quiet, read_scene, saved_running
from rocetune.app.workspace import Workspace
from rocetune.model.outcome import DeviceDiff, DiffReport, Report
from rocetune.model.plan import DevicePlan
from rocetune.platforms.base import Platform


def diff(
    ws: Workspace,
    limit: str | None = None,
    running: Path | None = None,
    progress: Report | None = None,
    *,
    accept_new_host_keys: bool = False,
) -> DiffReport:
    """Compare intent with devices, or with ``running``: a folder of files named <device><suffix>.

    Raises UseError for an infeasible plan, an unknown limit or refused credentials.
    """
    if running is not None:
        return _offline(ws, limit, running)
    scene = read_scene(ws, limit, progress or quiet, accept_new_host_keys=accept_new_host_keys)
    try:
        return report_of(scene)
    finally:
        scene.fleet.close()


def report_of(scene: Scene) -> DiffReport:
    """The report of a scene: devices that were read and those that were not."""
    items: list[DeviceDiff] = []
    for name in scene.names:
        if name in scene.readings:
            reading = scene.readings[name]
            platform = platforms.get(reading.fitted.plan.device.platform)
            items.append(device_diff(name, platform, reading.fitted, reading.running, reading.comparison))
        else:
            items.append(failed_diff(scene.plan.devices[name], scene.failed.get(name, "not asked: interrupted")))
    return DiffReport(tuple(items), live=True)


def _offline(ws: Workspace, limit: str | None, folder: Path) -> DiffReport:
    if not folder.is_dir():
        raise UseError(
            f"{folder} is not a folder", "give the folder that holds one saved running configuration per device"
        )
    plan = make_plan(ws)
    refuse_problems(plan)
    items: list[DeviceDiff] = []
    for name in select(ws, plan, limit):
        device_plan = plan.devices[name]
        platform = platforms.get(device_plan.device.platform)
        path = saved_running(folder, name, platform)
        if path is None:
            items.append(failed_diff(device_plan, f"no {name}{platform.running_suffix} in {folder}"))
            continue
        try:
            items.append(_saved_diff(device_plan, platform, path.read_text()))
        except (ValueError, OSError) as error:
            items.append(failed_diff(device_plan, f"{path}: {error}"))
    return DiffReport(tuple(items), live=False)


def _saved_diff(device_plan: DevicePlan, platform: Platform, text: str) -> DeviceDiff:
    facts = platform.saved_facts(text, platform.declared(device_plan))
    item = Fitted(platform.fit(device_plan, facts), facts)
    running = platform.parse(text, facts)
    _, comparison = comparison_of(platform, item, running)
    return device_diff(device_plan.device.name, platform, item, running, comparison)
