"""JSON pieces that several reports share. Field names are documented in docs/json.md and stay stable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rocetune.model.change import Change, Step
from rocetune.model.plan import Assumption, DevicePlan, PlanProblem, Unsupported, Why
from rocetune.report.amounts import Amount, meaning

Json = dict[str, Any]


def why_json(why: Why) -> Json:
    """One reason; inputs become an object."""
    return {
        "rule": why.rule,
        "inputs": dict(why.inputs),
        "steps": list(why.steps),
        "bounds": list(why.bounds),
        "rounding": why.rounding,
        "source": why.source,
    }


def change_json(change: Change, plan: DevicePlan | None) -> Json:
    """One change with its meaning. ``old`` or ``new`` null: the key is absent on that side."""
    about = meaning(change, plan)
    return {
        "key": list(change.key),
        "op": change.op,
        "old": change.old,
        "new": change.new,
        "phase": change.phase.name.lower(),
        "impact": change.impact.name.lower(),
        "note": change.note,
        "port": str(change.origin[0]) if change.origin and change.origin[0] else None,
        "path": list(change.origin[1:]),
        "class": about.class_name or None,
        "quantity": about.quantity or None,
        "speed_mbps": about.speed_mbps,
        "old_sizes": _sizes(about.old),
        "new_sizes": _sizes(about.new),
        "touches": list(change.touches),
        "why": why_json(change.why) if change.why else None,
    }


def _sizes(amount: Amount) -> Json:
    return {size.name: {"bytes": size.size_bytes, "us": size.time_us} for size in amount.sizes}


def step_json(step: Step) -> Json:
    """One native step and its inverse."""
    return {"kind": step.kind, "do": step.do, "undo": step.undo, "note": step.note}


def assumption_json(item: Assumption) -> Json:
    """One assumption."""
    return {"where": item.where, "text": item.text, "remedy": item.remedy}


def unsupported_json(item: Unsupported) -> Json:
    """One thing a platform cannot express."""
    return {"where": item.where, "path": list(item.path), "text": item.text}


def problem_json(item: PlanProblem) -> Json:
    """One infeasible number (or a warning) with its remedy."""
    return {
        "where": item.where,
        "text": item.text,
        "remedy": item.remedy,
        "profile": item.profile,
        "field": list(item.field),
        "warning": item.warning,
    }


def merged(items: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Sentences with all the places that they are true of, in order of appearance."""
    found: dict[str, dict[str, None]] = {}
    for text, where in items:
        found.setdefault(text, {})[where] = None
    return {text: list(places) for text, places in found.items()}
