"""What the calculators are asked: a port, a chip, a switch; and what cannot be asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rocetune.app.errors import UseError
from rocetune.model.plan import Assumption
from rocetune.model.units import show_speed
from rocetune.tuning import published, thresholds, wire
from rocetune.tuning.asics import Asic, AsicTable, table
from rocetune.tuning.headroom import Headroom, headroom
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
    ports: int | None = None
    lossless: int | None = None
    alpha: float = thresholds.DEFAULT_ALPHA


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
        hint = f"Did you mean {' or '.join(near)}?" if near else "`rocetune asics` lists the known ones."
        shown = asic if len(asic) <= _MOST_SHOWN else f"{asic[:_MOST_SHOWN]}..."
        raise UseError(f"{option}: {shown!r} is not a known chip or switch model", hint)
    if by_model is not None and by_model is not found:
        raise UseError(f"--asic is {found.name}, but --model {model!r} has a {by_model.name}", "Leave one of them out.")
    return Chip(found, model or (asic if known.by_model(asic) is found else None))


def unknown_model(chip: Chip, known: AsicTable) -> tuple[Assumption, ...]:
    """What to say of a model that nobody lists: it may be a new one, or mistyped."""
    if chip.model is None or known.by_model(chip.model) is not None or published.match(chip.model) is not None:
        return ()
    near = known.near_models(chip.model)
    hint = f"did you mean {' or '.join(near)}?" if near else "without --model the chip's own preset counts"
    return (Assumption("--model", f"{chip.model!r} is not listed: the largest number that is likely for it", hint),)


def table_file(path: Path) -> PublishedTable:
    """A user's own headroom table. Raises UseError with file, line and remedy."""
    try:
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
    except ValueError as error:
        cells = ask.cell_bytes is None and "cell" in str(error)
        raise UseError(str(error), "Give it with --cell, as in --cell 254B." if cells else "") from error


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
