"""The plan as a settings file, through the templates."""

from __future__ import annotations

from typing import Any

from rocetune.model.change import Rendered
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import PortQos
from rocetune.platforms.linux.adapters import DCQCN_NAMES
from rocetune.platforms.linux.keys import parse
from rocetune.platforms.templating import environment


def render_plan(plan: DevicePlan, facts: Facts) -> Rendered:
    """Settings of the managed ports, and the application environment as a side file. Deterministic bytes.

    Raises BadSetting when a template (perhaps a site's own) writes a line outside the grammar.
    """
    made = environment("linux")
    ports = [_view(item.native, item.setting.qos) for item in sorted(plan.managed, key=lambda item: item.native)]
    variables = dict(plan.qos.environment) if ports else {}
    text = made.get_template("settings.j2").render(device=plan.device.name, ports=ports, environment=variables)
    parse(text)
    files = {}
    if variables:
        files["roce.env"] = made.get_template("roce.env.j2").render(environment=variables)
    return Rendered(text, files)


def _view(native: str, qos: PortQos) -> dict[str, Any]:
    """The values a template writes for one port; None where the plan does not say."""
    host = qos.host
    dcqcn = dict(host.dcqcn or ()) if host else {}
    by_priority = {entry.priority: entry for entry in qos.priorities}
    view: dict[str, Any] = {
        "name": native,
        "mtu": qos.mtu_bytes,
        "trust": qos.trust if qos.trust in ("dscp", "pcp") else None,
        "pause": None if qos.link_pause is None else "on" if qos.link_pause else "off",
        "cable_m": None if qos.cable_m is None else int(qos.cable_m),
        "map": [(d, p) for d, p in enumerate(qos.dscp_to_priority or ()) if p is not None and qos.trust == "dscp"],
        "pfc": None,
        "tsa": None,
        "bw": None,
        "prio_tc": None,
        "np": _bits(host.np_priorities) if host else None,
        "rp": _bits(host.rp_priorities) if host else None,
        "dcqcn": [(name, dcqcn[name]) for name in DCQCN_NAMES if name in dcqcn],
        "host": host,
        "dcbx": {"os": "os", "firmware": "fw", None: None}[host.dcbx] if host else None,
        "persist": ",".join(["boot", *(name for name in DCQCN_NAMES if name in dcqcn)]),
    }
    if any(entry.pfc is not None for entry in qos.priorities):
        bits = ["x" if (e := by_priority.get(p)) and not e.owned else "1" if e and e.pfc else "0" for p in range(8)]
        view["pfc"] = ",".join(bits)
    if any(entry.scheduling is not None for entry in qos.priorities):
        view.update(_scheduler(qos))
    return view


def _bits(priorities: frozenset[int] | None) -> str | None:
    return None if priorities is None else ",".join("1" if p in priorities else "0" for p in range(8))


def _scheduler(qos: PortQos) -> dict[str, str]:
    """TSA, shares and priority map of the eight traffic classes.

    A class nobody planned is ETS with 0 %: it shares what the others leave (NVIDIA's own recipe does the same).
    """
    tsa, share, classes = ["ets"] * 8, [0] * 8, list(range(8))
    for entry in qos.priorities:
        index = entry.priority if entry.traffic_class is None else entry.traffic_class
        classes[entry.priority] = index
        if entry.scheduling == "strict":
            tsa[index] = "strict"
        elif entry.scheduling == "dwrr":
            share[index] = entry.bandwidth_percent or 0
    if sum(share) == 0:
        tsa = ["strict" if kind == "strict" else "vendor" for kind in tsa]
    return {"tsa": ",".join(tsa), "bw": ",".join(map(str, share)), "prio_tc": ",".join(map(str, classes))}
