"""What an emulated SONiC switch prints: tables of the shapes that sonic-utilities prints, from database and clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rocetune.lab.sonic_daemons import SwitchState
from rocetune.lab.sonic_factory import BUILD
from rocetune.lab.sonic_skus import sku

RATE_PKTS, PACKET_BYTES = 2_000, 4096  # background traffic of a cabled port, per second
STORM_FRAMES_PER_S = 50_000


@dataclass(frozen=True, slots=True)
class View:
    """What printing needs: state, clock and neighbours."""

    state: SwitchState
    now: float
    peer: Callable[[str], tuple[str, str] | None]
    received: Callable[[str], tuple[int, ...]]  # PFC frames a port got, per priority

    @property
    def ports(self) -> list[str]:
        """Front panel ports in order."""
        return sorted(self.state.config.get("PORT", {}), key=lambda name: int("".join(filter(str.isdigit, name)) or 0))

    def up(self, port: str) -> bool:
        """Cabled and not shut."""
        admin = self.state.config["PORT"][port].get("admin_status", "down") == "up"
        return admin and self.peer(port) is not None

    def seconds(self) -> float:
        """Since boot."""
        return max(0.0, self.now - self.state.boot)


def table(header: Sequence[str], rows: Sequence[Sequence[object]], left: int = 0) -> str:
    """Columns as python-tabulate's simple format: right-aligned but for the first ``left`` columns."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max([len(name), *(len(row[n]) for row in cells)]) for n, name in enumerate(header)]
    lines = [header, ["-" * width for width in widths], *cells]
    return "".join(
        "  ".join(
            c.ljust(w) if n < left else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in lines
    )


def shown(view: View, words: tuple[str, ...]) -> str | None:
    """The answer to ``show WORDS``, or None for a command that does not exist."""
    exact: Mapping[tuple[str, ...], Callable[[View], str]] = {
        ("version",): version,
        ("interfaces", "status"): status,
        ("lldp", "table"): lldp,
        ("pfc", "counters"): pfc_counters,
        ("pfc", "priority"): pfc_priority,
        ("pfcwd", "config"): pfcwd_config,
        ("pfcwd", "stats"): pfcwd_stats,
        ("queue", "counters"): queue_counters,
        ("priority-group", "drop", "counters"): lambda v: groups(v, "Ingress PG dropped packets:"),
        ("priority-group", "watermark", "headroom"): lambda v: groups(v, "Ingress headroom per PG:"),
        ("interfaces", "counters"): counters,
        ("interfaces", "counters", "fec-stats"): fec,
        ("ecn",): ecn,
        ("buffer", "information"): buffers,
        ("buffer", "configuration"): buffers,
    }
    found = exact.get(words)
    return None if found is None else found(view)


def version(view: View) -> str:
    """``show version``, the first lines."""
    meta = view.state.config["DEVICE_METADATA"]["localhost"]
    return (
        f"\nSONiC Software Version: SONiC.{BUILD}\nSONiC OS Version: 12\nDistribution: Debian 12.8\n"
        f"Platform: {meta['platform']}\nHwSKU: {meta['hwsku']}\n"
        f"ASIC: {sku(meta['hwsku']).asic_type}\nASIC Count: 1\n"
    )


def status(view: View) -> str:
    """``show interfaces status``."""
    header = ["Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC"]
    rows = []
    for port in view.ports:
        held = view.state.config["PORT"][port]
        rate = f"{int(held.get('speed', '0')) // 1000}G"
        oper = "up" if view.up(port) else "down"
        kind = "QSFP-DD Double Density 8X Pluggable Transceiver" if view.peer(port) else "N/A"
        physical = [held.get("lanes", "N/A"), rate, held.get("mtu", "9100"), held.get("fec", "N/A")]
        admin = held.get("admin_status", "down")
        rows.append(
            [port, *physical, held.get("alias", port), "routed", oper, admin, kind, held.get("pfc_asym", "off")]
        )
    return table(header, rows)


def lldp(view: View) -> str:
    """``show lldp table``."""
    header = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    rows = [[p, end[0], end[1], "S", end[1]] for p in view.ports if view.up(p) and (end := view.peer(p)) is not None]
    head = "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
    return head + table(header, rows, left=5) + "-" * 50 + f"\nTotal entries displayed:  {len(rows)}\n"


def pfc_counters(view: View) -> str:
    """``show pfc counters``: received first, then sent."""
    names = [f"PFC{n}" for n in range(8)]
    got = [[port, *(f"{frames:,}" for frames in view.received(port))] for port in view.ports]
    sent = [[port, *("0" for _ in range(8))] for port in view.ports]
    return table(["Port Rx", *names], got) + "\n" + table(["Port Tx", *names], sent)


def pfc_priority(view: View) -> str:
    """``show pfc priority``: ports without pfc_enable are not listed."""
    maps = view.state.config.get("PORT_QOS_MAP", {})
    rows = [[port, maps[port]["pfc_enable"]] for port in view.ports if maps.get(port, {}).get("pfc_enable")]
    return "\n" + table(("Interface", "Lossless priorities"), rows, left=2)


def pfcwd_config(view: View) -> str:
    """``show pfcwd config``."""
    entries = view.state.config.get("PFC_WD", {})
    general = entries.get("GLOBAL", {})
    head = f"Changed polling interval to {general['POLL_INTERVAL']}ms\n" if "POLL_INTERVAL" in general else ""
    if "BIG_RED_SWITCH" in general:
        head += f"BIG_RED_SWITCH status is {general['BIG_RED_SWITCH']}\n"
    rows = [
        [
            p,
            held.get("action", "drop"),
            held.get("detection_time", "N/A"),
            held.get("restoration_time", "infinite"),
            "disable",
        ]
        for p in view.ports
        if (held := entries.get(p)) is not None
    ]
    return head + table(("PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"), rows)


def pfcwd_stats(view: View) -> str:
    """``show pfcwd stats``: a queue appears with its first storm."""
    header = ["QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP"]
    header += ["TX LAST OK/DROP", "RX LAST OK/DROP"]
    rows = []
    for name in sorted(view.state.storms):
        now, detected, restored = view.state.storms[name]
        rows.append([name, "stormed" if now else "operational", f"{detected}/{restored}", "0/0", "0/0", "0/0", "0/0"])
    return table(header, rows)


def queue_counters(view: View) -> str:
    """``show queue counters``: traffic rides the queue of the default class; a stormed queue drops."""
    text = ""
    for port in view.ports:
        rows = []
        sent = int(view.seconds() * RATE_PKTS) if view.up(port) else 0
        for index in range(8):
            packets = sent if index == 0 else 0
            dropped = 1000 if view.state.storms.get(f"{port}:{index}", [0])[0] else 0
            rows.append(
                [port, f"UC{index}", f"{packets:,}", f"{packets * PACKET_BYTES:,}", dropped, dropped * PACKET_BYTES]
            )
        text += table(("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"), rows) + "\n"
    return text


def groups(view: View, title: str) -> str:
    """Per priority group, all zero: an emulated ASIC loses nothing."""
    rows = [[port, *("0" for _ in range(8))] for port in view.ports]
    return title + "\n" + table(["Port", *(f"PG{n}" for n in range(8))], rows)


def counters(view: View) -> str:
    """``show interfaces counters``."""
    names = ("OK", "BPS", "UTIL", "ERR", "DRP", "OVR")
    header = ["IFACE", "STATE", *(f"RX_{name}" for name in names), *(f"TX_{name}" for name in names)]
    rows = []
    for port in view.ports:
        packets = int(view.seconds() * RATE_PKTS) if view.up(port) else 0
        rate = f"{RATE_PKTS * PACKET_BYTES / 1e6 if view.up(port) else 0:.2f} MB/s"
        half = [f"{packets:,}", rate, "0.02%", "0", "0", "0"]
        rows.append([port, "U" if view.up(port) else "D", *half, *half])
    return table(header, rows)


def fec(view: View) -> str:
    """``show interfaces counters fec-stats``."""
    header = ("IFACE", "STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR")
    return table(header, [[port, "U" if view.up(port) else "D", "0", "0", "0"] for port in view.ports])


def ecn(view: View) -> str:
    """``show ecn``."""
    return "".join(
        f"Profile: {name}\n{_pairs(fields)}\n"
        for name, fields in sorted(view.state.config.get("WRED_PROFILE", {}).items())
    )


def buffers(view: View) -> str:
    """``show buffer information`` and ``configuration``: CONFIG_DB, and what the dynamic model computed."""
    text = ""
    config = view.state.config
    profiles = config.get("BUFFER_PROFILE", {}) | view.state.appl.get("BUFFER_PROFILE_TABLE", {})
    for kind, entries in (("Pool", config.get("BUFFER_POOL", {})), ("Profile", profiles)):
        for key, fields in sorted(entries.items()):
            text += f"{kind}: {key}\n{_pairs(fields)}\n"
    return text


def _pairs(fields: Mapping[str, str]) -> str:
    width, other = max(map(len, fields)), max(map(len, fields.values()))
    rule = f"{'-' * width}  {'-' * other}\n"
    return rule + "".join(f"{name.ljust(width)}  {value}\n" for name, value in sorted(fields.items())) + rule
