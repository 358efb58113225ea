"""The ports that an inventory declares: ranges unfolded, hardware bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocetune.model import names
from rocetune.model.invalid import Invalid
from rocetune.model.inventory import PortEntry
from rocetune.site.errors import Problems
from rocetune.site.ranges import RangeError, Template, expand
from rocetune.site.sources import Map, find


@dataclass(frozen=True, slots=True)
class PortSpec:
    """One declared port, range resolved."""

    name: str
    entry: PortEntry
    rail: int | None
    select: str | None
    declared: tuple[tuple[str, str], ...]


_CHECKS = {"select": names.select, "netdev": names.netdev, "pci": names.pci, "rdma": names.rdma}


def port_specs(ports: Mapping[str, PortEntry], raw: Map | None, problems: Problems) -> dict[str, PortSpec]:
    """All ports of one ``ports`` mapping by name."""
    result: dict[str, PortSpec] = {}
    for pattern, entry in ports.items():
        place = find(raw, (pattern,), key=True)
        try:
            members = list(expand(pattern))
            columns = {name: _column(name, getattr(entry, name), len(members)) for name in _CHECKS}
            for number, (name, indexes) in enumerate(members):
                names.port(name)
                if name in result:
                    raise RangeError(f"port {name} is listed twice", "write each port once: split the range")
                made = {
                    key: _CHECKS[key](values[number].fill(indexes))
                    for key, values in columns.items()
                    if values is not None
                }
                rail = _rail(entry.rail, indexes)
                result[name] = PortSpec(name, entry, rail, _selector(name, made), _declared(entry, made))
        except RangeError as error:
            problems.error(place, f"ports {pattern}: {error.text}", error.remedy)
        except Invalid as error:
            problems.error(place, f"ports {pattern}: {error.faults[0].text}", error.faults[0].remedy)
    _same_hardware(result, raw, problems)
    return result


def _rail(value: int | str | None, indexes: Mapping[str, int]) -> int | None:
    return Template(value).number(indexes) if isinstance(value, str) else value


def _column(name: str, value: str | tuple[str, ...] | None, count: int) -> list[Template] | None:
    if value is None:
        return None
    if isinstance(value, str):
        template = Template(value)
        if template.constant and count > 1:
            raise RangeError(
                f"{name} {value!r} is the same for {count} ports", f"use {{n}} or a list of {count} values"
            )
        return [template] * count
    if len(value) != count:
        raise RangeError(f"{name} lists {len(value)} values for {count} ports", "give one value per port")
    return [Template(item) for item in value]


def _selector(name: str, made: Mapping[str, str]) -> str | None:
    for kind in ("netdev", "pci"):
        if "select" not in made and kind in made:
            return f"{kind}:{made[kind]}"
    if "select" in made:
        return made["select"]
    for kind, pattern in (("pci", names.PCI), ("mac", names.MAC)):
        if pattern.fullmatch(name.lower()):
            return f"{kind}:{name.lower()}"
    return None


def _declared(entry: PortEntry, made: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    facts = {key: made[key] for key in ("netdev", "pci", "rdma") if key in made}
    if entry.nic is not None:
        facts["nic"] = entry.nic
    return tuple(sorted(facts.items()))


def _same_hardware(specs: Mapping[str, PortSpec], raw: Map | None, problems: Problems) -> None:
    seen: dict[str, str] = {}
    for name, spec in specs.items():
        for key, value in (*spec.declared, ("select", spec.select)):
            if value is None or key == "nic":
                continue
            first = seen.setdefault(f"{key} {value}", name)
            if first != name:
                problems.error(
                    raw.start if raw is not None else None,
                    f"ports {first} and {name} are bound to the same {key} {value}",
                    "bind each port to its own hardware",
                )
