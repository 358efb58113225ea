"""What the calculators are asked: a port, a chip, a switch; and what cannot be asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from rocetune.app.errors import UseError
from rocetune.model.plan import Assumption
from rocetune.model.units import show_speed
from rocetune.tuning import published, thresholds, wire
from rocetune.tuning.asics import Asic, AsicTable, table
from rocetune.tuning.headroom import EmptyTable, Headroom, headroom
from rocetune.tuning.own_table import switch_row
from rocetune.tuning.published import PublishedTable
from rocetune.tuning.table_text import MOST_BYTES

MOST_PORTS = 256  # of one speed on one chip: MACs and lanes, not the capacity, end there
_MOST_SHOWN = 60  # letters of a wrong name that are repeated
IB_MTUS = (256, 512, 1024, 2048, 4096)


@dataclass(frozen=True, slots=True)
class Chip:
    """Whose buffer it is. None: not said."""

    asic: Asic | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomAsk:
    """The options of ``rocetune headroom``. None: not said."""

    speed_mbps: int
    cable_m: float
    chip: Chip = field(default_factory=Chip)
    mtu_bytes: int = 9216
    rdma_mtu: int = 4096
    cell_bytes: int | None = None
    delay_ns: float | None = None
    table: PublishedTable | None = None  # the user's own, before the shipped one
    lookup: bool = True
    at_800g: int = wire.QUANTA_800G
    site_quanta: bool = False  # at_800g is what tuning: of a site says
    sonic: bool | None = None  # the switch runs SONiC; None: not said, and a hardware SKU of SONiC says it
    alphas: str = ""  # how what it runs writes alpha, a key of alpha_encodings.yaml; empty: as it stands
    ports: int | None = None
    lossless: int | None = None
    alpha: float | None = None

    @property
    def factor(self) -> float:
        """Alpha as stated, else the default of every platform."""
        return thresholds.DEFAULT_ALPHA if self.alpha is None else self.alpha


def chip_named(asic: str | None, model: str | None, known: AsicTable | None = None, *, option: str = "--asic") -> Chip:
    """A chip by its own name, or by a switch model under either option. Raises UseError with a suggestion.

    ``option`` is where the name was given.
    """
    known = known or table()
    if model is not None and not model.strip():
        raise UseError("--model is empty", "Name a switch model or hardware SKU, or leave it out.")
    by_model = known.by_model(model) if model else None
    if asic is None:
        if model is not None and by_model is None:
            near = known.near_models(model)
            hint = f"Did you mean {' or '.join(near)}? Else name" if near else "Name"
            raise UseError(f"--model: {model!r} belongs to no known chip", f"{hint} its chip with --asic.")
        return Chip(by_model, model)
    found = known.find(asic)
    if found is None:
        near = known.suggest(asic) or known.near_models(asic)
        hint = (
            f"Did you mean {' or '.join(near)}?"
            if near
            else "`rocetune asics` lists the known ones; a site states its own: tuning.asics."
        )
        shown = asic if len(asic) <= _MOST_SHOWN else f"{asic[:_MOST_SHOWN]}..."
        raise UseError(f"{option}: {shown!r} is not a known chip or switch model", hint)
    if by_model is not None and by_model is not found:
        raise UseError(f"--asic is {found.name}, but --model {model!r} has a {by_model.name}", "Leave one of them out.")
    return Chip(found, model or (asic if known.by_model(asic) is found else None))


def unknown_model(chip: Chip, known: AsicTable, own_table: bool) -> tuple[Assumption, ...]:
    """What to say of a model that nobody lists: it may be new, or mistyped. One with a table of the user's is known."""
    if chip.model is None or own_table:
        return ()
    meant = published.near_sku(chip.model, chip.asic.key if chip.asic else None)
    if meant:
        text = f"{chip.model!r} is no hardware SKU whose table is known; what is known of its model or chip counts"
        return (Assumption("--model", text, f"did you mean {meant}?"),)
    of_the_chip = chip.asic is not None and AsicTable({chip.asic.key: chip.asic}).by_model(chip.model) is not None
    if of_the_chip or known.by_model(chip.model) is not None or published.match(chip.model) is not None:
        return ()
    near = known.near_models(chip.model)
    hint = f"did you mean {' or '.join(near)}?" if near else "without --model the chip's own preset counts"
    return (Assumption("--model", f"{chip.model!r} is not listed: the largest number that is likely for it", hint),)


def table_file(path: Path) -> PublishedTable:
    """A user's own headroom table. Raises UseError with file, line and remedy."""
    try:
        if path.is_fifo() and path.parts[:2] != ("/", "dev"):  # a shell's <(...) is at /dev/fd
            raise UseError(f"{path} is a pipe, which may never end", "Give a pg_profile_lookup.ini or a CSV file.")
        with path.open(encoding="utf-8-sig") as file:
            return published.read_table(file.read(MOST_BYTES + 1), path.name)
    except published.TableError as error:
        raise UseError(
            f"{path}:{error.line}: {error.text}", f"{error.remedy[:1].upper()}{error.remedy[1:]}."
        ) from error
    except UnicodeDecodeError as error:
        raise UseError(f"{path} is not a text file", "Give a pg_profile_lookup.ini or a CSV file.") from error
    except OSError as error:
        raise UseError(f"{path}: {error.strerror or error}", "Give a pg_profile_lookup.ini or a CSV file.") from error


def frame_of(rdma_mtu: int, mtu_bytes: int) -> tuple[int, tuple[Assumption, ...]]:
    """Lossless frame with its gap. An IB MTU gets RoCE's headers; any other number is the frame itself.

    Raises UseError when the frame is larger than the port's MTU.
    """
    whole = rdma_mtu not in IB_MTUS
    frame = rdma_mtu + wire.GAP_BYTES if whole else wire.roce_frame_bytes(rdma_mtu)
    if frame - wire.GAP_BYTES > mtu_bytes:
        size = f"a frame of {frame - wire.GAP_BYTES:,} B"
        remedy = f"Raise --mtu to {frame - wire.GAP_BYTES} or more, or lower --rdma-mtu."
        raise UseError(f"--rdma-mtu {rdma_mtu} makes {size}: it does not fit in --mtu {mtu_bytes}", remedy)
    if not whole:
        return frame, ()
    text = f"{rdma_mtu} is no RDMA MTU ({', '.join(map(str, IB_MTUS))}): taken as the whole lossless frame"
    return frame, (Assumption("--rdma-mtu", text),)


def compute(ask: HeadroomAsk, cable_m: float) -> Headroom:
    """Headroom of the asked port with another cable. Raises UseError where nothing is known to compute it from."""
    if ask.chip.asic is None and ask.cell_bytes is None and ask.table is None:
        remedy = "Name one: --asic tomahawk3 (`rocetune asics` lists them), or --cell 254B for the canonical sum."
        raise UseError("neither the chip nor its cell size is known: headroom differs threefold between chips", remedy)
    frame, _ = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    try:
        return headroom(
            ask.speed_mbps,
            cable_m,
            ask.chip.asic,
            mtu_bytes=ask.mtu_bytes,
            frame_bytes=frame,
            model=ask.chip.model,
            table=ask.table,
            lookup=ask.lookup,
            at_800g=ask.at_800g,
            cell_bytes=ask.cell_bytes,
            delay_ns=ask.delay_ns,
            copied=ask.sonic is not False,
        )
    except EmptyTable as error:
        if ask.sonic is False:  # a table of SONiC means nothing to another OS
            return compute(replace(ask, lookup=False), cable_m)
        raise UseError(
            str(error), "Give --table, or --no-table; or name what it runs, as in --platform arista_eos."
        ) from error
    except ValueError as error:
        cells = ask.cell_bytes is None and "cell" in str(error)
        raise UseError(str(error), "Give it with --cell, as in --cell 254B." if cells else "") from error


def chosen_alpha(ask: HeadroomAsk) -> tuple[float, tuple[Assumption, ...]]:
    """Alpha, and what to say of it where nobody stated it.

    A switch that runs SONiC uses the ``dynamic_th`` of its headroom table, and a plan counts with that; where it is not
    said what runs, 1 is taken and the table's is named.
    """
    encoding = thresholds.encodings()["sonic"]
    sonic = runs_sonic(ask)
    if ask.alpha is not None:
        return _as_written(ask, "sonic" if sonic else ask.alphas)
    row = None
    if sonic is not False:
        row = switch_row(ask.chip.model, ask.chip.asic, ask.table, ask.speed_mbps, ask.cable_m)
    threshold = row[1].threshold if row is not None else None
    if row is None or threshold is None or not encoding.low <= threshold <= encoding.high:
        return ask.factor, ()
    own, words = encoding.decode(threshold), f"SONiC's row in {row[0].name} has dynamic_th {threshold}"
    if sonic:
        return own, (Assumption("--alpha", f"{own:g}: {words}", "state --alpha to count with another"),)
    if own == ask.factor:
        return own, ()
    text = f"alpha {ask.factor:g}; {words}, which is alpha {own:g}"
    return ask.factor, (Assumption("--alpha", text, f"on a SONiC switch add --alpha {own:g}"),)


def _as_written(ask: HeadroomAsk, alphas: str) -> tuple[float, tuple[Assumption, ...]]:
    """A stated alpha in the steps of a platform."""
    if not alphas:
        return ask.factor, ()
    encoding = thresholds.encodings()[alphas]
    written = encoding.written(ask.factor)
    if written == ask.factor:
        return written, ()
    ends = f"{encoding.alphas[0]:g} to {encoding.alphas[-1]:g}"
    text = f"{ask.factor:g} is written as {written:g}: {encoding.field} has steps from {ends}"
    return written, (Assumption("--alpha", text),)


def check_speed(asic: Asic | None, speed_mbps: int) -> None:
    """Raises UseError for a speed that the chip has not."""
    if asic is None:
        return
    try:
        asic.check_speed(speed_mbps)
    except ValueError as error:
        raise UseError(f"--speed: {error}", f"`rocetune asics {asic.key}` shows what is known of it.") from error


def all_ports(asic: Asic, speed_mbps: int) -> int:
    """Ports of a speed that the chip's capacity is enough for, no box has more than 256; 32 where it is not known."""
    return max(1, min(MOST_PORTS, asic.capacity_gbps * 1000 // speed_mbps)) if asic.capacity_gbps else 32


def check_ports(asic: Asic | None, ports: int | None, speed_mbps: int) -> None:
    """Raises UseError for more ports than the chip can feed."""
    if asic is None or ports is None or not asic.capacity_gbps or ports * speed_mbps <= asic.capacity_gbps * 1000:
        return
    most = asic.capacity_gbps * 1000 // speed_mbps
    text = f"--ports: {asic.name} switches {show_speed(asic.capacity_gbps * 1000)}, enough for {most} ports of "
    raise UseError(f"{text}{show_speed(speed_mbps)}: got {ports}", f"Give {most} or fewer, or another --speed.")


def runs_sonic(ask: HeadroomAsk) -> bool | None:
    """Whether SONiC's own pools count: as stated, or because the model is spelled as a hardware SKU of SONiC."""
    if ask.sonic is not None:
        return ask.sonic
    found = published.match(ask.chip.model)
    return True if found is not None and found.exact else None
