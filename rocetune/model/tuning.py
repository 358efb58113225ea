"""``tuning:`` in rocetune.yaml: what a site knows better than the shipped tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from rocetune.model.invalid import invalid
from rocetune.model.names import FactText
from rocetune.model.profile import Bytes, Model, Several, Speed, Us

AsicKey = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Names = Annotated[tuple[FactText, ...], Several]


class HeadroomFit(Model):
    """A headroom preset of one chip: ``base + fixed x R + wire_factor x (bytes on the cable, both ways)``."""

    base: Bytes = Field(description="bytes that do not grow with speed or length")
    fixed: Us = Field(description="time at line rate: pipelines and the peer's reaction")
    wire_factor: float = Field(ge=1, le=16, description="cells filled per byte on the wire")

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        if isinstance(value, dict) and type(value.get("wire_factor")) is int:
            return {**value, "wire_factor": float(value["wire_factor"])}
        return value


class AsicEntry(Model):
    """One chip, or single facts of a chip that is known: only what is written here is replaced."""

    name: FactText | None = None
    aliases: Names = ()
    models: Names = Field(default=(), description="switch models and SONiC hardware SKUs with this chip")
    cell: Bytes | None = Field(default=None, description="bytes of one buffer cell")
    buffer: Bytes | None = Field(default=None, description="packet buffer of the whole chip")
    slices: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="parts of the buffer that cannot lend to each other"
    )
    port: Speed | None = Field(default=None, description="fastest port")
    headroom: HeadroomFit | None = None

    @model_validator(mode="after")
    def _sizes(self) -> Self:
        if not self.model_fields_set:
            raise invalid("nothing is stated of this chip", "state cell, buffer, port, models or headroom")
        for key, least, most in (("cell", 32, 16_384), ("buffer", 1_000_000, 10**12)):
            value = getattr(self, key)
            if value is not None and not least <= value <= most:
                raise invalid(f"{key} {value:,} B is outside {least:,} B to {most:,} B", "is the unit right?", key)
        return self

    def row(self) -> dict[str, Any]:
        """The stated facts in the shape of the shipped ASIC table."""
        made: dict[str, Any] = {
            "name": self.name,
            "aliases": list(self.aliases) or None,
            "models": list(self.models) or None,
            "cell_bytes": self.cell,
            "buffer_bytes": self.buffer,
            "usable_bytes": self.buffer,
            "slices": self.slices,
            "port_gbps": None if self.port is None else self.port // 1000,
        }
        if self.headroom is not None:
            fit = self.headroom
            made["headroom"] = {"base_bytes": fit.base, "fixed_us": fit.fixed, "wire_factor": fit.wire_factor}
        return {key: value for key, value in made.items() if value is not None}


class TableEntry(Model):
    """A headroom table of the site: a ``pg_profile_lookup.ini`` or CSV file, and the models that it belongs to."""

    file: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="path, relative to the site")
    models: Annotated[tuple[FactText, ...], Field(min_length=1), Several] = Field(
        description="switch models or SONiC hardware SKUs, as the inventory names them"
    )


def _quanta(value: Any) -> Any:
    if value not in (1810, 905):
        raise invalid("the peer's reaction at 800G is 1810 or 905 quanta", "write 905 to reproduce SONiC")
    return value


class TuningSettings(Model):
    """What a site knows better than the shipped tables."""

    quanta_800g: Annotated[Literal[1810, 905], BeforeValidator(_quanta)] = Field(
        default=1810,
        description="quanta within which a peer stops at 800G: 1810 keeps the time of 400G, 905 is SONiC's figure",
    )
    asics: dict[AsicKey, AsicEntry] = Field(default_factory=dict)
    headroom_tables: Annotated[tuple[TableEntry, ...], Several] = ()
