"""Observations about a whole server: boot units, environment files, lldpad, GIDs, PCIe."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rocetune.model.facts import Facts
from rocetune.model.qos import Path, PortQos
from rocetune.model.state import Evidence
from rocetune.platforms.linux import keys

_FILES = {"/etc/nccl.conf": "nccl.conf", "/etc/rocetune/roce.env": "env"}
_VARIABLE = re.compile(r"(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*)")
SETTINGS_FILE = "/etc/rocetune/settings"


def read_server(
    text: str, inspected: Mapping[str, str], ports: Mapping[str, PortQos], facts: Facts
) -> tuple[dict[str, str], dict[Path, Evidence]]:
    """Settings and evidence from the script's ``inspect`` answer. A known empty value is ""."""
    settings: dict[str, str] = {"nccl_ib_tc": "", "ucx_tc": ""}
    evidence: dict[Path, Evidence] = {}
    persisted: list[str] = []
    units = None
    for raw in text.splitlines():
        name, separator, value = raw.partition(": ")
        if raw.startswith("systemctl is-active lldpad:"):
            settings["lldpad"] = "running" if value == "active" else "absent"
            evidence[("", "lldpad")] = Evidence("systemctl is-active lldpad", value or "unknown")
        elif name == "boot units" and separator:
            units = value
        elif name == SETTINGS_FILE and separator:
            persisted.append(value)
        elif name in _FILES and separator and (match := _VARIABLE.fullmatch(value.strip())):
            settings[f"{_FILES[name]}.{match[1]}"] = match[2].strip().strip("\"'")
            evidence[("", f"{_FILES[name]}.{match[1]}")] = Evidence(f"cat {name}", value)
    _environment(settings, evidence)
    if units is not None:
        settings["persistence"], line = _persistence(units, persisted, ports, facts)
        evidence[("", "persistence")] = Evidence(f"ls /etc/systemd/system/rocetune-*; cat {SETTINGS_FILE}", line)
    for name in ports:
        _hardware(name, inspected, facts, settings)
    return settings, evidence


def _environment(settings: dict[str, str], evidence: dict[Path, Evidence]) -> None:
    """What a job gets: a variable of the environment comes before NCCL's own file."""
    for ours, theirs in (
        ("nccl_ib_tc", "NCCL_IB_TC"),
        ("nccl_gin_ib_tc", "NCCL_GIN_IB_TC"),
        ("nccl_ib_gid_index", "NCCL_IB_GID_INDEX"),
        ("ucx_tc", "UCX_IB_TRAFFIC_CLASS"),
        ("nvshmem_tc", "NVSHMEM_IB_TRAFFIC_CLASS"),
    ):
        for source in ("env", "nccl.conf"):
            key = f"{source}.{theirs}"
            if key in settings:
                settings[ours] = settings[key]
                evidence[("", ours)] = evidence[("", key)]
                break
        else:
            settings[ours] = ""
            evidence[("", ours)] = Evidence("cat /etc/rocetune/roce.env /etc/nccl.conf", f"{theirs} is not set")


def _persistence(units: str, lines: list[str], ports: Mapping[str, PortQos], facts: Facts) -> tuple[str, str]:
    """installed, absent or stale: whether a reboot would bring back what runs now."""
    if units != "installed" or not lines:
        return "absent", f"boot units: {units}, {len(lines)} lines of boot settings"
    try:
        stored = keys.parse("\n".join(lines))
    except keys.BadSetting as error:
        return "stale", str(error)
    from rocetune.platforms.linux.observed import settings_of

    observed = {name: settings_of(qos) for name, qos in ports.items()}
    for key, value in stored.items():
        now = observed[key[1]].get(key[2:]) if key[0] == "port" and key[1] in observed else value
        if now is not None and now != value:
            return "stale", f"{'.'.join(key)}={value} would come back at boot; now it is {now}"
    return "installed", f"boot units: installed, {len(stored)} settings"


def _hardware(name: str, inspected: Mapping[str, str], facts: Facts, settings: dict[str, str]) -> None:
    device = f"/sys/class/net/{name}/device"
    for ours in ("current_link_speed", "max_link_speed", "current_link_width", "max_link_width", "numa_node"):
        if (value := inspected.get(f"{device}/{ours}")) is not None:
            settings[f"pcie.{name}.{ours}"] = value
    prefix = f"/sys/class/infiniband/{facts.ports[name].rdma_device}/ports/1"
    kinds = []
    for index in range(16):
        if f"{prefix}/gids/{index}" in inspected:
            kind = inspected.get(f"{prefix}/gid_attrs/types/{index}", "unknown")
            kinds.append(f"{index} {kind} {inspected[f'{prefix}/gids/{index}']}")
    if kinds:
        settings[f"gids.{name}"] = "; ".join(kinds)
