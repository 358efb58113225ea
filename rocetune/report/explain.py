"""``rocetune plan --explain``: each number of a port as an engineer would derive it on a whiteboard."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from rocetune.model.plan import Assumption, DevicePlan, Plan, PlanProblem, PortPlan, Setting, Why
from rocetune.model.qos import Path, leaves
from rocetune.model.units import bytes_to_us, show_bytes, show_speed
from rocetune.report import encode
from rocetune.report.amounts import WORDS
from rocetune.report.ranges import compact
from rocetune.report.table import counted, to_json

_OWN_WORDS = {
    "speed_mbps": "speed",
    "owned": "ours to write",
    "lossless": "lossless",
    "name": "class",
    "active_mtu_bytes": "RDMA MTU",
    "traffic_class": "traffic class",
    "buffer": "shared buffer",
    "headroom_pool": "headroom pool",
    "ecn_bounds": "ECN before PFC",
    "pause_start": "pause begins",
    "incast": "incast of all that can meet",
}
_SECTIONS = {"host": "NIC", "watchdog": "PFC watchdog"}


Wishes = Mapping[str, Mapping[Path, object]]  # by setting: what was planned, before the platform took it
_NO_WISHES: Wishes = MappingProxyType({})


def explain_text(plan: Plan, where: str, planned: Plan | None = None) -> str:
    """``where`` is ``DEV`` or ``DEV:PORT``. Raises LookupError that names what exists.

    ``plan`` is what the platform takes; of ``planned`` each number that it takes otherwise is shown beside it.
    """
    device, port = find(plan, where)
    wishes = _wishes(planned, device.device.name)
    if port is not None:
        sections = _sections(port.setting, port, wishes)
        return "\n\n".join([_port_heading(plan, port), *sections, *_device_blocks(plan, device)])
    blocks = [_device_heading(device)]
    blocks += [_setting_block(setting, ports, wishes) for setting, ports in _by_setting(device)]
    return "\n\n".join([*blocks, *_device_blocks(plan, device)])


def explain(plan: Plan, device: str, port: str, path: Path | None = None) -> str:
    """One port, or with ``path`` one leaf of it. Raises LookupError when a name or the leaf does not exist."""
    _, item = find(plan, f"{device}:{port}")
    if item is None:
        raise LookupError(f"{device} has no planned port {port!r}")
    if path is not None:
        why = item.setting.why.get(path)
        value = dict(leaves(item.setting.qos)).get(path)
        if why is None:
            raise LookupError(f"{device}:{port} has no {'.'.join(map(str, path))}")
        return "\n".join(_leaf_lines(path, value, why, item.port.speed_mbps))
    return explain_text(plan, f"{device}:{port}")


def _wishes(planned: Plan | None, device: str) -> Wishes:
    if planned is None:
        return _NO_WISHES
    return {item.setting.name: dict(leaves(item.setting.qos)) for item in planned.devices[device].ports}


def explain_document(plan: Plan, where: str, planned: Plan | None = None) -> encode.Json:
    """The same as data: settings with value and reason per path, and what exists once per device.

    A value that the platform takes otherwise than planned has ``planned`` beside it.
    """
    device, port = find(plan, where)
    wishes = _wishes(planned, device.device.name)
    used = {port.setting.name: (port.setting, [port])} if port else {s.name: (s, p) for s, p in _by_setting(device)}
    return {
        "format": "rocetune.explain/1",
        "device": device.device.name,
        "ports": {item.port.name: name for name, (_, ports) in used.items() for item in ports},
        "settings": {name: _setting_json(setting, wishes) for name, (setting, _) in used.items()},
        "device_why": [{"path": list(path), **encode.why_json(why)} for path, why in device.why.items()],
        "assumptions": [encode.assumption_json(item) for item in _assumptions(plan, device)],
        "unsupported": [encode.unsupported_json(item) for item in device.unsupported],
        "problems": [encode.problem_json(item) for item in plan.problems],
    }


def explain_json(plan: Plan, where: str, planned: Plan | None = None) -> str:
    """:func:`explain_document` as text."""
    return to_json(explain_document(plan, where, planned))


def find(plan: Plan, where: str) -> tuple[DevicePlan, PortPlan | None]:
    """The device and, where one is named, its port (by inventory or native name)."""
    name, colon, port = where.partition(":")
    device = plan.devices.get(name)
    if device is None:
        raise LookupError(f"no device {name!r} in the plan{_hint(name, plan.devices)}")
    if not colon:
        return device, None
    for item in device.ports:
        if port in (item.port.name, item.native):
            return device, item
    if port in device.left_out:
        raise LookupError(f"{name}:{port} {device.left_out[port]}")
    names = [item.port.name for item in device.ports]
    known = f"; planned ports: {compact(names)}" if names else "; it has no planned port"
    raise LookupError(f"{name} has no planned port {port!r}{_hint(port, [*names, *device.left_out]) or known}")


def _hint(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1)
    return f": did you mean {near[0]}?" if near else ""


def _by_setting(device: DevicePlan) -> list[tuple[Setting, list[PortPlan]]]:
    found: dict[str, tuple[Setting, list[PortPlan]]] = {}
    for item in device.ports:
        found.setdefault(item.setting.name, (item.setting, []))[1].append(item)
    return list(found.values())


def _device_heading(device: DevicePlan) -> str:
    words = [device.device.platform, device.device.role or "", counted(len(device.ports), "planned port")]
    return f"{device.device.name}  ({', '.join(word for word in words if word)})"


def _port_heading(plan: Plan, item: PortPlan) -> str:
    port, setting = item.port, item.setting
    peer = f" -> {port.peer[0]}:{port.peer[1]}" if port.peer else ""
    users = [
        name for name, other in plan.devices.items() if any(one.setting.name == setting.name for one in other.ports)
    ]
    native = f" ({item.native})" if item.native != port.name else ""
    return (
        f"{port.device}:{port.name}{native}{peer}\n"
        f"setting {setting.name}: {_about(setting)}; shared by ports of {counted(len(users), 'device')}"
    )


def _about(setting: Setting) -> str:
    words = [f"network {setting.network}", f"profile {setting.profile.name}"]
    if setting.qos.speed_mbps:
        words.append(show_speed(setting.qos.speed_mbps))
    if setting.qos.cable_m is not None:
        words.append(f"cable {setting.qos.cable_m:g} m")
    return ", ".join(words)


def _setting_block(setting: Setting, ports: list[PortPlan], wishes: Wishes) -> str:
    heading = f"{compact(item.port.name for item in ports)}\nsetting {setting.name}: {_about(setting)}"
    return "\n\n".join([heading, *_sections(setting, ports[0], wishes)])


def _sections(setting: Setting, item: PortPlan, wishes: Wishes) -> Iterator[str]:
    """Overrides, then the leaves: the port's own, each priority's, the watchdog's, the NIC's."""
    if setting.winners:
        yield "overrides\n" + "\n".join(f"  {name} decided by {who}" for name, who in setting.winners)
    speed = setting.qos.speed_mbps or item.port.speed_mbps
    groups: dict[str, list[str]] = {}
    wished = wishes.get(setting.name, {})
    for path, value in leaves(setting.qos):
        if path[-1] in ("name", "owned", "lossless"):
            continue
        why = setting.why.get(path, Why("unexplained"))
        groups.setdefault(_section(setting, path), []).extend(
            _leaf_lines(path, value, why, speed, "  ", wished.get(path, value))
        )
    for name, lines in groups.items():
        yield "\n".join([name, *lines])


def _section(setting: Setting, path: Path) -> str:
    if path[0] == "priorities" and isinstance(path[1], int):
        entry = setting.qos.priority(path[1])
        assert entry is not None
        traits = "foreign, never written" if not entry.owned else "lossless" if entry.lossless else "lossy"
        return f"priority {path[1]}: {entry.name or '-'} ({traits})"
    return _SECTIONS.get(str(path[0]), "port")


def _leaf_lines(
    path: Path, value: object, why: Why, speed: int | None, indent: str = "", wished: object = None
) -> list[str]:
    words = str(path[-1])
    name = _OWN_WORDS.get(words) or WORDS.get(words) or words.replace("_", " ")
    shown = _shown(words, value, speed)
    if wished not in (None, value):
        shown += f" on this platform, {_shown(words, wished, speed)} planned"
    short = not why.steps and not why.bounds and not why.rounding
    if short:
        return [f"{indent}{name} = {shown}   ({why.source or why.rule})"]
    return [f"{indent}{name} = {shown}", *_why_lines(why, indent + "    ")]


def _why_lines(why: Why, indent: str) -> Iterator[str]:
    for step in why.steps:
        yield f"{indent}{step}"
    for bound in why.bounds:
        yield f"{indent}bound: {bound}"
    if why.rounding:
        yield f"{indent}rounded {why.rounding}"
    source = f": {why.source}" if why.source else ""
    yield f"{indent}rule {why.rule}{source}"


def _shown(name: str, value: object, speed: int | None) -> str:
    if name == "dscp_to_priority" and isinstance(value, tuple):
        return ", ".join(f"{dscp}->{priority}" for dscp, priority in enumerate(value) if priority is not None) or "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int) and name.endswith("_bytes") and not name.endswith("mtu_bytes"):
        time = f", {bytes_to_us(value, speed):.3g} us" if speed else ""
        return f"{value:,} B ({show_bytes(value)}{time})" if value >= 10_000 else f"{value} B{time}"
    if name == "speed_mbps" and isinstance(value, int):
        return show_speed(value)
    if isinstance(value, frozenset):
        return ", ".join(map(str, sorted(value))) or "none"
    if isinstance(value, tuple):
        return ", ".join("=".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value) or "none"
    number = f"{value:g}" if isinstance(value, float) else str(value)
    for ending, unit in (("_percent", " %"), ("_ms", " ms"), ("cable_m", " m"), ("mtu_bytes", " B")):
        if name.endswith(ending):
            return number + unit
    return number


def _device_blocks(plan: Plan, device: DevicePlan) -> Iterator[str]:
    """What exists once per device, what was assumed, what a platform cannot express, what cannot be."""
    if device.why:
        yield "\n".join([f"device {device.device.name}", *_device_lines(device.why)])
    lines = [item.text + (f" ({item.remedy})" if item.remedy else "") for item in _assumptions(plan, device)]
    if lines:
        yield "\n".join(["assumed, not confirmed", *(f"  {line}" for line in dict.fromkeys(lines))])
    if device.unsupported:
        lines = [f"  {'.'.join(map(str, item.path))}: {item.text}" for item in device.unsupported]
        yield "\n".join(["not possible on this platform", *lines])
    profiles = {item.setting.profile.name for item in device.ports}
    problems = [item for item in plan.problems if _concerns(item, device.device.name, profiles)]
    if problems:
        lines = []
        for item in problems:
            lines.append(f"  {'warning' if item.warning else 'error'}: {item.where}: {item.text}")
            lines += [f"    = {item.remedy}"] if item.remedy else []
        yield "\n".join(["problems", *lines])


def _assumptions(plan: Plan, device: DevicePlan) -> list[Assumption]:
    """Those of the device and of the networks that it is on."""
    networks = {f"network {item.setting.network}" for item in device.ports}
    shared = [item for item in plan.assumptions if item.where in networks or not item.where.startswith("network ")]
    return [*shared, *(item for item in device.assumptions if not item.risk)]  # a risk is among the problems


def _concerns(problem: PlanProblem, device: str, profiles: set[str]) -> bool:
    """Named in the place, or perhaps among the "more" that share it and the profile."""
    if problem.where.split(":")[0].split(" ")[0] == device:
        return True
    return " more " in problem.where and problem.profile in profiles


def _device_lines(why: Mapping[Path, Why]) -> Iterator[str]:
    for path, reason in why.items():
        name = _OWN_WORDS.get(str(path[0]), str(path[0]).replace("_", " "))
        yield f"  {name}" + (f", priority {path[1]}" if len(path) > 1 else "")
        yield from _why_lines(reason, "      ")


def _setting_json(setting: Setting, wishes: Wishes) -> encode.Json:
    wished = wishes.get(setting.name, {})
    values = []
    for path, value in leaves(setting.qos):
        if path in setting.why:
            entry = {"path": list(path), "value": _plain(value)}
            if wished.get(path) not in (None, value):
                entry["planned"] = _plain(wished[path])
            values.append({**entry, "why": encode.why_json(setting.why[path])})
    return {
        "network": setting.network,
        "profile": setting.profile.name,
        "overrides": dict(setting.winners),
        "values": values,
    }


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
