"""What the headroom calculator found, as text, markdown and JSON. The formats are documented in docs/calculators.md."""

from __future__ import annotations

from collections.abc import Sequence

from rocetune.model.plan import Assumption, PlanProblem
from rocetune.model.units import show_speed
from rocetune.report import encode
from rocetune.report.answers import HeadroomAnswer, Port, Room, Term
from rocetune.report.plan import problems_text
from rocetune.report.sizes import show_length, show_size, us
from rocetune.report.table import PLAIN, Paint, counted, markdown_table, table, to_json
from rocetune.tuning.duration import show_us
from rocetune.tuning.headroom_presets import COPIED

_HEAD = ("term", "formula", "bytes")


def headroom_text(answer: HeadroomAnswer, paint: Paint = PLAIN) -> str:
    """The breakdown as an engineer writes it, the result, what it rests on."""
    port, result = answer.port, answer.result
    size = sized(result.headroom_bytes, port.speed_mbps)
    blocks = [f"{paint('bold', 'PFC headroom')}  {port_words(port)}", _breakdown(answer, size, paint)]
    blocks.append("\n".join(_basis(answer)))
    if answer.room is not None:
        blocks.append("\n".join(_room_lines(answer.room, result.headroom_bytes, port.speed_mbps, paint)))
    blocks += tail_blocks(answer.assumptions, answer.problems, paint)
    return "\n\n".join(blocks)


def headroom_markdown(answer: HeadroomAnswer) -> str:
    """The same for a review."""
    port, result = answer.port, answer.result
    size = sized(result.headroom_bytes, port.speed_mbps)
    blocks = [f"### PFC headroom: {port_words(port)}"]
    rows = [*_rows(answer.terms), ["**headroom**", size, f"**{result.headroom_bytes:,}**"]]
    blocks.append(markdown_table(rows, _HEAD))
    if not answer.terms:
        blocks.append("\n".join(f"- {step}" for step in result.why.steps))
    blocks.append("\n".join(f"- {line.strip()}" for line in _basis(answer)))
    if answer.room is not None:
        lines = _room_lines(answer.room, result.headroom_bytes, port.speed_mbps, PLAIN)
        blocks.append("\n".join(f"- {line.strip()}" for line in lines))
    return "\n\n".join([*blocks, *tail_markdown(answer.assumptions, answer.problems)]) + "\n"


def headroom_document(answer: HeadroomAnswer) -> encode.Json:
    """``rocetune.headroom/1``: the answer at top level under the plan's names, the breakdown beside it."""
    port, result, room = answer.port, answer.result, answer.room
    return {
        "format": "rocetune.headroom/1",
        "headroom_bytes": result.headroom_bytes,
        "headroom_us": us(result.headroom_bytes, port.speed_mbps),
        **room_json(room),
        "physical_bytes": result.physical_bytes,
        "method": result.method,
        "confidence": answer.confidence,
        "source": result.why.source,
        "notes": list(answer.notes),
        **port_json(port),
        "breakdown": terms_json(answer.terms),
        "floor": terms_json(answer.floor),
        "why": encode.why_json(result.why),
        **tail_json(answer.assumptions, answer.problems, answer.next),
    }


def headroom_json(answer: HeadroomAnswer) -> str:
    """:func:`headroom_document` as text."""
    return to_json(headroom_document(answer))


def port_words(port: Port) -> str:
    """``400G, 30 m, Tomahawk 3, MTU 9,216 B, lossless frame 4,178 B``."""
    chip = port.asic.name if port.asic else "chip not named"
    words = [show_speed(port.speed_mbps), show_length(port.cable_m), chip + (f" ({port.model})" if port.model else "")]
    cell = [f"cell {port.cell_bytes} B"] if port.cell_bytes else []
    return ", ".join([*words, *cell, f"MTU {port.mtu_bytes:,} B", f"lossless frame {port.frame_bytes:,} B"])


def port_json(port: Port) -> encode.Json:
    """What was asked."""
    return {
        "speed_mbps": port.speed_mbps,
        "cable_m": port.cable_m,
        "mtu_bytes": port.mtu_bytes,
        "frame_bytes": port.frame_bytes,
        "asic": port.asic.name if port.asic else None,
        "model": port.model,
        "cell_bytes": port.cell_bytes or (port.asic.cell_bytes if port.asic else None),
    }


def sized(size_bytes: int, speed_mbps: int) -> str:
    """``195.3 KB, 3.91 us``."""
    return f"{show_size(size_bytes)}, {show_us(size_bytes, speed_mbps)}"


def _breakdown(answer: HeadroomAnswer, size: str, paint: Paint) -> str:
    rows = _rows(answer.terms)
    rows.append(["headroom", size, paint("good", f"{answer.result.headroom_bytes:,}")])
    text = table(rows, _HEAD, indent="  ", right=(2,))
    if not answer.terms:
        text = "\n".join(["  " + step for step in answer.result.why.steps] + [text])
    return text


def _rows(terms: Sequence[Term]) -> list[list[str]]:
    return [[term.name, term.formula, f"{term.size_bytes:,.0f}"] for term in terms]


def _basis(answer: HeadroomAnswer) -> list[str]:
    """Method, source, bounds, and how far above physics it is."""
    result = answer.result
    parts = " + ".join(f"{term.name} {term.size_bytes:,.0f}" for term in answer.floor)
    return [
        _method(answer),
        f"source: {result.why.source}",
        *(f"bound: {bound}" for bound in result.why.bounds),
        *(f"note: {note}" for note in answer.notes),
        f"floor: {result.physical_bytes:,} B = {parts}",
    ]


def _method(answer: HeadroomAnswer) -> str:
    yours = answer.confidence == "yours"
    sure = "" if yours else f" (confidence of the figures: {answer.confidence})"
    words = method_words(answer.result.method, yours=yours)
    if answer.result.why.source == COPIED:
        words = "preset of a table that makers copy from chip to chip"
    return f"method: {words}{sure}"


def method_words(method: str, *, yours: bool) -> str:
    """How a number was made; ``yours``: from the user's own table or chip."""
    return (_YOURS if yours else _METHODS).get(method, method)


_METHODS = {
    "table": "row of the platform's published table",
    "preset": "preset fitted to the vendor's table",
    "canonical": "canonical sum with the worst factor of the chip's cells",
    "generic": "canonical sum with the largest cell of any chip",
}
_YOURS = {
    "table": "row of your own table",
    "preset": "preset of your own chip",
    "canonical": "canonical sum with the worst factor of the cells of your own chip",
}


def _room_lines(room: Room, headroom_bytes: int, speed_mbps: int, paint: Paint) -> list[str]:
    ports = counted(room.ports, "port")
    need = f"{ports} x {room.lossless} lossless x {headroom_bytes:,} B = {room.need_bytes:,} B"
    if room.buffer_bytes is None:
        return [f"need: {need}"]
    verdict = paint("good", "fits") if room.fits else paint("bad", "does not fit")
    lines = [f"need: {need} of {room.buffer_bytes:,} B: {verdict}"]
    if room.shared_bytes is not None and room.xoff_bytes is not None:
        each = f" in each of {room.slices} slices" if room.slices > 1 else ""
        lines.append(f"left for sharing: S = {room.shared_bytes:,} B{each}")
        alpha = factor(room.alpha)
        start = f"pause starts (xoff): {alpha} x S / (1 + {alpha}) = {room.xoff_bytes:,} B"
        lines.append(f"{start}, {show_us(room.xoff_bytes, speed_mbps)}, for a lone group")
        if room.crowded_bytes is not None and room.xon_bytes is not None:
            lines.append(f"with every group congested: {room.crowded_bytes:,} B each")
            gap = room.xoff_bytes - room.xon_bytes
            lines.append(f"pause ends (xon): two frames in whole cells, {gap:,} B, lower = {room.xon_bytes:,} B")
    if room.pool_bytes and room.pausing_at_once is not None:
        lines.append(_pool_line(room, room.pool_bytes, room.pausing_at_once))
    return lines


def _pool_line(room: Room, pool_bytes: int, at_once: int) -> str:
    ratio, groups = room.need_bytes / pool_bytes, room.ports * room.lossless
    name = f"SONiC's shared headroom pool of this model: {pool_bytes:,} B"
    if ratio <= 1:
        return f"{name}; the need is {ratio:.0%} of it: {counted(groups, 'group')} can pause at once, which is all"
    return f"{name}, over-subscribed {ratio:.2f} times: {at_once} of {counted(groups, 'group')} can pause at once"


def factor(alpha: float) -> str:
    """A dynamic threshold factor with the digits that it needs."""
    return f"{alpha:g}" if float(f"{alpha:g}") == alpha else repr(alpha)


def room_json(room: Room | None) -> encode.Json:
    """Names of the plan where they apply: ``xoff_bytes``, ``xon_bytes``, ``alpha``."""
    if room is None:
        return {}
    pool = {"bytes": room.pool_bytes, "pausing_at_once": room.pausing_at_once} if room.pool_bytes else None
    return {
        "xoff_bytes": room.xoff_bytes,
        "xon_bytes": room.xon_bytes,
        "xoff_crowded_bytes": room.crowded_bytes,
        "alpha": room.alpha,
        "need_bytes": room.need_bytes,
        "buffer_bytes": room.buffer_bytes,
        "shared_bytes": room.shared_bytes,
        "slices": room.slices,
        "fits": room.fits,
        "ports": room.ports,
        "lossless": room.lossless,
        "headroom_pool": pool,
    }


def terms_json(terms: Sequence[Term]) -> list[encode.Json]:
    """The breakdown; ``bytes`` may have a fraction, only the sum is whole."""
    return [{"term": term.name, "formula": term.formula, "bytes": round(term.size_bytes, 2)} for term in terms]


def tail_blocks(assumptions: Sequence[Assumption], problems: Sequence[PlanProblem], paint: Paint) -> list[str]:
    """What was assumed, and what cannot be."""
    blocks = []
    if assumptions:
        blocks.append("assumed, not confirmed:\n" + "\n".join(f"  {_assumed(item)}" for item in assumptions))
    if problems:
        blocks.append(problems_text(problems, paint))
    return blocks


def tail_markdown(assumptions: Sequence[Assumption], problems: Sequence[PlanProblem]) -> list[str]:
    """The same as lists."""
    blocks = []
    if assumptions:
        blocks.append("Assumed, not confirmed:\n\n" + "\n".join(f"- {_assumed(item)}" for item in assumptions))
    if problems:
        kinds = (("warning" if item.warning else "error", item) for item in problems)
        lines = [f"- **{kind}**: {item.where}: {item.text}; {item.remedy}" for kind, item in kinds]
        blocks.append("\n".join(lines))
    return blocks


def tail_json(
    assumptions: Sequence[Assumption], problems: Sequence[PlanProblem], following: Sequence[tuple[str, str]]
) -> encode.Json:
    """The same as data, and what to type next (arguments of rocetune)."""
    return {
        "assumptions": [encode.assumption_json(item) for item in assumptions],
        "problems": [encode.problem_json(item) for item in problems],
        "next": [command for command, _ in following],
    }


def _assumed(item: Assumption) -> str:
    return f"{item.where}: {item.text}" + (f" ({item.remedy})" if item.remedy else "")
