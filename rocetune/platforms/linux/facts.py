"""What a server is: its kernel, its tools, its ports and what each port's driver offers."""

from __future__ import annotations

from collections.abc import Mapping

from rocetune.model.fabric import Port
from rocetune.model.facts import Facts, PortFacts
from rocetune.model.plan import DevicePlan
from rocetune.model.state import Transcript
from rocetune.platforms.linux import adapters
from rocetune.platforms.linux.keys import NETDEV

FACTS = "rocetune-host facts"
# What a driver may offer beyond the basics; an OFED or DOCA driver has all of them.
CAPABILITIES = ("ecn_enable", "cc_params", "traffic_class", "storm_prevention", "dcbx")
_INBOX = ("cc_params", "storm_prevention", "dcbx")


def read_facts(transcript: Transcript) -> Facts:
    """Facts from the answer to :data:`FACTS`; leaves stay None where it does not say."""
    reply = transcript.get(FACTS)
    host: dict[str, str] = {}
    ports: dict[str, dict[str, str]] = {}
    for raw in reply.text.splitlines() if reply is not None and reply.error is None else ():
        name, separator, value = raw.partition("=")
        parts = name.split(".", 2)
        if not separator:
            continue
        if parts[0] == "net" and len(parts) == 3 and NETDEV.fullmatch(parts[1]):
            port = ports.setdefault(parts[1], {})
            port[parts[2]] = f"{port['has']},{value}" if parts[2] == "has" and "has" in port else value
        elif parts[0] in ("host", "tool") and len(parts) == 2:
            host[name] = value
    return Facts(
        platform="linux",
        source="device",
        hostname=host.get("host.name"),
        model="server",
        os_version=host.get("host.kernel"),
        ports={name: _port_facts(name, values) for name, values in ports.items()},
        extra={name: value for name, value in host.items() if name.startswith("tool.")},
    )


def _port_facts(name: str, values: Mapping[str, str]) -> PortFacts:
    adapter = adapters.by_driver(values.get("driver"))
    speed = values.get("speed", "")
    state = values.get("operstate")
    return PortFacts(
        native=name,
        speed_mbps=int(speed) if speed.isdigit() and int(speed) > 0 else None,
        max_mtu_bytes=adapter.max_mtu_bytes if adapter else None,
        mac=values.get("address"),
        pci=values.get("pci") or None,
        driver=values.get("driver") or None,
        adapter=adapter.name if adapter else None,
        rdma_device=values.get("rdma"),
        link_up=None if state is None else state == "up",
        extra={"has": values.get("has", ""), "pci_id": values.get("pci_id", "")},
    )


def declared_facts(plan: DevicePlan) -> Facts:
    """Facts for offline work. ``declared: {nic_driver: inbox}`` says that no OFED or DOCA driver is installed."""
    stated = plan.device.declared
    adapter = adapters.by_name(stated.get("adapter", adapters.ADAPTERS[0].name))
    has = _INBOX if stated.get("nic_driver") == "inbox" else CAPABILITIES
    ports = {}
    for item in plan.ports:
        native = native_name(item.port, {}) or item.native
        kind, _, value = (item.port.select or "").partition(":")
        ports[native] = PortFacts(
            native=native,
            speed_mbps=item.port.speed_mbps,
            max_mtu_bytes=adapter.max_mtu_bytes if adapter else None,
            pci=value if kind == "pci" else None,
            mac=value if kind == "mac" else None,
            driver=adapter.drivers[0] if adapter else None,
            adapter=adapter.name if adapter else None,
            extra={"has": ",".join(has), "pci_id": ""},
        )
    return Facts(
        platform="linux",
        source="declared",
        hostname=plan.device.name,
        model=stated.get("model", "server"),
        os_version=stated.get("os_version"),
        ports=ports,
        extra={"tool.mlnx_qos": "no" if has is _INBOX else "yes", "tool.dcb": "yes"},
    )


def native_name(port: Port, known: Mapping[str, PortFacts]) -> str | None:
    """The netdev an inventory port is bound to, or None when its selector matches no known port.

    A selector is ``netdev:NAME``, ``pci:ADDRESS`` or ``mac:ADDRESS``; without one the port's name is the netdev.
    """
    if port.select is None:
        return port.name
    kind, _, value = port.select.partition(":")
    if kind == "netdev":
        return value
    field = {"pci": "pci", "mac": "mac"}.get(kind)
    for name, facts in known.items():
        if field and (getattr(facts, field) or "").lower() == value.lower():
            return name
    return None


def has(facts: PortFacts, capability: str) -> bool:
    """Whether the port's driver offers one of :data:`CAPABILITIES`."""
    return capability in facts.extra.get("has", "").split(",")


def served(facts: Facts) -> tuple[str, ...]:
    """Native names of the ports that an adapter serves, sorted."""
    return tuple(sorted(name for name, port in facts.ports.items() if port.adapter is not None))
