"""A small rack by hand: its plan, and states that are healthy until a test spoils one thing.

    leaf1 (arista_eos)  Ethernet1/1 - gpu01 rail0    Ethernet2/1 - gpu02 rail0    Ethernet32/1 - leaf2 Ethernet248
    leaf2 (sonic)       Ethernet0   - gpu01 rail1    Ethernet8   - gpu02 rail1

Values are what a well-configured rack of the ai-training profile shows, by the reference texts: RoCE DSCP 26 on
priority 3, CNP DSCP 48 on priority 6, ToS 106 = DSCP 26 with ECT(0), NIC stall timer "auto" = 100 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rocetune.doctor.case import Case
from rocetune.doctor.engine import diagnose
from rocetune.model.change import Comparison, Phase
from rocetune.model.fabric import Device, Port
from rocetune.model.facts import Facts, PortFacts
from rocetune.model.finding import Finding
from rocetune.model.outcome import DoctorReport
from rocetune.model.plan import DevicePlan, DeviceQos, PortPlan, Setting
from rocetune.model.profile import Profile
from rocetune.model.qos import HostQos, Path, PortQos, PriorityQos, Watchdog
from rocetune.model.state import Evidence, Sample, State

SECONDS = 2.0
LINKS = (
    (("leaf1", "Ethernet1/1"), ("gpu01", "rail0")),
    (("leaf2", "Ethernet0"), ("gpu01", "rail1")),
    (("leaf1", "Ethernet2/1"), ("gpu02", "rail0")),
    (("leaf2", "Ethernet8"), ("gpu02", "rail1")),
    (("leaf1", "Ethernet32/1"), ("leaf2", "Ethernet248")),
)
NETDEVS = {"rail0": "ens11np0", "rail1": "ens12np0"}
PLATFORMS = {"leaf1": "arista_eos", "leaf2": "sonic", "gpu01": "linux", "gpu02": "linux"}

PROFILE = Profile.model_validate(
    {
        "name": "ai-training",
        "classes": {
            "roce": {
                "dscp": (26,),
                "priority": 3,
                "lossless": True,
                "bandwidth": "50%",
                "ecn": {},
                "marking": {"by": ("rdma_cm", "nccl")},
            },
            "cnp": {"dscp": (48,), "priority": 6, "strict": True},
            "control": {"dscp": (56,), "priority": 7, "owner": "other"},
            "default": {"priority": 0, "bandwidth": "50%"},
        },
    }
)
MAP = tuple({26: 3, 48: 6}.get(dscp, 0) for dscp in range(64))

ROCE = PriorityQos(
    3, "roce", dscps=(26,), lossless=True, pfc=True, scheduling="dwrr", bandwidth_percent=50,
    headroom_bytes=100_000, alpha=1.0, ecn=True, kmin_bytes=400_000, kmax_bytes=1_600_000, pmax_percent=20.0,
    watchdog=True,
)  # fmt: skip
OTHERS = (
    PriorityQos(0, "default", dscps=(), lossless=False, pfc=False, scheduling="dwrr", bandwidth_percent=50),
    PriorityQos(6, "cnp", dscps=(48,), lossless=False, pfc=False, scheduling="strict"),
    PriorityQos(7, "control", owned=False, dscps=(56,), lossless=False),
)
SWITCH = PortQos(
    trust="dscp", mtu_bytes=9216, speed_mbps=400_000, cable_m=5.0, link_pause=False, dcbx="off",
    dscp_to_priority=MAP, priorities=(OTHERS[0], ROCE, *OTHERS[1:]),
    watchdog=Watchdog(detect_ms=200, restore_ms=400, poll_ms=100, action="drop"),
)  # fmt: skip
NIC_ROCE = PriorityQos(3, "roce", dscps=(26,), lossless=True, pfc=True, scheduling="dwrr", bandwidth_percent=50)
SERVER = PortQos(
    trust="dscp", mtu_bytes=9000, speed_mbps=400_000, cable_m=2.0, link_pause=False,
    dscp_to_priority=MAP, priorities=(OTHERS[0], NIC_ROCE, *OTHERS[1:]),
    host=HostQos(
        dcbx="os", roce_tos=106, traffic_class=106, cnp_dscp=48, cnp_priority=6, np_priorities=frozenset({3}),
        rp_priorities=frozenset({3}), storm_prevention_ms=100, roce_mode="v2", active_mtu_bytes=4096,
    ),
)  # fmt: skip
SWITCH_SETTINGS = {"startup": "equal"}
SONIC_SETTINGS = {"big_red_switch": "off", "wred_green_enable": "on", "headroom_rejected": ""}
LOCAL, GLOBAL = "fe80:0000:0000:0000:0ac0:ebff:fe12:3456", "0000:0000:0000:0000:0000:ffff:c000:0201"
GIDS = f"0 IB/RoCE v1 {LOCAL}; 1 RoCE v2 {LOCAL}; 2 IB/RoCE v1 {GLOBAL}; 3 RoCE v2 {GLOBAL}"
SERVER_SETTINGS = {
    "lldpad": "absent",
    "persistence": "installed",
    "nccl_ib_tc": "106",
    "nccl_ib_gid_index": "",
    **{f"gids.{netdev}": GIDS for netdev in NETDEVS.values()},
}
GIGABYTE = 1_000_000_000
SWITCH_COUNTERS = {  # name -> (first, last)
    "pfc_rx.3": (40, 40), "pfc_tx.3": (7, 7), "pfc_rx_us.3": (90, 90), "pfc_rx_transitions.3": (40, 40),
    "tx_packets.3": (1000, 601_000), "queue_drops.3": (12, 12), "pg_drops.3": (0, 0), "ecn_marked.3": (5, 505),
    "watchdog_storms.3": (1, 1), "watchdog_restored.3": (1, 1),
}  # fmt: skip
SERVER_COUNTERS = {
    "pfc_rx.3": (7, 7), "pfc_tx.3": (40, 40), "pfc_rx_us.3": (30, 30), "pfc_tx_us.3": (90, 90),
    "pfc_rx_transitions.3": (7, 7), "rx_packets.3": (0, 600_000), "rx_discards": (3, 3), "rx_discards.3": (0, 0),
    **{f"tx_bytes.{priority}": (50, 50) for priority in range(8)}, "tx_bytes.3": (0, 2 * GIGABYTE),
    "ecn_marked_roce": (0, 400), "cnp_sent": (0, 200), "cnp_handled": (0, 210), "cnp_ignored": (0, 0),
    "out_of_sequence": (9, 9), "packet_seq_err": (1, 1), "implied_nak_seq_err": (0, 0),
    "local_ack_timeout_err": (2, 2), "adaptive_retransmissions": (0, 0), "slow_restarts": (0, 0),
    "storm_warnings": (0, 0), "storm_errors": (0, 0),
}  # fmt: skip


@dataclass
class Rack:
    """Plan and states to spoil. Methods change and return self, so that a test reads as one sentence."""

    plan: dict[str, DevicePlan] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    drift: dict[str, Comparison] | None = None
    phase: Phase | None = None
    outside: frozenset[str] = frozenset()

    def seen(self, device: str, port: str, path: Path, value: Any) -> Rack:
        """Set one observed leaf; None makes it unknown."""
        state, native = self.states[device], self.native(device, port)
        ports = {**state.ports, native: put(state.ports[native], path, value)}
        self.states[device] = replace(state, ports=ports)
        return self

    def planned(self, device: str, port: str, path: Path, value: Any) -> Rack:
        """Set one planned leaf of one port."""
        return self._port(device, port, lambda item: replace(
            item, setting=replace(item.setting, qos=put(item.setting.qos, path, value))
        ))  # fmt: skip

    def cabled(self, device: str, port: str, **fields: Any) -> Rack:
        """Change what the inventory says about a port."""
        return self._port(device, port, lambda item: replace(item, port=replace(item.port, **fields)))

    def profiled(self, device: str, port: str, profile: Profile) -> Rack:
        """Give one port another profile."""
        return self._port(device, port, lambda item: replace(item, setting=replace(item.setting, profile=profile)))

    def environment(self, device: str, *variables: tuple[str, str]) -> Rack:
        """Set the planned application environment."""
        plan = self.plan[device]
        self.plan[device] = replace(plan, qos=replace(plan.qos, environment=variables))
        return self

    def setting(self, device: str, key: str, value: str | None) -> Rack:
        """Set one device-level observation; None makes it unknown."""
        state = self.states[device]
        kept = {name: old for name, old in state.settings.items() if name != key}
        self.states[device] = replace(state, settings=kept if value is None else {**kept, key: value})
        return self

    def counter(self, device: str, port: str, name: str, delta: int | None) -> Rack:
        """Let one counter grow between the samples; None takes it away."""
        state, native = self.states[device], self.native(device, port)
        samples = []
        for index, sample in enumerate(state.samples):
            row = dict(sample.counters[native])
            row.pop(name, None)
            if delta is not None:
                row[name] = 1000 + index * delta
            samples.append(replace(sample, counters={**sample.counters, native: row}))
        self.states[device] = replace(state, samples=tuple(samples))
        return self

    def neighbor(self, device: str, port: str, heard: tuple[str, str] | None) -> Rack:
        """Set what LLDP hears on a port."""
        state, native = self.states[device], self.native(device, port)
        old = state.facts.ports[native]
        facts = replace(state.facts, ports={**state.facts.ports, native: replace(old, neighbor=heard)})
        self.states[device] = replace(state, facts=facts)
        return self

    def one_sample(self, device: str) -> Rack:
        """Forget the second sample."""
        self.states[device] = replace(self.states[device], samples=self.states[device].samples[:1])
        return self

    def evidence(self, device: str, path: Path, command: str, line: str) -> Rack:
        """Remember the line behind a leaf."""
        state = self.states[device]
        self.states[device] = replace(state, evidence={**state.evidence, path: Evidence(command, line)})
        return self

    def native(self, device: str, port: str) -> str:
        return next(item.native for item in self.plan[device].ports if item.port.name == port)

    @property
    def case(self) -> Case:
        return Case(self.plan, self.states, self.drift, self.phase, self.outside)

    def judge(self, *ids: str) -> DoctorReport:
        """Diagnose with a remedy that shows what it was asked."""
        return diagnose(self.case, echo, ids or None)

    def finding_ids(self, port: str | None = None) -> set[tuple[str, str]]:
        """Check and verdict of all findings, or of those of one port."""
        return {(item.id, item.verdict) for item in self.judge().findings if port in (None, item.port)}

    def finding(self, identity: str) -> Finding:
        """The only finding of one check."""
        found = self.judge(identity).findings
        assert len(found) == 1, [f"{item.id} {item.device} {item.port} {item.observed}" for item in found]
        return found[0]

    def _port(self, device: str, port: str, change: Any) -> Rack:
        plan = self.plan[device]
        ports = tuple(change(item) if item.port.name == port else item for item in plan.ports)
        self.plan[device] = replace(plan, ports=ports)
        return self


def echo(device: str, path: Path, want: object) -> tuple[str, ...]:
    """A remedy for the tests: says what it was asked to write."""
    return (f"{device}: set {'/'.join(map(str, path))} to {want}",)


def healthy() -> Rack:
    """The rack as it should be."""
    switch = Setting("backend-400g-2m", "backend", PROFILE, SWITCH, {})
    server = Setting("backend-400g-2m-host", "backend", PROFILE, SERVER, {})
    ports: dict[str, list[PortPlan]] = {name: [] for name in PLATFORMS}
    for one, two in LINKS:
        fabric = one[0] != "gpu01" and two[0].startswith("leaf")
        for (device, name), peer in ((one, two), (two, one)):
            role = "fabric" if fabric else "rail"
            port = Port(
                device, name, role=role, network="backend", cable_m=2.0, speed_mbps=400_000, peer=peer,
                link_role="fabric" if fabric else "host",
            )  # fmt: skip
            is_server = PLATFORMS[device] == "linux"
            ports[device].append(PortPlan(port, NETDEVS.get(name, name), server if is_server else switch))
    rack = Rack()
    for name, platform in PLATFORMS.items():
        kind = "server" if platform == "linux" else "switch"
        environment = (("NCCL_IB_TC", "106"),) if kind == "server" else ()
        poll = 100 if kind == "switch" else None
        rack.plan[name] = DevicePlan(
            Device(name, kind, platform, role="gpu" if kind == "server" else "leaf"),
            tuple(ports[name]),
            DeviceQos(environment=environment, watchdog_poll_ms=poll),
        )
        rack.states[name] = _state(rack.plan[name])
    return rack


def empty() -> Rack:
    """The same plan, and devices that answered nothing that could be read."""
    rack = healthy()
    rack.states = {name: State(name, Facts(PLATFORMS[name])) for name in rack.plan}
    return rack


def put(qos: PortQos, path: Path, value: Any) -> PortQos:
    """The port with one leaf replaced."""
    if path[0] == "priorities":
        number, name = path[1], str(path[2])
        known = {entry.priority: entry for entry in qos.priorities}
        entry = known.get(int(number), PriorityQos(int(number)))
        known[int(number)] = replace(entry, **{name: value})
        return replace(qos, priorities=tuple(known[key] for key in sorted(known)))
    if len(path) == 2:
        inner = getattr(qos, str(path[0]))
        return replace(qos, **{str(path[0]): replace(inner, **{str(path[1]): value})})
    return replace(qos, **{str(path[0]): value})


def _state(plan: DevicePlan) -> State:
    name = plan.device.name
    server = plan.device.kind == "server"
    counters = SERVER_COUNTERS if server else SWITCH_COUNTERS
    if server:
        settings: Mapping[str, str] = SERVER_SETTINGS
    else:
        settings = {**SWITCH_SETTINGS, **(SONIC_SETTINGS if plan.device.platform == "sonic" else {})}
    facts = Facts(
        plan.device.platform,
        "device",
        name,
        ports={item.native: PortFacts(item.native, neighbor=item.port.peer) for item in plan.ports},
    )
    samples = tuple(
        Sample(
            1000.0 + SECONDS * index,
            {item.native: {key: values[index] for key, values in counters.items()} for item in plan.ports},
        )
        for index in (0, 1)
    )
    seen = {item.native: item.setting.qos for item in plan.ports}
    return State(name, facts, seen, dict(settings), samples)
