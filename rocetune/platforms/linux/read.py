"""A transcript as observed state: QoS per port, server-wide settings, one counter sample, and the evidence lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.qos import HostQos, Path, PortQos, PriorityQos, Trust
from rocetune.model.state import Evidence, Sample, State, Transcript
from rocetune.platforms.base import texts
from rocetune.platforms.linux import adapters, counters, tools
from rocetune.platforms.linux.facts import served
from rocetune.platforms.linux.server import read_server

# A path may hold colons (PCI addresses); the one before a blank, or the last one, ends it.
_LINE = re.compile(r"(/\S+|ethtool --get-tunable \S+ pfc-prevention-tout):(?: (.*))?")


def commands(purpose: str, facts: Facts) -> tuple[str, ...]:
    """What to ask for "state" and "counters"; two commands cover all of sysfs, the rest are the NIC tools per port."""
    ports = served(facts)
    if not ports:
        return ("rocetune-host inspect",) if purpose == "state" else ()
    names = " ".join(ports)
    if purpose == "counters":
        return (f"rocetune-host counters {names}", *(f"ethtool -S {port}" for port in ports))
    asked = [f"rocetune-host inspect {names}"]
    for port in ports:
        asked += _dcb_commands(port, facts)
        asked += [f"ethtool -a {port}", f"ethtool -S {port}"]
    if facts.extra.get("tool.ibv_devinfo") == "yes":
        asked.append("ibv_devinfo")
    return tuple(asked)


def _dcb_commands(port: str, facts: Facts) -> list[str]:
    if facts.extra.get("tool.mlnx_qos") == "yes":
        return [f"mlnx_qos -i {port}"]
    return [f"dcb -j {item}" for item in _inbox(port)]


def _inbox(port: str) -> tuple[str, ...]:
    return (f"dcbx show dev {port}", f"app show dev {port} dscp-prio", f"pfc show dev {port}", f"ets show dev {port}")


@dataclass(slots=True)
class _Reader:
    """Collects leaves and their evidence of one port."""

    port: str
    facts: PortFacts
    answers: Mapping[str, str]
    inspected: Mapping[str, str]
    evidence: dict[Path, Evidence] = field(default_factory=dict)

    def saw(self, path: Path, command: str, line: str) -> None:
        self.evidence[(self.port, *path)] = Evidence(command, line)

    def value(self, file: str, *leaves: Path) -> str | None:
        """The first line of an inspected file; it becomes the evidence of these leaves."""
        found = self.inspected.get(file)
        if found is not None:
            for leaf in leaves:
                self.saw(leaf, file if file.startswith("ethtool") else f"cat {file}", found or "(empty)")
        return found

    def number(self, file: str, *leaves: Path) -> int | None:
        found = self.value(file, *leaves)
        return int(found) if found is not None and re.fullmatch(r"-?[0-9]+", found) else None


def read_state(device: str, transcript: Transcript, facts: Facts) -> State:
    """The state of one server. What a command could not tell is None in the port and named in ``problems``."""
    answers = texts(transcript)
    inspect_text = next((text for command, text in answers.items() if command.startswith("rocetune-host inspect")), "")
    counters_text = next(
        (text for command, text in answers.items() if command.startswith("rocetune-host counters")), ""
    )
    inspected = _inspected(inspect_text) | _inspected(counters_text)
    ports: dict[str, PortQos] = {}
    evidence: dict[Path, Evidence] = {}
    sample: dict[str, dict[str, int]] = {}
    mtus = _active_mtus(answers.get("ibv_devinfo", ""))
    for name in served(facts):
        reader = _Reader(name, facts.ports[name], answers, inspected)
        if inspect_text:
            ports[name] = _port(reader, mtus)
        evidence.update(reader.evidence)
        if f"ethtool -S {name}" in answers:
            sample[name] = counters.of_port(
                tools.ethtool_statistics(answers[f"ethtool -S {name}"]), _hw_counters(reader)
            )
    settings: dict[str, str] = {}
    if inspect_text:
        settings, more = read_server(inspect_text, inspected, ports, facts)
        evidence.update(more)
    at = max((reply.at for reply in transcript.values()), default=0.0)
    problems = [f"{command}: {reply.error}" for command, reply in transcript.items() if reply.error is not None]
    samples = (Sample(at, sample),) if sample else ()
    return State(device, facts, ports, settings, samples, evidence, tuple(problems))


def _inspected(text: str) -> dict[str, str]:
    return {match[1]: match[2] or "" for raw in text.splitlines() if (match := _LINE.fullmatch(raw))}


def _hw_counters(reader: _Reader) -> dict[str, int]:
    prefix = f"/sys/class/infiniband/{reader.facts.rdma_device}/ports/1/hw_counters/"
    return {k.removeprefix(prefix): int(v) for k, v in reader.inspected.items() if k.startswith(prefix) and v.isdigit()}


def _active_mtus(text: str) -> dict[str, tuple[int, str]]:
    """RDMA device to (active MTU, line) from ``ibv_devinfo``."""
    found: dict[str, tuple[int, str]] = {}
    device = ""
    for raw in text.splitlines():
        if match := re.fullmatch(r"hca_id:\s*(\S+)\s*", raw):
            device = match[1]
        elif (match := re.match(r"\s*active_mtu:\s*([0-9]+)", raw)) and device:
            found[device] = (int(match[1]), raw.strip())
    return found


def _port(reader: _Reader, mtus: Mapping[str, tuple[int, str]]) -> PortQos:
    name = reader.port
    net = f"/sys/class/net/{name}"
    dcb, source = _dcb(reader)
    pause, line = tools.ethtool_pause(reader.answers.get(f"ethtool -a {name}", ""))
    if pause is not None:
        reader.saw(("link_pause",), f"ethtool -a {name}", line)
    for leaf, key in ((("trust",), "trust"), (("cable_m",), "cable_m"), (("host", "dcbx"), "dcbx")):
        if key in dcb.lines:
            reader.saw(leaf, source, dcb.lines[key])
    mtu = reader.number(f"{net}/mtu", ("mtu_bytes",))
    speed = reader.number(f"{net}/speed", ("speed_mbps",))
    state = reader.value(f"{net}/operstate", ("link_up",))
    return PortQos(
        trust=cast("Trust | None", dcb.trust),
        mtu_bytes=mtu,
        speed_mbps=speed if speed and speed > 0 else None,
        link_up=None if state is None else state == "up",
        cable_m=None if dcb.cable_m is None else float(dcb.cable_m),
        link_pause=pause,
        dscp_to_priority=_map(reader, dcb, source),
        priorities=_priorities(reader, dcb, source),
        host=_host(reader, dcb, mtu, mtus),
    )


def _dcb(reader: _Reader) -> tuple[tools.Dcb, str]:
    command = f"mlnx_qos -i {reader.port}"
    if command in reader.answers:
        return tools.mlnx_qos(reader.answers[command]), command
    asked = [f"dcb -j {item}" for item in _inbox(reader.port)]
    return tools.dcb_json(*(reader.answers.get(item, "") for item in asked)), f"dcb -j ... show dev {reader.port}"


def _map(reader: _Reader, dcb: tools.Dcb, source: str) -> tuple[int | None, ...] | None:
    """64 entries; None where the tool does not list a DSCP (the firmware's map counts there)."""
    if not dcb.dscp:
        return None
    for dscp in dcb.dscp:
        reader.saw(("dscp_to_priority", dscp), source, dcb.lines[f"dscp.{dscp}"])
    reader.saw(("dscp_to_priority",), source, "dscp2prio mapping")
    return tuple(dcb.dscp.get(dscp) for dscp in range(64))


def _priorities(reader: _Reader, dcb: tools.Dcb, source: str) -> tuple[PriorityQos, ...]:
    if dcb.pfc is None and not dcb.prio_tc:
        return ()
    result = []
    for priority in range(8):
        path: Path = ("priorities", priority)
        tc = dcb.prio_tc.get(priority)
        kind = dcb.tsa.get(tc) if tc is not None else None
        scheduling: Literal["strict", "dwrr"] | None = {"strict": "strict", "ets": "dwrr"}.get(kind or "")  # type: ignore[assignment]
        if dcb.pfc is not None:
            reader.saw((*path, "pfc"), source, dcb.lines["pfc"])
        if tc is not None and f"tc.{tc}" in dcb.lines:
            for leaf in ("scheduling", "bandwidth_percent", "traffic_class"):
                reader.saw((*path, leaf), source, dcb.lines[f"tc.{tc}"])
        dscps = tuple(sorted(dscp for dscp, mapped in dcb.dscp.items() if mapped == priority))
        result.append(
            PriorityQos(
                priority,
                dscps=dscps if dcb.dscp else None,
                pfc=None if dcb.pfc is None else dcb.pfc[priority],
                traffic_class=tc,
                priority_group=None if dcb.buffer is None else dcb.buffer[priority],
                scheduling=scheduling,
                bandwidth_percent=dcb.share.get(tc) if tc is not None and scheduling == "dwrr" else None,
            )
        )
    return tuple(result)


def _host(reader: _Reader, dcb: tools.Dcb, mtu: int | None, mtus: Mapping[str, tuple[int, str]]) -> HostQos:
    net, rdma = f"/sys/class/net/{reader.port}", reader.facts.rdma_device
    cma = f"/sys/kernel/config/rdma_cm/{rdma}/ports/1"
    mode = reader.value(f"{cma}/default_roce_mode", ("host", "roce_mode"))
    active = adapters.path_mtu(mtu) if mtu is not None else None
    if rdma is not None and rdma in mtus:
        active = mtus[rdma][0]
        reader.saw(("host", "active_mtu_bytes"), f"ibv_devinfo -d {rdma}", mtus[rdma][1])
    elif mtu is not None:
        reader.saw(("host", "active_mtu_bytes"), f"cat {net}/mtu", f"{mtu} (RDMA MTU follows from it)")
    tunable = f"ethtool --get-tunable {reader.port} pfc-prevention-tout"
    storm = reader.number(tunable, ("host", "storm_prevention_ms"))
    return HostQos(
        dcbx=cast('Literal["os", "firmware"] | None', dcb.dcbx),
        roce_tos=reader.number(f"{cma}/default_roce_tos", ("host", "roce_tos")),
        traffic_class=_traffic_class(reader),
        cnp_dscp=_congestion(reader, "roce_np", "cnp_dscp", "np_cnp_dscp", ("host", "cnp_dscp")),
        cnp_priority=_congestion(reader, "roce_np", "cnp_802p_prio", "np_cnp_prio", ("host", "cnp_priority")),
        np_priorities=_roles(reader, "roce_np", ("host", "np_priorities")),
        rp_priorities=_roles(reader, "roce_rp", ("host", "rp_priorities")),
        dcqcn=_dcqcn(reader),
        storm_prevention_ms=100 if storm == 65535 else storm,
        roce_mode=None if mode is None else "v2" if mode.endswith("v2") else "v1" if mode.endswith("v1") else None,
        active_mtu_bytes=active,
    )


def _traffic_class(reader: _Reader) -> int | None:
    """-1 when the file is there and empty; None when the driver has no such file."""
    file = f"/sys/class/infiniband/{reader.facts.rdma_device}/tc/1/traffic_class"
    text = reader.value(file, ("host", "traffic_class"))
    if text is None:
        return None
    match = re.search(r"Global tclass=([0-9]+)", text) or re.fullmatch(r"\s*([0-9]+)\s*", text)
    return int(match[1]) if match else -1


def _congestion(reader: _Reader, role: str, name: str, debugfs: str, *leaves: Path) -> int | None:
    net = f"/sys/class/net/{reader.port}/ecn/{role}"
    for file in (
        f"{net}/{name}",
        f"{net}/params/{name}",
        f"/sys/kernel/debug/mlx5/{reader.facts.pci}/cc_params/{debugfs}",
    ):
        if (value := reader.number(file, *leaves)) is not None:
            return value
    return None


def _roles(reader: _Reader, role: str, leaf: Path) -> frozenset[int] | None:
    bits: dict[int, bool] = {}
    for priority in range(8):
        file = f"/sys/class/net/{reader.port}/ecn/{role}/enable/{priority}"
        if (value := reader.number(file)) is not None:
            bits[priority] = value == 1
    if len(bits) < 8:
        return None
    shown = ",".join("1" if bits[priority] else "0" for priority in range(8))
    reader.saw(leaf, f"cat /sys/class/net/{reader.port}/ecn/{role}/enable/[0-7]", shown)
    return frozenset(priority for priority, on in bits.items() if on)


def _dcqcn(reader: _Reader) -> tuple[tuple[str, int], ...] | None:
    found: dict[str, int] = {}
    for name, debugfs, _ in adapters.DCQCN:
        role = "roce_np" if name == "min_time_between_cnps" else "roce_rp"
        if (value := _congestion(reader, role, name, debugfs, ("host", "dcqcn", name))) is not None:
            found[name] = value
    if not found:
        return None
    reader.saw(("host", "dcqcn"), "congestion-control parameters", ", ".join(f"{k}={v}" for k, v in found.items()))
    return tuple(sorted(found.items()))
