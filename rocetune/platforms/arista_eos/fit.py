"""A plan as EOS can have it: native names, the 9214 ceiling, EOS timers and percentages, what cannot be said.

Numbers are changed by rounding to EOS's steps only, and each change extends the number's reason. What the plan asks
and EOS cannot express leaves the plan (None) and is listed as Unsupported, so nothing is promised silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rocetune.model.facts import Facts
from rocetune.model.plan import Assumption, DevicePlan, PortPlan, Setting, Unsupported, Why
from rocetune.model.qos import Path, PriorityQos, Watchdog
from rocetune.platforms.arista_eos import facts as device_facts
from rocetune.platforms.arista_eos import mmu, names

SOURCE_RANGES = "avd schema: priority_flow_control, qos_profiles"
_TIMER_MS = (10, 60_000)  # timeout and recovery-time: 0.01 s to 60 s in steps of 0.01 s
_POLL_MS = (5, 30_000)  # polling-interval: 0.005 s to 30 s in steps of 0.001 s
_WATCHDOG_FLOOR_KBPS = 100


@dataclass(slots=True)
class _Notes:
    """What fitting one setting has to say."""

    where: str
    why: dict[Path, Why]
    unsupported: list[Unsupported] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)

    def round(self, path: Path, old: object, new: object, text: str, source: str) -> None:
        """Extend a number's reason where fitting changed it."""
        if old != new:
            known = self.why.get(path, Why("profile"))
            rounding = f"{known.rounding}; {text}" if known.rounding else text
            self.why[path] = replace(known, rounding=rounding, source="; ".join(filter(None, (known.source, source))))

    def cannot(self, path: Path, text: str) -> None:
        """One wish that EOS has no words for."""
        self.unsupported.append(Unsupported(self.where, path, text))

    def assume(self, text: str, remedy: str = "") -> None:
        """One belief."""
        self.assumptions.append(Assumption(self.where, text, remedy))


def fit(plan: DevicePlan, facts: Facts) -> DevicePlan:
    """The plan with EOS's names and numbers; settings stay interned: one fitted object per planned one."""
    notes = _Notes(plan.device.name, {})
    buffers = mmu.choose(plan, facts)
    notes.assumptions += [Assumption(plan.device.name, *told) for told in buffers.assumptions]
    fitted: dict[int, Setting] = {}
    ports = []
    for item in plan.ports:
        if id(item.setting) not in fitted:
            inner = _Notes(item.setting.name, dict(item.setting.why))
            fitted[id(item.setting)] = _setting(item.setting, plan, facts, buffers, inner)
            notes.unsupported += inner.unsupported
            notes.assumptions += inner.assumptions
        native = names.interface(item.native or item.port.name)
        ports.append(PortPlan(item.port, native, fitted[id(item.setting)]))
    _device_notes(plan, facts, notes)
    polls = [p.setting.qos.watchdog.poll_ms for p in ports if p.setting.qos.watchdog and p.setting.qos.watchdog.poll_ms]
    return replace(
        plan,
        ports=tuple(ports),
        qos=replace(plan.qos, watchdog_poll_ms=min(polls) if polls else None),
        assumptions=(*plan.assumptions, *notes.assumptions),
        unsupported=(*plan.unsupported, *notes.unsupported),
    )


def guaranteed_kbps(setting: Setting, facts: Facts, declared: Mapping[str, str]) -> Mapping[int, int]:
    """Bandwidth floor by priority that lets the watchdog watch the queue; empty where none is needed.

    A profile's own number wins. Else 100 kbit/s, but not on the series where the limit was lifted, nor where the
    inventory declares the fact ``watchdog_floor: "off"``.
    """
    found: dict[int, int] = {}
    for name, intent in setting.profile.classes.items():
        entry = setting.qos.named(name)
        if entry is None or not entry.watchdog or isinstance(intent.pfc.watchdog, str):
            continue
        wanted = intent.pfc.watchdog.guaranteed_kbps
        if wanted is None:
            free = declared.get("watchdog_floor") == "off" or names.watches_all_queues(facts.model)
            wanted = 0 if free else _WATCHDOG_FLOOR_KBPS
        if wanted:
            found[entry.priority] = wanted
    return found


def _setting(setting: Setting, plan: DevicePlan, facts: Facts, buffers: mmu.Buffers, notes: _Notes) -> Setting:
    qos = setting.qos
    mtu = qos.mtu_bytes
    if mtu is not None and mtu > names.MTU_CEILING:
        text = f"{mtu} to {names.MTU_CEILING}, the most a routed EOS port takes"
        notes.round(("mtu_bytes",), mtu, names.MTU_CEILING, text, "avd default p2p_uplinks_mtu; EOS port maximum")
        mtu = names.MTU_CEILING
    if qos.watchdog is not None and any(entry.watchdog for entry in qos.priorities):
        watchdog: Watchdog | None = _watchdog(qos.watchdog, notes)
        if guaranteed_kbps(setting, facts, plan.device.declared):
            notes.assume(
                "the watchdog is believed to watch only queues with guaranteed bandwidth here, and EOS to take"
                " 'bandwidth guaranteed' beside 'bandwidth percent'",
                "after the push look at 'show priority-flow-control status'; the fact watchdog_floor: 'off' leaves"
                " the line out",
            )
    else:
        watchdog = None
    priorities = tuple(_priority(entry, buffers, notes) for entry in qos.priorities)
    if any(p.ecn for p in priorities):
        notes.assume(
            "ECN counters may stay '-' without 'hardware counter feature ecn out' on some platforms",
            "the fact ecn_counter_feature: 'on' of the device has the line rendered",
        )
    new = replace(qos, mtu_bytes=mtu, watchdog=watchdog, priorities=priorities, cable_m=None)
    return replace(setting, qos=new, why=notes.why)


def _priority(entry: PriorityQos, buffers: mmu.Buffers, notes: _Notes) -> PriorityQos:
    if not entry.owned:
        return entry
    at: Path = ("priorities", entry.priority)
    tc = names.traffic_class(entry.priority)
    if tc == names.RESERVED_TC:
        notes.cannot((*at, "queue"), "traffic class 7 carries the switch's own control traffic and is left untouched")
        return replace(entry, owned=False)
    if entry.lossless and tc != entry.priority:
        notes.assume(f"priority {entry.priority} is lossless, but EOS serves it in traffic class {tc}: not confirmed",
                     "use a priority from 2 to 6 for lossless classes")  # fmt: skip
    fitted = replace(entry, traffic_class=tc, queue=tc, priority_group=None)
    fitted = replace(fitted, bandwidth_percent=_percent(entry.bandwidth_percent, (*at, "bandwidth_percent"), notes))
    if entry.pmax_percent is not None:
        fitted = replace(fitted, pmax_percent=float(_percent(entry.pmax_percent, (*at, "pmax_percent"), notes) or 1))
    for leaf in ("xoff_bytes", "xon_bytes"):
        if getattr(entry, leaf) is not None:
            notes.cannot((*at, leaf), "EOS takes no static PFC threshold here: the threshold follows the free buffer")
    # How far XON lies below XOFF is the switch's own affair; nobody asked for a number.
    return replace(_buffers(fitted, at, buffers, notes), xoff_bytes=None, xon_bytes=None, xon_offset_bytes=None)


def _buffers(entry: PriorityQos, at: Path, buffers: mmu.Buffers, notes: _Notes) -> PriorityQos:
    """Headroom and alpha: those of the one MMU profile of the switch, or not ours to say."""
    if entry.headroom_bytes is None and entry.alpha is None:
        return entry
    if buffers.headroom_bytes is None:
        for leaf in ("headroom_bytes", "alpha"):
            if getattr(entry, leaf) is not None:
                notes.cannot((*at, leaf), buffers.reason)
        return replace(entry, headroom_bytes=None, alpha=None)
    for leaf, old, new in (
        ("headroom_bytes", entry.headroom_bytes, buffers.headroom_bytes),
        ("alpha", entry.alpha, buffers.alpha),
    ):
        text = f"{old} to {new}: one MMU profile serves the whole switch"
        if leaf == "alpha" and old is not None and new is not None:
            text = f"{old:g} to {new:g}: EOS takes powers of two from 1/64 to 8"
        notes.round((*at, leaf), old, new, text, "avd platform schema; Gaudi switch guide for 7060DX4")
    return replace(entry, headroom_bytes=buffers.headroom_bytes, alpha=buffers.alpha)


def _percent(value: float | int | None, path: Path, notes: _Notes) -> int | None:
    """A whole percentage of 1 to 100, as EOS takes it."""
    if value is None:
        return None
    whole = min(100, max(1, round(value)))
    notes.round(path, float(value), float(whole), f"{value:g} to {whole}: whole percent, 1 to 100", SOURCE_RANGES)
    return whole


def _watchdog(wish: Watchdog, notes: _Notes) -> Watchdog:
    detect = _timer(wish.detect_ms, 200, ("watchdog", "detect_ms"), notes)
    restore = _timer(wish.restore_ms, 400, ("watchdog", "restore_ms"), notes)
    ceiling = min(detect, restore) // 2
    poll = wish.poll_ms if wish.poll_ms is not None else ceiling
    kept = max(_POLL_MS[0], min(poll, ceiling, _POLL_MS[1]))
    text = f"{poll} ms to {kept} ms: EOS polls at most every half of the shorter timer, else it puts its own number"
    notes.round(("watchdog", "poll_ms"), poll, kept, text, SOURCE_RANGES)
    action = wish.action
    if action == "forward":
        notes.cannot(("watchdog", "action"), "EOS cannot forward a stuck queue's packets; notify-only is used instead")
        action = "notify"
    if action == "notify":
        notes.cannot(
            ("watchdog", "action"),
            "the switch-wide 'no-drop' action is refused by hardware (aristanetworks/avd issue 6399): only the port"
            " action notify-only is written",
        )
    return Watchdog(detect, restore, kept, action)


def _timer(value: int | None, default: int, path: Path, notes: _Notes) -> int:
    wanted = default if value is None else value
    fitted = min(_TIMER_MS[1], max(_TIMER_MS[0], round(wanted / 10) * 10))
    notes.round(path, wanted, fitted, f"{wanted} ms to {fitted} ms: EOS counts hundredths of a second", SOURCE_RANGES)
    return fitted


def _device_notes(plan: DevicePlan, facts: Facts, notes: _Notes) -> None:
    """What is believed of the whole switch."""
    if "queue_mode" not in facts.extra:
        mode = device_facts.queue_mode(facts)
        notes.assume(
            f"the queues are called {mode} (usual for {facts.asic or 'an unknown chip'}); the device was not asked",
            "declare the fact queue_mode, or run against the device",
        )
    if facts.source == "declared" and any(item.setting.qos.mtu_bytes for item in plan.managed):
        notes.assume("the ports are routed (no switchport): a switched port takes no mtu line and is fixed at 9214")
    lossless = sorted({entry.priority for item in plan.managed for entry in item.setting.qos.lossless() if entry.owned})
    if plan.device.globals_mode != "exclusive":
        owned = {point for point, _ in (*plan.qos.dscp_to_priority, *plan.qos.foreign_dscps)}
        for priority in lossless:
            tc = names.traffic_class(priority)
            others = [p for p in range(64) if names.default_traffic_class(p) == tc and p not in owned]
            if others:
                notes.assume(
                    f"DSCP {' '.join(map(str, others))} also reach the lossless traffic class {tc} by EOS's own map",
                    "globals: exclusive moves every DSCP that no class names to the default class",
                )
