"""The ECN and DCQCN calculators: marking thresholds of a port, what bounds them, where DCQCN settles on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocetune.app.calculating import (
    Chip,
    HeadroomAsk,
    all_ports,
    calculate_headroom,
    chip_words,
    frame_of,
    shown_length,
)
from rocetune.app.errors import UseError
from rocetune.model.plan import Assumption, PlanProblem, Why
from rocetune.model.units import show_bytes, show_speed
from rocetune.report.answers import CurveLine, DcqcnAnswer, EcnAnswer, HeadroomAnswer, Port, Term
from rocetune.tuning import buffers, dcqcn, ecn, fluid, wire
from rocetune.tuning.outlook import outlook
from rocetune.tuning.presets import EcnPreset, ecn_preset, ecn_presets
from rocetune.tuning.published import PublishedTable

DEFAULT_FLOWS = 64
DEFAULT_TIERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class EcnAsk:
    """The options of ``rocetune ecn``. None: not said."""

    speed_mbps: int
    rtt_us: float | None = None
    tiers: int | None = None
    cable_m: float = 30.0
    chip: Chip = field(default_factory=Chip)
    ports: int | None = None
    lossless: int | None = None
    alpha: float = buffers.DEFAULT_ALPHA
    mtu_bytes: int = 9216
    rdma_mtu: int = 4096
    cell_bytes: int | None = None
    at_800g: int = wire.QUANTA_800G
    table: PublishedTable | None = None  # the user's own headroom table
    lookup: bool = True
    objective: ecn.Objective = "balanced"
    preset: str | None = None
    compare: tuple[str, ...] = ()
    flows: int | None = None
    dcqcn: fluid.Preset = "firmware"


@dataclass(frozen=True, slots=True, kw_only=True)
class DcqcnAsk:
    """The options of ``rocetune dcqcn``. Thresholds None: those of ``rocetune ecn`` at 8 us."""

    speed_mbps: int
    flows: int
    preset: fluid.Preset = "firmware"
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    pmax_percent: float | None = None
    rdma_mtu: int = 4096
    fixed: Mapping[str, int] = field(default_factory=dict)


def calculate_ecn(ask: EcnAsk) -> EcnAnswer:
    """Thresholds, bounds and prediction. Raises UseError where an input cannot be."""
    frame, assumed = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    port = Port(ask.speed_mbps, ask.cable_m, ask.mtu_bytes, frame, ask.chip.asic, ask.chip.model, ask.cell_bytes)
    trip = ecn.round_trip(ask.tiers or DEFAULT_TIERS, {"--length": ask.cable_m})
    rtt = trip.rtt_us if ask.rtt_us is None else ask.rtt_us
    if ask.rtt_us is None:
        assumed += (Assumption("round trip", f"{rtt:.3g} us: {trip.why.source}", "measure it, then --rtt"),)
    if ask.flows is None:
        assumed += (
            Assumption("--flows", f"{DEFAULT_FLOWS} flows meet at the port", "state how many senders there are"),
        )
    flows = ask.flows or DEFAULT_FLOWS
    held = _held(ask)
    room = held.room if held else None
    assumed += _ports_doubt(ask) + (held.assumptions if held else ())
    bounds = None
    if room is not None and room.shared_bytes is not None:
        per_slice = -(-room.ports // room.slices)
        queues = -(-room.ports * room.lossless // room.slices)
        bounds = ecn.bounds(room.shared_bytes, per_slice, queues, ask.alpha)
    senders = _Senders(ask.speed_mbps, flows, fluid.params(ask.dcqcn, ask.speed_mbps), frame, bounds, rtt)
    line = _preset_line(_known(ask.preset), senders) if ask.preset else _computed(ask, rtt, senders, trip)
    if line.kmin_bytes is None:
        raise UseError(f"--preset: {line.note}", _QUEUE_REMEDY if bounds is None else "")
    told = [Assumption(f"DCQCN {ask.dcqcn}", text) for text in senders.params.assumed]
    problems = (held.problems if held else ()) + tuple(_curve_problems(line, senders))
    return EcnAnswer(
        port=port,
        rtt_us=rtt,
        bdp_bytes=ecn.bdp_bytes(ask.speed_mbps, rtt),
        flows=flows,
        dcqcn=ask.dcqcn,
        line=line,
        terms=tuple(_terms(ask, rtt, line, held, bounds)),
        headroom_bytes=held.result.headroom_bytes if held else None,
        bounds=bounds,
        room=room,
        compared=tuple(_preset_line(preset, senders) for preset in _compared(ask.compare)),
        assumptions=tuple(dict.fromkeys((*assumed, *told))),
        problems=problems,
        next=_next(ask, rtt, flows),
    )


_QUEUE_REMEDY = "Name the switch with --asic, --ports and --lossless: they say what a queue may hold."


@dataclass(frozen=True, slots=True)
class _Senders:
    """Who meets at the port, and under which bounds."""

    speed_mbps: int
    flows: int
    params: fluid.Params
    frame_bytes: int
    bounds: ecn.Bounds | None = None
    rtt_us: float = ecn.RTT_US[DEFAULT_TIERS]

    def line(self, name: str, kmin: int, kmax: int, pmax: float, whys: tuple[tuple[str, Why], ...] = ()) -> CurveLine:
        """A curve with what to expect of it."""
        seen = outlook(
            self.speed_mbps, kmin, kmax, pmax, self.flows, self.params, self.bounds, self.frame_bytes, self.rtt_us
        )
        return CurveLine(name, kmin, kmax, pmax, seen, whys)


def _held(ask: EcnAsk) -> HeadroomAnswer | None:
    """Headroom and room of the whole switch; None where no chip is named."""
    if ask.chip.asic is None:
        return None
    return calculate_headroom(
        HeadroomAsk(
            speed_mbps=ask.speed_mbps,
            cable_m=ask.cable_m,
            chip=ask.chip,
            mtu_bytes=ask.mtu_bytes,
            rdma_mtu=ask.rdma_mtu,
            cell_bytes=ask.cell_bytes,
            at_800g=ask.at_800g,
            table=ask.table,
            lookup=ask.lookup,
            ports=ask.ports or all_ports(ask.chip.asic, ask.speed_mbps),
            lossless=ask.lossless,
            alpha=ask.alpha,
        )
    )


def _ports_doubt(ask: EcnAsk) -> tuple[Assumption, ...]:
    if ask.chip.asic is None:
        text = "no chip named: where PFC starts is not known, and the order of ECN and PFC is not checked"
        return (Assumption("bounds", text, "--asic, --ports, --lossless"),)
    if ask.ports is None:
        return (
            Assumption(
                "--ports",
                f"{all_ports(ask.chip.asic, ask.speed_mbps)} ports: the chip filled with {show_speed(ask.speed_mbps)}",
            ),
        )
    return ()


def _computed(ask: EcnAsk, rtt_us: float, senders: _Senders, trip: ecn.RoundTrip) -> CurveLine:
    """The curve by objective, as the planner makes it."""
    bounds, asic = senders.bounds, ask.chip.asic
    limit = None
    if bounds is not None:
        limit = min(bounds.strict_bytes, bounds.incast_bytes) if ask.objective == "latency" else bounds.incast_bytes
    try:
        made = ecn.curve(
            ask.speed_mbps,
            rtt_us,
            ask.objective,
            frame_bytes=senders.frame_bytes,
            bound_bytes=limit,
            cell_bytes=ask.cell_bytes or ((asic.cell_bytes or 1) if asic and asic.layout != "voq" else 1),
            rtt_why=trip.why if ask.rtt_us is None else None,
            flows=senders.flows,
            dcqcn=senders.params,
        )
    except ValueError as error:
        remedy = "Fewer ports or lossless priorities, a shorter --length or a larger --alpha leave more buffer."
        raise UseError(str(error), remedy) from error
    whys = (("kmin_bytes", made.kmin_why), ("kmax_bytes", made.kmax_why), ("pmax_percent", made.pmax_why))
    return senders.line(ask.objective, made.kmin_bytes, made.kmax_bytes, made.pmax_percent, whys=whys)


def _known(name: str | None) -> EcnPreset:
    try:
        return ecn_preset(name or "")
    except ValueError as error:
        raise UseError(str(error), "`rocetune ecn --list-presets` lists them with their sources.") from error


def _compared(names: Sequence[str]) -> tuple[EcnPreset, ...]:
    """Presets by name, ``all`` for every one; each once."""
    found: dict[str, EcnPreset] = {}
    for name in names:
        some = tuple(ecn_presets().values()) if name == "all" else (_known(name),)
        found |= {preset.name: preset for preset in some}
    return tuple(found.values())


def _preset_line(preset: EcnPreset, senders: _Senders) -> CurveLine:
    """A published curve; a percentage is of what one queue may hold before it is paused."""
    bounds = senders.bounds
    try:
        made = preset.thresholds(senders.speed_mbps, int(bounds.incast_bytes) if bounds else None)
    except ValueError as error:
        return CurveLine(preset.name, note=str(error))
    whys = (("thresholds", made.why),)
    return senders.line(preset.name, made.kmin_bytes, made.kmax_bytes, made.pmax_percent, whys=whys)


def _curve_problems(line: CurveLine, senders: _Senders) -> list[PlanProblem]:
    """Marks that come after PFC (an error), or may (a warning), and flows that DCQCN does not hold."""
    found: list[PlanProblem] = []
    bounds, kmax = senders.bounds, line.kmax_bytes or 0
    where = f"{line.name} at {show_speed(senders.speed_mbps)}"
    if bounds is not None and kmax >= bounds.incast_bytes:
        limit = int(bounds.incast_bytes)
        text = f"kmax {kmax:,} B is not below {limit:,} B, where PFC starts in a 1:1 overload: ECN comes too late"
        found.append(PlanProblem(where, text, "a lower kmax, or a larger --alpha"))
    elif bounds is not None and kmax > bounds.strict_bytes:
        text = (
            f"kmax {kmax:,} B is above the strict ECN-before-PFC bound of {bounds.strict_bytes:,.0f} B: when all "
            "egress queues fill from one ingress, PFC may come first"
        )
        remedy = "--objective latency keeps kmax below it; fine for ordinary incast"
        found.append(PlanProblem(where, text, remedy, warning=True))
    return [*found, *_flow_problems(where, line, senders)]


def _flow_problems(where: str, line: CurveLine, senders: _Senders) -> list[PlanProblem]:
    found: list[PlanProblem] = []
    seen = line.outlook
    if seen is not None and seen.q_star_bytes is None:
        text = (
            f"{senders.flows} flows need p* = {seen.p_star * 100:.3g} % of packets marked, pmax is "
            f"{line.pmax_percent:g} %: the queue passes kmax {show_bytes(line.kmax_bytes or 0)}, every packet is marked"
        )
        found.append(PlanProblem(where, text, "a larger pmax, or fewer flows per port", warning=True))
    most, source = fluid.breakdown_flows(senders.speed_mbps)
    if senders.flows >= most:
        text = f"{senders.flows} flows on one port: DCQCN was seen to break down from {most} ({source})"
        found.append(PlanProblem(where, text, "fewer flows per port; PFC will hold the queue", warning=True))
    return found


def _terms(
    ask: EcnAsk, rtt_us: float, line: CurveLine, held: HeadroomAnswer | None, bounds: ecn.Bounds | None
) -> list[Term]:
    """Each number with the formula that made it."""
    speed = show_speed(ask.speed_mbps)
    terms = [Term("BDP", f"{speed} x {rtt_us:g} us / 8", float(ecn.bdp_bytes(ask.speed_mbps, rtt_us)))]
    if held is not None and held.room is not None:
        terms += _room_terms(held, bounds, ask.alpha)
    for (name, size), words in zip(
        (("kmin", line.kmin_bytes), ("kmax", line.kmax_bytes)), _threshold_words(ask, line), strict=True
    ):
        terms.append(Term(name, words, float(size or 0)))
    seen = line.outlook
    if seen is not None and seen.q_star_bytes is not None:
        words = f"kmin + {100 * seen.p_star:.3g} % / {line.pmax_percent:g} % x (kmax - kmin)"
        terms.append(Term("q*", words, seen.q_star_bytes))
    return terms


def _threshold_words(ask: EcnAsk, line: CurveLine) -> tuple[str, str]:
    """Formulas of kmin and kmax; where a bound decided one, the bound."""
    if ask.preset is not None:
        _, why = line.whys[0]
        return why.steps[1], why.steps[1]
    factor = ecn.LAMBDA[ask.objective]
    plain = {"kmin_bytes": f"{factor:g} x BDP", "kmax_bytes": f"{ecn.RATIO} x kmin"}
    words = []
    for name, why in line.whys[:2]:
        rounded = f", {why.rounding}" if why.bounds and why.rounding else ""
        words.append(why.bounds[-1] + rounded if why.bounds else plain[name])
    return words[0], words[1]


def _room_terms(held: HeadroomAnswer, bounds: ecn.Bounds | None, alpha: float) -> list[Term]:
    room, each = held.room, held.result.headroom_bytes
    assert room is not None
    terms = [
        Term("headroom", f"{held.result.method}, {held.port.cable_m:g} m, per lossless priority", float(each)),
        Term("need", f"{room.ports} ports x {room.lossless} lossless x {each:,}", float(room.need_bytes)),
    ]
    if room.shared_bytes is None or bounds is None or room.buffer_bytes is None:
        return terms
    split = f") / {room.slices} slices" if room.slices > 1 else ""
    start = "(" if split else ""
    n = f"{-(-room.ports // room.slices)}"
    return [
        *terms,
        Term("S", f"{start}{room.buffer_bytes:,} - need{split}", float(room.shared_bytes)),
        Term("strict bound", f"{alpha:g} x S / ({n} x (1 + {alpha:g} x {room.lossless}))", bounds.strict_bytes),
        Term("xoff", f"{alpha:g} x S / (1 + {alpha:g}): PFC starts, one ingress", bounds.incast_bytes),
    ]


def _next(ask: EcnAsk, rtt_us: float, flows: int) -> tuple[tuple[str, str], ...]:
    port = f"--speed {show_speed(ask.speed_mbps)} --rtt {rtt_us:g}us{chip_words(ask.chip)}"
    if ask.chip.asic is not None:
        port += f" --ports {ask.ports or all_ports(ask.chip.asic, ask.speed_mbps)} --lossless {ask.lossless or 1}"
        port += f" --length {shown_length(ask.cable_m)}" + (f" --cell {ask.cell_bytes}B" if ask.cell_bytes else "")
    rows = [(f"dcqcn --speed {show_speed(ask.speed_mbps)} --flows {flows}", "what the senders do with these marks")]
    if not ask.compare:
        rows.insert(0, (f"ecn {port} --compare dcqcn-paper hpcc sonic-default", "beside published settings"))
    return (*rows, (f"ecn {port} --plot ecn.svg", "the curve among its bounds"))


def calculate_dcqcn(ask: DcqcnAsk) -> DcqcnAnswer:
    """What is written to the NIC, and where its flows settle. Raises UseError where an input cannot be."""
    frame, assumed = frame_of(ask.rdma_mtu, 9216)
    if (ask.kmin_bytes is None) != (ask.kmax_bytes is None):
        raise UseError("--kmin and --kmax belong together", "State both, or neither.")
    try:
        written = dcqcn.parameters(ask.preset, ask.speed_mbps, ask.fixed)
        model = fluid.params(ask.preset, ask.speed_mbps, ask.fixed)
    except ValueError as error:
        raise UseError(f"--set: {error}") from error
    senders = _Senders(ask.speed_mbps, ask.flows, model, frame)
    if ask.kmin_bytes is None or ask.kmax_bytes is None:
        made = ecn.curve(ask.speed_mbps, ecn.RTT_US[2], frame_bytes=frame, flows=ask.flows, dcqcn=model)
        kmin, kmax = made.kmin_bytes, made.kmax_bytes
        pmax = made.pmax_percent if ask.pmax_percent is None else ask.pmax_percent
        text = f"kmin {show_bytes(kmin)}, kmax {show_bytes(kmax)}: those of `rocetune ecn` for {ecn.RTT_US[2]:g} us"
        assumed += (Assumption("thresholds", text, "--kmin and --kmax"),)
    else:
        kmin, kmax = ask.kmin_bytes, ask.kmax_bytes
        pmax = ecn.PMAX_PERCENT if ask.pmax_percent is None else ask.pmax_percent
        if kmin > kmax:
            raise UseError(
                f"--kmin {kmin:,} B is above --kmax {kmax:,} B", "Marking starts at kmin and is full at kmax."
            )
        if ask.pmax_percent is None:
            assumed += (Assumption("--pmax", f"{pmax:g} %, rocetune's default"),)
    line = senders.line("curve", kmin, kmax, pmax)
    unsure = [Assumption(f"dcqcn {ask.preset}", text) for text in (*model.assumed, *written.notes)]
    speed = show_speed(ask.speed_mbps)
    return DcqcnAnswer(
        speed_mbps=ask.speed_mbps,
        flows=ask.flows,
        frame_bytes=frame,
        preset=ask.preset,
        written=written,
        model=model,
        line=line,
        breakdown=fluid.breakdown_flows(ask.speed_mbps),
        assumptions=tuple(dict.fromkeys((*assumed, *unsure))),
        problems=tuple(_flow_problems(show_speed(ask.speed_mbps), line, senders)),
        next=((f"ecn --speed {speed} --rtt 8us --flows {ask.flows}", "the thresholds and their bounds"),),
    )
