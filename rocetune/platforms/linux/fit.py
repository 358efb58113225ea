"""What a server's NICs make of the plan: native names, whole metres, driver ceilings, and what they cannot do."""

from __future__ import annotations

import math
from dataclasses import replace

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.plan import Assumption, DevicePlan, PortPlan, Setting, Unsupported, Why
from rocetune.model.qos import HostQos, Path, PortQos, PriorityQos
from rocetune.platforms.linux import adapters
from rocetune.platforms.linux.facts import has, native_name

_MISSING = (
    (
        "ecn_enable",
        ("np_priorities", "rp_priorities"),
        "the inbox driver has no runtime switch for NP and RP per priority (NVIDIA's factory setting, "
        "ROCE_CC_PRIO_MASK 255, has all on); install DOCA-OFED to set it here",
    ),
    (
        "traffic_class",
        ("traffic_class",),
        "the inbox driver has no global traffic class; applications must set their own (NCCL_IB_TC in roce.env)",
    ),
    (
        "cc_params",
        ("cnp_dscp", "cnp_priority", "dcqcn"),
        "the driver shows no congestion-control parameters, neither in sysfs nor in debugfs: mount debugfs, "
        "or install DOCA-OFED",
    ),
    (
        "dcbx",
        ("dcbx",),
        "the firmware owns DCBX, and dcb (unlike mlnx_qos) could not give it back in an undo: "
        "take it once by hand with 'dcb dcbx set dev IF host ieee', or install mlnx-tools",
    ),
    ("storm_prevention", ("storm_prevention_ms",), "the firmware has no stall detection (pfc-prevention-tout)"),
)


def fit_plan(plan: DevicePlan, facts: Facts) -> DevicePlan:
    """The plan as this server can have it. Ports that are not there, or whose NIC is unknown, leave the plan."""
    ports: list[PortPlan] = []
    unsupported = list(plan.unsupported)
    assumptions = list(plan.assumptions)
    fitted: dict[tuple[int, str | None, str], tuple[Setting, tuple[tuple[Path, str], ...]]] = {}
    for item in plan.ports:
        where = f"{plan.device.name}:{item.port.name}"
        native = native_name(item.port, facts.ports)
        port = facts.ports.get(native or "") or facts.ports.get(item.native)
        if port is None:
            unsupported.append(Unsupported(where, (), f"no port matches {item.port.select or item.port.name}"))
            continue
        if port.adapter is None:
            text = f"driver {port.driver or 'unknown'} ({port.pci or 'no PCI address'}) belongs to no known NIC family"
            unsupported.append(Unsupported(where, (), text))
            continue
        key = (id(item.setting), port.adapter, port.extra.get("has", ""))
        if key not in fitted:
            fitted[key] = _setting(item.setting, port)
        setting, lost = fitted[key]
        ports.append(PortPlan(item.port, port.native, setting))
        unsupported.extend(Unsupported(where, path, text) for path, text in lost)
    if facts.source == "declared" and ports:
        assumptions.append(
            Assumption(plan.device.name, "NIC driver and netdev names are taken from the inventory until it is read")
        )
    return replace(
        plan, ports=tuple(ports), unsupported=tuple(dict.fromkeys(unsupported)), assumptions=tuple(assumptions)
    )


def _setting(setting: Setting, port: PortFacts) -> tuple[Setting, tuple[tuple[Path, str], ...]]:
    adapter = adapters.by_name(port.adapter)
    assert adapter is not None
    qos, why = setting.qos, dict(setting.why)
    lost: list[tuple[Path, str]] = []
    qos = replace(qos, dcbx=None, watchdog=None, dscp_to_priority=_full_map(qos))
    _explain_map(qos, why)
    mtu = qos.mtu_bytes
    if mtu is not None and mtu > adapter.max_mtu_bytes:
        qos = replace(qos, mtu_bytes=adapter.max_mtu_bytes)
        why[("mtu_bytes",)] = Why("fit.ceiling", (("mtu_bytes", mtu),), bounds=(f"driver: {adapter.max_mtu_bytes}",))
    if qos.cable_m is not None:
        whole = min(max(math.ceil(qos.cable_m), adapter.cable_m[0]), adapter.cable_m[1])
        if whole != qos.cable_m:
            text = f"{qos.cable_m:g} m up to {whole} m: the driver takes whole metres 1 to 999"
            why[("cable_m",)] = Why("fit.rounding", (("cable_m", qos.cable_m),), rounding=text)
        qos = replace(qos, cable_m=float(whole))
    qos = replace(qos, priorities=_priorities(qos, why))
    if qos.host is not None:
        qos = replace(qos, host=_host(qos.host, qos.mtu_bytes, port, adapter, why, lost))
    return replace(setting, qos=qos, why=why), tuple(lost)


def _full_map(qos: PortQos) -> tuple[int | None, ...]:
    """All 64 entries: owned classes, the default class for the rest, None for DSCPs of foreign classes.

    A NIC's factory map sends DSCP 24..31 to priority 3, so what the profile does not name must be said too.
    """
    if qos.dscp_to_priority is not None and any(entry is not None for entry in qos.dscp_to_priority):
        known = list(qos.dscp_to_priority)
    else:
        known = [None] * 64
        for entry in qos.priorities:
            for dscp in entry.dscps or ():
                known[dscp] = entry.priority if entry.owned else None
    foreign = {dscp for entry in qos.priorities if not entry.owned for dscp in entry.dscps or ()}
    rest = next((e.priority for e in qos.priorities if e.owned and not e.dscps and not e.lossless), 0)
    return tuple(None if dscp in foreign else rest if value is None else value for dscp, value in enumerate(known))


def _explain_map(qos: PortQos, why: dict[Path, Why]) -> None:
    named = {dscp: entry.name or "" for entry in qos.priorities for dscp in entry.dscps or ()}
    rest = Why("map.default", steps=("a DSCP that no class names goes to the default class, not to DSCP / 8",))
    for dscp, priority in enumerate(qos.dscp_to_priority or ()):
        if priority is not None:
            made = Why("map.class", (("class", named[dscp]),)) if dscp in named else rest
            why.setdefault(("dscp_to_priority", dscp), made)


def _priorities(qos: PortQos, why: dict[Path, Why]) -> tuple[PriorityQos, ...]:
    """Only what a NIC has, and shares that sum to 100, which the driver insists on."""
    result = [_on_nic(entry) for entry in qos.priorities]
    shares = {e.priority: e.bandwidth_percent or 0 for e in result if e.scheduling == "dwrr"}
    total = sum(shares.values())
    if not shares or total in (0, 100):
        return tuple(result)
    scaled = {priority: share * 100 // total for priority, share in shares.items()}
    for priority in sorted(shares, key=lambda item: (-(shares[item] * 100 % total), item))[
        : 100 - sum(scaled.values())
    ]:
        scaled[priority] += 1
    for index, entry in enumerate(result):
        if entry.priority in scaled:
            share = scaled[entry.priority]
            text = f"{shares[entry.priority]} % of {total} % becomes {share} %: ETS shares of a NIC sum to 100"
            why[("priorities", entry.priority, "bandwidth_percent")] = Why("fit.ets_sum", rounding=text)
            result[index] = replace(entry, bandwidth_percent=share)
    return tuple(result)


def _on_nic(entry: PriorityQos) -> PriorityQos:
    """Without the leaves that only a switch has."""
    return PriorityQos(
        entry.priority,
        entry.name,
        owned=entry.owned,
        dscps=entry.dscps,
        lossless=entry.lossless,
        pfc=entry.pfc,
        traffic_class=entry.traffic_class,
        scheduling=entry.scheduling,
        bandwidth_percent=entry.bandwidth_percent,
    )


def _host(
    host: HostQos,
    mtu_bytes: int | None,
    port: PortFacts,
    adapter: adapters.Adapter,
    why: dict[Path, Why],
    lost: list[tuple[Path, str]],
) -> HostQos:
    for capability, leaves, text in _MISSING:
        wanted = [name for name in leaves if getattr(host, name) is not None]
        if wanted and not has(port, capability):
            host = replace(host, **dict.fromkeys(wanted))
            lost.extend((("host", name), text) for name in wanted)
    if host.storm_prevention_ms:
        low, high = adapter.storm_prevention_ms
        fitted = min(max(host.storm_prevention_ms, low), high)
        if fitted != host.storm_prevention_ms:
            inputs = (("storm_prevention_ms", host.storm_prevention_ms),)
            why[("host", "storm_prevention_ms")] = Why("fit.ceiling", inputs, bounds=(f"{low} to {high} ms",))
            host = replace(host, storm_prevention_ms=fitted)
    if host.dcqcn is not None:
        named = {adapters.DCQCN_ALIASES.get(name, name): value for name, value in host.dcqcn}
        for name in sorted(named.keys() - set(adapters.DCQCN_NAMES)):
            lost.append((("host", "dcqcn"), f"the NIC has no congestion-control parameter {name}"))
            del named[name]
        host = replace(host, dcqcn=tuple(sorted(named.items())))
    if host.active_mtu_bytes is not None and mtu_bytes is not None:
        fits = path_mtu = adapters.path_mtu(mtu_bytes)
        if fits is not None and path_mtu is not None and path_mtu < host.active_mtu_bytes:
            lost.append(
                (
                    ("host", "active_mtu_bytes"),
                    f"RDMA MTU {host.active_mtu_bytes} needs netdev MTU "
                    f"{host.active_mtu_bytes + 96}; {mtu_bytes} leaves {fits}",
                )
            )
        host = replace(host, active_mtu_bytes=fits)
    return host
