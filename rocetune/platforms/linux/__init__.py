"""Linux servers: one device per server, NIC families as adapters of its ports.

Everything that touches a server is one constant POSIX script, ``templates/linux/rocetune-host.sh``, fed by a settings
file; a push, the undo timer and boot run the same file. The flat Config of a server *is* that settings file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from rocetune.model.change import Change, Config, Key, KeyRule, Rendered, Step
from rocetune.model.facts import Facts
from rocetune.model.plan import Assumption, DevicePlan
from rocetune.model.qos import Path
from rocetune.model.state import State, Transcript
from rocetune.platforms.base import Platform, Purpose, Session
from rocetune.platforms.linux import desired, fit, keys, read, remedy, render, steps
from rocetune.platforms.linux.facts import FACTS, declared_facts, read_facts, served

CONFIRMED = (
    "a changed PFC bitmap is the only QoS write that takes the link down and up (Linux mlx5 en_dcbnl.c)",
    "trust and dscp2prio cannot be set in one mlnx_qos call; trust rewrites the map to DSCP>>3 (mlnx-tools)",
    "cable length 1..999 m; other values are ignored without a word (Linux mlx5 port_buffer.c)",
    "RDMA MTU is the largest of 256..4096 that fits netdev MTU minus 96 (Linux ib_addr.h)",
    "pfc-prevention-tout: 0, 80..8000 ms, 65535 = auto = 100 ms (Linux mlx5 en_ethtool.c)",
    "inbox debugfs cc_params: 20 attributes, no enable per priority (Linux infiniband/hw/mlx5/cong.c)",
    "without PFC on a priority its pause counters are absent (Linux mlx5 counters.rst)",
    "ETS and cable length fall back to factory values when the driver loads (Linux mlx5 en_dcbnl.c)",
)
UNCONFIRMED = (
    Assumption("nvidia_mlx5", "whether the firmware keeps trust, map and PFC through a driver reload is not known",
               "the boot units read, compare and write whenever an interface appears"),
    Assumption("nvidia_mlx5", "dce_tcp_g is passed through as it stands: g or 1-g, both readings are in circulation",
               "measure before changing it"),
    Assumption("nvidia_mlx5", "whether the NIC sets ECT by itself is not known; ToS 106 carries ECT(0)", ""),
    Assumption("nvidia_mlx5", "DCQCN numbers may be inert where ROCE_CC_LEGACY_DCQCN is False (from ConnectX-6 Dx on)",
               "mlxconfig -d BDF q ROCE_CC_LEGACY_DCQCN_P1"),
    Assumption("nvidia_mlx5", "receive buffers stay with the firmware, which sizes them for PFC priorities by itself",
               "mlnx_qos -i IF shows them"),
    Assumption("nvidia_mlx5", "traffic classes that no class of the profile uses get ETS with 0 %", ""),
)  # fmt: skip


class LinuxPlatform:
    """See :class:`rocetune.platforms.base.Platform`."""

    name = "linux"
    transport: Literal["napalm:eos", "netmiko:linux", "ssh"] = "ssh"
    running_suffix = ".settings"
    safety = (
        "a systemd timer on the server undoes the change unless it is confirmed; a reboot before that undoes it too"
    )
    confirmed: tuple[str, ...] = CONFIRMED
    unconfirmed: tuple[Assumption, ...] = UNCONFIRMED
    owned: tuple[KeyRule, ...] = keys.OWNED
    sonic_tables = False
    alphas = ""
    one_headroom = False  # servers have no such number: the driver sizes its buffers

    def commands(self, purpose: Purpose, facts: Facts | None) -> tuple[str, ...]:
        """Commands that begin with "rocetune-host" are modes of the script, which the session carries along."""
        if purpose == "facts" or facts is None:
            return (FACTS,)
        if purpose == "config":
            return (" ".join(("rocetune-host read", *served(facts))),)
        return read.commands(purpose, facts)

    def facts(self, transcript: Transcript) -> Facts:
        """Kernel, tools, and per port the driver, its addresses and what it offers."""
        return read_facts(transcript)

    def declared(self, plan: DevicePlan) -> Facts:
        """ConnectX with DOCA-OFED, unless the inventory declares ``nic_driver: inbox``."""
        return declared_facts(plan)

    def saved_facts(self, text: str, declared: Facts) -> Facts:
        """Settings say nothing about the driver: the declared facts."""
        return declared

    def fit(self, plan: DevicePlan, facts: Facts) -> DevicePlan:
        """Native names, whole metres, driver ceilings, Unsupported."""
        return fit.fit_plan(plan, facts)

    def render(self, plan: DevicePlan, facts: Facts) -> Rendered:
        """The settings file, and ``roce.env`` for jobs."""
        return render.render_plan(plan, facts)

    def parse(self, text: str, facts: Facts) -> Config:
        """Settings lines to the flat map. Raises BadSetting."""
        return keys.parse(text)

    def desired(self, rendered: Rendered, running: Config | None, plan: DevicePlan, facts: Facts) -> Config:
        """The rendered map; what the plan leaves alone keeps its running value."""
        return desired.complete(keys.parse(rendered.text), running, plan, facts)

    def origin(self, key: Key, plan: DevicePlan) -> Path:
        """Where in the plan a key's value comes from."""
        return desired.origin_of(key, plan)

    def steps(self, changes: Sequence[Change], running: Config, facts: Facts) -> tuple[Step, ...]:
        """Settings lines per port, and the lines that restore what was."""
        return steps.make_steps(changes, running, facts)

    def read(self, device: str, transcript: Transcript, facts: Facts) -> State:
        """Observed QoS, settings and counters."""
        return read.read_state(device, transcript, facts)

    def remedy(self, path: Path, value: object, facts: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
        """Commands a person types."""
        return remedy.commands_for(path, value, facts, plan)

    def session(self, link: Any, facts: Facts | None) -> Session:
        """A session over SSH exec channels."""
        from rocetune.platforms.linux.session import LinuxSession

        return LinuxSession(link)


PLATFORM: Platform = cast(Platform, LinuxPlatform())
