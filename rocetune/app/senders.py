"""The DCQCN calculator: what is written to a NIC, and where its flows settle on a marking curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocetune.app.asking import frame_of
from rocetune.app.errors import UseError
from rocetune.model.plan import Assumption, PlanProblem, Why
from rocetune.model.units import show_speed
from rocetune.planner.compare import Line
from rocetune.report.answers import DcqcnAnswer, Follow
from rocetune.report.side_by_side import Start
from rocetune.report.sizes import show_size
from rocetune.report.table import counted
from rocetune.tuning import dcqcn, ecn, fluid
from rocetune.tuning.outlook import outlook

DEFAULT_TIERS = 2
Whys = tuple[tuple[str, Why], ...]  # derivations by threshold


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


@dataclass(frozen=True, slots=True)
class Senders:
    """Who meets at the port, and under which bounds."""

    speed_mbps: int
    flows: int
    params: fluid.Params
    frame_bytes: int
    bounds: ecn.Bounds | None = None
    rtt_us: float = ecn.RTT_US[DEFAULT_TIERS]
    fits: bool | None = None  # all headroom of the switch in its buffer

    @property
    def start(self) -> Start:
        """Where PFC starts here."""
        bounds = self.bounds
        return Start(bounds.strict_bytes, bounds.incast_bytes, self.fits) if bounds else Start(fits=self.fits)

    def line(self, name: str, kmin: int, kmax: int, pmax: float, why: Why | None = None) -> Line:
        """A curve with what to expect of it."""
        seen = outlook(
            self.speed_mbps, kmin, kmax, pmax, self.flows, self.params, self.bounds, self.frame_bytes, self.rtt_us
        )
        return Line(name, kmin, kmax, pmax, seen, why)


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
    senders = Senders(ask.speed_mbps, ask.flows, model, frame)
    line, whys, believed = _marks(ask, senders)
    unsure = [Assumption(f"dcqcn {ask.preset}", text) for text in (*model.assumed, *written.notes)]
    return DcqcnAnswer(
        speed_mbps=ask.speed_mbps,
        flows=ask.flows,
        frame_bytes=frame,
        preset=ask.preset,
        written=written,
        model=model,
        line=line,
        whys=whys,
        breakdown=fluid.breakdown_flows(ask.speed_mbps),
        assumptions=tuple(dict.fromkeys((*assumed, *believed, *unsure))),
        problems=tuple(flow_problems(show_speed(ask.speed_mbps), line, senders)),
        follow=(Follow("ecn", "thresholds of ours, and their bounds", _like_here(ask), ("--preset",)),),
    )


def _like_here(ask: DcqcnAsk) -> tuple[tuple[str, str], ...]:
    """What ``ecn`` calls the same: the round trip of the default thresholds, and the senders' set."""
    trip = ("--rtt", f"{ecn.RTT_US[DEFAULT_TIERS]:g}us")
    return (trip,) if ask.preset == "firmware" else (trip, ("--dcqcn", ask.preset))


def _marks(ask: DcqcnAsk, senders: Senders) -> tuple[Line, Whys, tuple[Assumption, ...]]:
    """The curve that the flows meet: as stated, or that of ``rocetune ecn``; what had to be assumed of it."""
    if ask.kmin_bytes is None or ask.kmax_bytes is None:
        rtt = ecn.RTT_US[DEFAULT_TIERS]
        made = ecn.curve(ask.speed_mbps, rtt, frame_bytes=senders.frame_bytes, flows=ask.flows, dcqcn=senders.params)
        whys = [("kmin_bytes", made.kmin_why), ("kmax_bytes", made.kmax_why), ("pmax_percent", made.pmax_why)]
        pmax = made.pmax_percent
        if ask.pmax_percent is not None:
            pmax, whys[2] = ask.pmax_percent, ("pmax_percent", _stated("--pmax", f"pmax {ask.pmax_percent:g} %"))
        sizes = f"kmin {show_size(made.kmin_bytes)}, kmax {show_size(made.kmax_bytes)}"
        text = f"{sizes}: those of `rocetune ecn` for {rtt:g} us"
        line = senders.line("balanced", made.kmin_bytes, made.kmax_bytes, pmax)
        return line, tuple(whys), (Assumption("thresholds", text, "--kmin and --kmax"),)
    kmin, kmax = ask.kmin_bytes, ask.kmax_bytes
    if kmin > kmax:
        raise UseError(f"--kmin {kmin:,} B is above --kmax {kmax:,} B", "Marking starts at kmin and is full at kmax.")
    pmax = ecn.PMAX_PERCENT if ask.pmax_percent is None else ask.pmax_percent
    stated = [
        ("kmin_bytes", _stated("--kmin", f"kmin {kmin:,} B")),
        ("kmax_bytes", _stated("--kmax", f"kmax {kmax:,} B")),
    ]
    if ask.pmax_percent is not None:
        stated.append(("pmax_percent", _stated("--pmax", f"pmax {pmax:g} %")))
        return senders.line("stated", kmin, kmax, pmax), tuple(stated), ()
    stated.append(("pmax_percent", Why("default", (), (f"pmax {pmax:g} %",), source="rocetune's default")))
    believed = (Assumption("--pmax", f"{pmax:g} %, rocetune's default"),)
    return senders.line("stated", kmin, kmax, pmax), tuple(stated), believed


def _stated(option: str, step: str) -> Why:
    return Why("stated", (), (f"{step}, as stated",), source=option)


def flow_problems(where: str, line: Line, senders: Senders) -> list[PlanProblem]:
    found: list[PlanProblem] = []
    seen = line.outlook
    if seen is not None and seen.q_star_bytes is None and not senders.start.withheld(line):
        text = (
            f"{counted(senders.flows, 'flow')} need p* = {seen.p_star * 100:.3g} % of packets marked, pmax is "
            f"{line.pmax_percent:g} %: the queue passes kmax {show_size(line.kmax_bytes or 0)}, every packet is marked"
        )
        found.append(PlanProblem(where, text, "a larger pmax, or fewer flows per port", warning=True))
    most, source = fluid.breakdown_flows(senders.speed_mbps)
    if senders.flows >= most:
        text = f"{senders.flows} flows on one port: DCQCN was seen to break down from {most} ({source})"
        found.append(PlanProblem(where, text, "fewer flows per port; PFC will hold the queue", warning=True))
    return found
