"""The ECN calculator: marking thresholds of a port, what bounds them, and published curves beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rocetune.app.asking import Chip, HeadroomAsk, all_ports, frame_of
from rocetune.app.calculating import IN_RACK_M, calculate_headroom
from rocetune.app.errors import UseError
from rocetune.app.senders import DEFAULT_TIERS, Senders, Whys, flow_problems
from rocetune.model.plan import Assumption, PlanProblem
from rocetune.model.units import show_speed
from rocetune.planner.compare import Line, chosen
from rocetune.report.answers import EcnAnswer, Follow, HeadroomAnswer, Port, Room, Term
from rocetune.report.calculators import factor
from rocetune.report.sizes import show_length, show_time
from rocetune.report.table import counted
from rocetune.tuning import ecn, fluid, wire
from rocetune.tuning.presets import EcnPreset
from rocetune.tuning.published import PublishedTable

DEFAULT_FLOWS = 64
DEFAULT_LENGTH_M = 30.0
BESIDE = ("dcqcn-paper", "hpcc", "sonic-default")  # presets to begin a comparison with


@dataclass(frozen=True, slots=True, kw_only=True)
class EcnAsk:
    """The options of ``rocetune ecn``. None: not said."""

    speed_mbps: int
    rtt_us: float | None = None
    tiers: int | None = None
    cable_m: float = DEFAULT_LENGTH_M
    length_stated: bool = True
    chip: Chip = field(default_factory=Chip)
    ports: int | None = None
    lossless: int | None = None
    alpha: float | None = None
    mtu_bytes: int = 9216
    rdma_mtu: int = 4096
    cell_bytes: int | None = None
    delay_ns: float | None = None
    at_800g: int = wire.QUANTA_800G
    site_quanta: bool = False  # at_800g is what tuning: of a site says
    sonic: bool | None = None  # the switch runs SONiC
    alphas: str = ""  # how what it runs writes alpha
    table: PublishedTable | None = None  # the user's own headroom table
    lookup: bool = True
    objective: ecn.Objective = "balanced"
    preset: str | None = None
    compare: tuple[str, ...] = ()
    flows: int | None = None
    dcqcn: fluid.Preset = "firmware"


def calculate_ecn(ask: EcnAsk) -> EcnAnswer:
    """Thresholds, bounds and prediction. Raises UseError where an input cannot be."""
    frame, assumed = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    _check_light(ask)
    port = Port(ask.speed_mbps, ask.cable_m, ask.mtu_bytes, frame, ask.chip.asic, ask.chip.model, ask.cell_bytes)
    trip = ecn.round_trip(ask.tiers or DEFAULT_TIERS, {"--length": ask.cable_m})
    rtt = trip.rtt_us if ask.rtt_us is None else ask.rtt_us
    if ask.rtt_us is None:
        parts = " + ".join(f"{show_time(time)} {what}" for what, _, time in _trip_parts(ask))
        assumed += (Assumption("round trip", f"{parts}; {trip.why.source}", "measure it, then --rtt"),)
    if ask.flows is None:
        assumed += (
            Assumption("--flows", f"{DEFAULT_FLOWS} flows meet at the port", "state how many senders there are"),
        )
    flows = ask.flows or DEFAULT_FLOWS
    held = _held(ask)
    room = held.room if held else None
    assumed += _ports_doubt(ask) + _length_doubt(ask) + (held.assumptions if held else ())
    bounds = None
    if room is not None and room.shared_bytes is not None:
        per_slice, queues = _per_slice(held)
        bounds = ecn.bounds(room.shared_bytes, per_slice, queues, room.alpha)
    fits = room.fits if room is not None else None
    senders = Senders(ask.speed_mbps, flows, fluid.params(ask.dcqcn, ask.speed_mbps), frame, bounds, rtt, fits)
    line, whys = _published(ask, senders) if ask.preset else _computed(ask, rtt, senders, trip)
    told = [Assumption(f"DCQCN {ask.dcqcn}", text) for text in senders.params.assumed]
    problems = (held.problems if held else ()) + tuple(_curve_problems(line, senders, published=ask.preset is not None))
    return EcnAnswer(
        port=port,
        rtt_us=rtt,
        bdp_bytes=ecn.bdp_bytes(ask.speed_mbps, rtt),
        flows=flows,
        dcqcn=ask.dcqcn,
        line=line,
        whys=whys,
        terms=tuple(_terms(ask, rtt, _Shown(line, whys, held, senders))),
        headroom_bytes=held.result.headroom_bytes if held else None,
        bounds=bounds,
        room=room,
        compared=tuple(_preset_line(preset, senders) for preset in _chosen(ask.compare)),
        assumptions=tuple(dict.fromkeys((*assumed, *told))),
        problems=problems,
        follow=_follow(ask, line, flows, problems),
    )


def _check_light(ask: EcnAsk) -> None:
    """Raises UseError for a round trip that light itself does not make over the stated cable."""
    least = wire.light_us(ask.cable_m)
    if ask.rtt_us is not None and ask.rtt_us < least:
        length = show_length(ask.cable_m)
        text = f"--rtt: {ask.rtt_us:g} us is less than light takes over --length {length} and back, {show_time(least)}"
        raise UseError(text, "Measure it between the servers farthest apart, or correct --length.")


def _trip_parts(ask: EcnAsk) -> list[tuple[str, str, float]]:
    """What a round trip by tiers is made of: name, formula, microseconds."""
    tiers = ask.tiers or DEFAULT_TIERS
    base, more = ecn.RTT_US[tiers], ask.cable_m - ecn.ORDINARY_CABLE_M
    switches = f"over {counted(tiers, 'switch tier')}"
    parts = [(switches, f"{base:g} us {switches}, ordinary cables included", base)]
    if more > 0:
        formula = f"2 x ({ask.cable_m:g} - {ecn.ORDINARY_CABLE_M:g}) m / {wire.LIGHT_M_PER_S / 1e8:g}e8 m/s"
        parts.append((f"for the cable beyond {ecn.ORDINARY_CABLE_M:g} m", formula, wire.light_us(more)))
    return parts


def _per_slice(held: HeadroomAnswer | None) -> tuple[int, int]:
    """Ports and lossless queues that one slice of the chip serves."""
    room = held.room if held is not None else None
    assert room is not None
    return -(-room.ports // room.slices), -(-room.ports * room.lossless // room.slices)


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
            delay_ns=ask.delay_ns,
            at_800g=ask.at_800g,
            site_quanta=ask.site_quanta,
            sonic=ask.sonic,
            alphas=ask.alphas,
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
        ports = counted(all_ports(ask.chip.asic, ask.speed_mbps), "port")
        return (Assumption("--ports", f"{ports}: the chip filled with {show_speed(ask.speed_mbps)}"),)
    return ()


def _length_doubt(ask: EcnAsk) -> tuple[Assumption, ...]:
    """The cables decide how much of the buffer is headroom, and so where PFC starts."""
    if ask.length_stated or ask.chip.asic is None:
        return ()
    return (Assumption("--length", f"{show_length(ask.cable_m)} of cable on every port", "state the longest"),)


def _computed(ask: EcnAsk, rtt_us: float, senders: Senders, trip: ecn.RoundTrip) -> tuple[Line, Whys]:
    """The curve by objective, as the planner makes it."""
    bounds, asic = senders.bounds, ask.chip.asic
    cell = ask.cell_bytes or (asic.threshold_cell if asic else 1)
    try:
        made = ecn.curve(
            ask.speed_mbps,
            rtt_us,
            ask.objective,
            frame_bytes=senders.frame_bytes,
            bound_bytes=bounds.limit(ask.objective, senders.frame_bytes, cell) if bounds is not None else None,
            cell_bytes=cell,
            rtt_why=trip.why if ask.rtt_us is None else None,
            flows=senders.flows,
            dcqcn=senders.params,
        )
    except ValueError as error:
        remedy = "Fewer ports or lossless priorities, a shorter --length or a larger --alpha leave more buffer."
        raise UseError(str(error), remedy) from error
    whys = (("kmin_bytes", made.kmin_why), ("kmax_bytes", made.kmax_why), ("pmax_percent", made.pmax_why))
    return senders.line(ask.objective, made.kmin_bytes, made.kmax_bytes, made.pmax_percent), whys


def _chosen(names: Sequence[str]) -> tuple[EcnPreset, ...]:
    """Presets by name, ``all`` for every one; several may stand in one word, with commas."""
    try:
        return chosen(name for words in names for name in (part.strip() for part in words.split(",")) if name)
    except LookupError as error:
        raise UseError(str(error.args[0]), "`rocetune ecn --list-presets` lists them with their sources.") from error


def _published(ask: EcnAsk, senders: Senders) -> tuple[Line, Whys]:
    """The curve of ``--preset``. Raises UseError where it says nothing here, with what would help."""
    if ask.preset == "all":
        raise UseError("--preset: one curve is asked for", "Put all of them beside it with --compare all.")
    preset = _chosen((ask.preset or "",))[0]
    line = _preset_line(preset, senders)
    if line.kmin_bytes is None:
        raise UseError(f"--preset: {line.note}", _preset_remedy(preset, ask, senders))
    return line, (("thresholds", line.why),) if line.why else ()


def _preset_remedy(preset: EcnPreset, ask: EcnAsk, senders: Senders) -> str:
    if preset.unit == "percent" and ask.chip.asic is None:
        return "Name the switch with --asic, --ports and --lossless: they say what a queue may hold."
    if preset.unit == "percent" and senders.fits is False:
        return "Fewer --ports or --lossless, or a shorter --length: the headroom leaves nothing for a queue."
    return "Choose a preset in bytes: `rocetune ecn --list-presets`."


def _preset_line(preset: EcnPreset, senders: Senders) -> Line:
    """A published curve; a percentage is of what one queue may hold before it is paused."""
    bounds = senders.bounds
    span = f"{preset.kmin:g} to {preset.kmax:g}"
    if preset.unit == "segments":
        note = f"{preset.name} is {span} segments, whose size is not confirmed: it cannot be turned into bytes"
        return Line(preset.name, None, None, None, None, note=note)
    if preset.unit == "percent" and bounds is None:
        note = f"{preset.name} is {span} percent of what a queue may hold, which is not known here"
        return Line(preset.name, None, None, None, None, note=note)
    made = preset.thresholds(senders.speed_mbps, int(bounds.incast_bytes) if bounds else None)
    return senders.line(preset.name, made.kmin_bytes, made.kmax_bytes, made.pmax_percent, made.why)


def _curve_problems(line: Line, senders: Senders, *, published: bool) -> list[PlanProblem]:
    """Marks that come after PFC (an error), or may (a warning), and flows that DCQCN does not hold."""
    found: list[PlanProblem] = []
    bounds, kmax = senders.bounds, line.kmax_bytes or 0
    where = f"{line.name} at {show_speed(senders.speed_mbps)}"
    order = senders.start.order(line)
    if bounds is not None and order == "no":
        text = (
            f"kmax {kmax:,} B is not below {bounds.incast_bytes:,.0f} B, where PFC starts in a 1:1 overload: ECN comes "
            "too late"
        )
        found.append(PlanProblem(where, text, "another preset, or a larger --alpha" if published else "--alpha"))
    elif bounds is not None and order == "incast only":
        text = (
            f"kmax {kmax:,} B is not below the strict ECN-before-PFC bound of {bounds.strict_bytes:,.0f} B: when all "
            "egress queues fill from one ingress, PFC may come first"
        )
        instead = "--objective latency instead of --preset" if published else "--objective latency"
        remedy = f"{instead} keeps kmax below it; fine for ordinary incast"
        if line.name == "latency":
            remedy = "below it kmin would hold less than two frames: fewer --ports or --lossless, or a larger --alpha"
        found.append(PlanProblem(where, text, remedy, warning=True))
    return [*found, *flow_problems(where, line, senders)]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the table of formulas is about."""

    line: Line
    whys: Whys
    held: HeadroomAnswer | None
    senders: Senders


def _terms(ask: EcnAsk, rtt_us: float, shown: _Shown) -> list[Term]:
    """Each number with the formula that made it."""
    line, speed, bdp = shown.line, show_speed(ask.speed_mbps), float(ecn.bdp_bytes(ask.speed_mbps, rtt_us))
    trip = _trip_parts(ask) if ask.rtt_us is None else []
    terms = []
    if len(trip) > 1:
        rate = ask.speed_mbps / 8
        terms += [
            Term("round trip" if number == 0 else "cable", formula, time * rate)
            for number, (_, formula, time) in enumerate(trip)
        ]
    terms.append(Term("BDP", "round trip + cable" if terms else f"{speed} x {rtt_us:g} us / 8", bdp))
    if shown.held is not None and shown.held.room is not None:
        terms += _room_terms(shown.held, shown.senders.bounds)
    for (name, size), words in zip(
        (("kmin", line.kmin_bytes), ("kmax", line.kmax_bytes)),
        _threshold_words(ask, shown.whys, shown.senders),
        strict=True,
    ):
        terms.append(Term(name, words, float(size or 0)))
    seen = line.outlook
    if seen is not None and seen.q_star_bytes is not None and not shown.senders.start.withheld(line):
        words = f"kmin + {_enough(seen.p_star, line)} % / {line.pmax_percent:g} % x (kmax - kmin)"
        terms.append(Term("q*", words, seen.q_star_bytes))
    return terms


def _enough(p_star: float, line: Line) -> str:
    """p* in percent, with as many digits as give q* when the formula is done by hand."""
    rise, pmax = (line.kmax_bytes or 0) - (line.kmin_bytes or 0), line.pmax_percent or 100
    exact = 100 * p_star / pmax * rise
    shown = (f"{100 * p_star:.{digits}g}" for digits in range(3, 16))
    return next((text for text in shown if abs(float(text) / pmax * rise - exact) < 0.05), f"{100 * p_star:.15g}")


def _threshold_words(ask: EcnAsk, whys: Whys, senders: Senders) -> tuple[str, str]:
    """Formulas of kmin and kmax; where a bound decided one, the bound."""
    if ask.preset is not None:
        preset, bounds = _chosen((ask.preset,))[0], senders.bounds
        kmin, kmax = (_preset_words(preset, size, senders.speed_mbps, bounds) for size in (preset.kmin, preset.kmax))
        return kmin, kmax
    times = ecn.LAMBDA[ask.objective]
    plain = {"kmin_bytes": f"{times:g} x BDP", "kmax_bytes": f"{ecn.RATIO} x kmin"}
    words = []
    for name, why in whys[:2]:
        rounded = f", {why.rounding}" if why.bounds and why.rounding else ""
        words.append(why.bounds[-1] + rounded if why.bounds else plain[name])
    return words[0], words[1]


def _preset_words(preset: EcnPreset, size: float, speed_mbps: int, bounds: ecn.Bounds | None) -> str:
    """How one threshold of a preset becomes bytes."""
    if preset.unit == "percent" and bounds is not None:
        return f"{preset.name}: {size:g} % of {int(bounds.incast_bytes):,} B"
    if preset.per_mbps is not None:
        return f"{preset.name}: {size:,.0f} B per {show_speed(preset.per_mbps)} x {speed_mbps / preset.per_mbps:g}"
    return f"{preset.name}, not scaled with the speed"


def _room_terms(held: HeadroomAnswer, bounds: ecn.Bounds | None) -> list[Term]:
    room, each = held.room, held.result.headroom_bytes
    assert room is not None
    length = show_length(held.port.cable_m)
    terms = [
        Term("headroom", f"{held.result.method}, {length}, per lossless priority", float(each)),
        Term("need", f"{counted(room.ports, 'port')} x {room.lossless} lossless x {each:,}", float(room.need_bytes)),
    ]
    if room.shared_bytes is None or bounds is None or room.buffer_bytes is None:
        return terms
    a = factor(room.alpha)
    ports, queues = _per_slice(held)
    strict = f"{a} x S / ({counted(ports, 'port')} + {a} x {counted(queues, 'queue')})"
    return [
        *terms,
        Term("S", _left(room), float(room.shared_bytes)),
        Term("strict bound", strict, bounds.strict_bytes),
        Term("xoff", f"{a} x S / (1 + {a}): PFC starts, one ingress", bounds.incast_bytes),
    ]


def _left(room: Room) -> str:
    """What S is made of."""
    made = f"{room.buffer_bytes:,} - need"
    if room.own_pools:
        made = next(step for step in room.whys[0].steps if "S = " in step).split(" = ", 1)[1].rsplit(" = ", 1)[0]
        made = f"{made}: SONiC's pools" if room.slices == 1 else made
    return f"({made}) / {room.slices} slices, down" if room.slices > 1 else made


def _follow(ask: EcnAsk, line: Line, flows: int, problems: Sequence[PlanProblem]) -> tuple[Follow, ...]:
    """What to type next, about the same port and curve."""
    marks = (
        ("--kmin", f"{line.kmin_bytes}B"),
        ("--kmax", f"{line.kmax_bytes}B"),
        ("--pmax", f"{line.pmax_percent:g}%"),
    )
    own = () if ask.dcqcn == "firmware" else (("--preset", ask.dcqcn),)
    senders = (("--flows", str(flows)), *own, *marks)
    found = [
        Follow("dcqcn", "what the senders do with these marks", senders, ("--preset",)),
        Follow("ecn", "the curve among its bounds", (("--plot", "ecn.svg"),)),
    ]
    if any("do not fit" in problem.text for problem in problems) and ask.cable_m > IN_RACK_M:
        return (Follow("ecn", "with short cables", (("--length", f"{IN_RACK_M:g}m"),)),)
    if not ask.compare:
        found.insert(0, Follow("ecn", "beside published settings", (("--compare", BESIDE),)))
    return tuple(found)
