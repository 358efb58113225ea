"""The plan at a glance: settings with their numbers, who has them, what was assumed, what cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocetune.model.plan import DevicePlan, Plan, PlanProblem, Setting
from rocetune.model.qos import PriorityQos, leaves
from rocetune.model.units import bytes_to_us, show_bytes
from rocetune.report import encode
from rocetune.report.ranges import compact
from rocetune.report.table import PLAIN, Paint, counted, markdown_table, table, to_json

_HEAD = ("class", "prio", "DSCP", "lossless", "share", "headroom", "ECN kmin", "ECN kmax", "pmax")


def problems_text(problems: Sequence[PlanProblem], paint: Paint = PLAIN) -> str:
    """Infeasible numbers and warnings, each with its remedy."""
    lines = []
    for item in problems:
        kind = paint("warn", "warning") if item.warning else paint("bad", "error")
        field = f" ({_place(item)})" if item.field else ""
        lines.append(f"{kind}: {item.where}: {item.text}{field}")
        if item.remedy:
            lines.append(f"  = {item.remedy}")
    return "\n".join(lines)


def _place(item: PlanProblem) -> str:
    """The profile, the site's settings or the inventory, and the key in it."""
    if item.profile:
        return f"{item.profile}: {'.'.join(map(str, item.field))}"
    file, *rest = ("rocetune.yaml", *item.field[1:]) if item.field[0] == "site" else ("inventory", *item.field)
    return f"{file}: {'.'.join(map(str, rest))}"


def summary(plan: Plan, names: Sequence[str]) -> str:
    """One line: devices, ports, distinct settings, problems."""
    ports = sum(len(plan.devices[name].ports) for name in names)
    kinds = counted(len(_used(plan, names)), "distinct setting")
    errors = sum(not item.warning for item in plan.problems)
    tail = f"; {counted(errors, 'number')} cannot be" if errors else ""
    return f"{counted(len(names), 'device')}, {counted(ports, 'planned port')}, {kinds}{tail}."


def plan_text(plan: Plan, names: Sequence[str], paint: Paint = PLAIN) -> str:
    """Settings, devices, assumptions and problems; the summary last."""
    blocks = []
    for setting, ports in _used(plan, names).values():
        heading = f"{paint('bold', setting.name)}  profile {setting.profile.name}, {_port_words(setting)}"
        head, *rows = _filled([list(_HEAD), *_rows(setting, _speed(ports))])
        blocks.append(f"{heading}\n{table(rows, head, indent='  ')}\n  on {places(ports)}")
    assumed = _assumed(plan, names)
    if assumed:
        blocks.append("assumed, not confirmed:\n" + "\n".join(f"  {line}" for line in assumed))
    if plan.problems:
        blocks.append(problems_text(plan.problems, paint))
    blocks.append(summary(plan, names))
    return "\n\n".join(blocks)


def plan_markdown(plan: Plan, names: Sequence[str]) -> str:
    """The same for a pull request."""
    blocks = [f"**rocetune plan**: {summary(plan, names)}"]
    for setting, ports in _used(plan, names).values():
        head, *rows = _filled([list(_HEAD), *_rows(setting, _speed(ports))])
        words = f"Profile {setting.profile.name}, {_port_words(setting)}."
        blocks.append(f"### {setting.name}\n\n{words}\n\n{markdown_table(rows, head)}")
        blocks.append(f"On {places(ports)}.")
    assumed = _assumed(plan, names)
    if assumed:
        blocks.append("### Assumed, not confirmed\n\n" + "\n".join(f"- {line}" for line in assumed))
    if plan.problems:
        kinds = (("warning" if item.warning else "error", item) for item in plan.problems)
        lines = [f"- **{kind}**: {item.where}: {item.text}; {item.remedy}" for kind, item in kinds]
        blocks.append("### Problems\n\n" + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _used(plan: Plan, names: Sequence[str]) -> dict[str, tuple[Setting, list[tuple[str, str, int | None]]]]:
    """Settings in use by the chosen devices, with (device, port, speed) of each port."""
    found: dict[str, tuple[Setting, list[tuple[str, str, int | None]]]] = {}
    for name in names:
        for item in plan.devices[name].ports:
            found.setdefault(item.setting.name, (item.setting, []))[1].append(
                (name, item.port.name, item.port.speed_mbps)
            )
    return dict(sorted(found.items()))


def _speed(ports: Iterable[tuple[str, str, int | None]]) -> int | None:
    speeds = {speed for _, _, speed in ports}
    return speeds.pop() if len(speeds) == 1 else None


def places(ports: Sequence[tuple[str, str, int | None]]) -> str:
    """``gpu01-gpu04: rail0-rail7; leaf1: Ethernet1/1-Ethernet16/1``: devices with equal ports said once."""
    by_device: dict[str, list[str]] = {}
    for device, port, _ in ports:
        by_device.setdefault(device, []).append(port)
    same: dict[tuple[str, ...], list[str]] = {}
    for device, names in by_device.items():
        same.setdefault(tuple(names), []).append(device)
    return "; ".join(f"{compact(devices)}: {compact(names)}" for names, devices in same.items())


def _port_words(setting: Setting) -> str:
    qos = setting.qos
    parts = [f"network {setting.network}"]
    if qos.mtu_bytes:
        parts.append(f"MTU {qos.mtu_bytes}")
    if qos.trust:
        parts.append(f"trust {qos.trust}")
    watchdog = qos.watchdog
    if watchdog and watchdog.detect_ms:
        parts.append(f"watchdog {watchdog.detect_ms} ms {watchdog.action or ''}".rstrip())
    return ", ".join(parts)


def _rows(setting: Setting, speed: int | None) -> list[list[str]]:
    return [
        [
            entry.name or "-",
            str(entry.priority),
            ",".join(map(str, entry.dscps or ())) or "-",
            ("no PFC" if entry.pfc is False else "yes") if entry.lossless else "-",
            _share(entry),
            _size(entry.headroom_bytes, speed),
            _size(entry.kmin_bytes, speed),
            _size(entry.kmax_bytes, speed),
            f"{entry.pmax_percent:g} %" if entry.pmax_percent is not None else "-",
        ]
        for entry in setting.qos.priorities
    ]


def _filled(rows: list[list[str]]) -> list[list[str]]:
    """The table without the columns in which no row says anything; the first row is the head."""
    kept = [index for index in range(len(rows[0])) if any(row[index] != "-" for row in rows[1:])]
    return [[row[index] for index in kept] for row in rows]


def _share(entry: PriorityQos) -> str:
    if not entry.owned:
        return "foreign"
    if entry.scheduling == "strict":
        return "strict"
    return f"{entry.bandwidth_percent} %" if entry.bandwidth_percent is not None else "-"


def _size(value: int | None, speed: int | None) -> str:
    if value is None:
        return "-"
    return show_bytes(value) + (f" ({bytes_to_us(value, speed):.3g} us)" if speed else "")


def _assumed(plan: Plan, names: Sequence[str]) -> list[str]:
    own = [item for name in names for item in plan.devices[name].assumptions]
    every = [*plan.assumptions, *own]
    found = encode.merged((item.text + (f" ({item.remedy})" if item.remedy else ""), item.where) for item in every)
    return [f"{compact(where, limit=8)}: {text}" for text, where in found.items()]


def plan_document(plan: Plan, names: Sequence[str]) -> encode.Json:
    """A settings table, and devices that refer to it by name; see docs/json.md."""
    return {
        "format": "rocetune.plan/1",
        "summary": summary(plan, names),
        "settings": {
            setting.name: {
                "network": setting.network,
                "profile": setting.profile.name,
                "qos": [{"path": list(path), "value": _plain(value)} for path, value in leaves(setting.qos)],
                "why": [{"path": list(path), **encode.why_json(why)} for path, why in setting.why.items()],
                "overrides": dict(setting.winners),
            }
            for setting, _ in _used(plan, names).values()
        },
        "devices": {name: _device_json(plan.devices[name]) for name in names},
        "assumptions": [encode.assumption_json(item) for item in plan.assumptions],
        "problems": [encode.problem_json(item) for item in plan.problems],
    }


def _device_json(plan: DevicePlan) -> encode.Json:
    return {
        "platform": plan.device.platform,
        "role": plan.device.role,
        "ports": {
            item.port.name: {
                "native": item.native,
                "setting": item.setting.name,
                "speed_mbps": item.port.speed_mbps,
                "peer": list(item.port.peer) if item.port.peer else None,
                "manage": item.port.manage,
            }
            for item in plan.ports
        },
        "dscp_to_priority": [list(pair) for pair in plan.qos.dscp_to_priority],
        "environment": dict(plan.qos.environment),
        "assumptions": [encode.assumption_json(item) for item in plan.assumptions],
        "unsupported": [encode.unsupported_json(item) for item in plan.unsupported],
    }


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def plan_json(plan: Plan, names: Sequence[str]) -> str:
    """:func:`plan_document` as text."""
    return to_json(plan_document(plan, names))
