"""Puts templates, profiles, schemas and the sample site into the wheel; an editable install uses the checkout."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = ("templates", "profiles", "inventory", "schemas", "rocetune.yaml")


class ShippedData(BuildHookInterface):
    """``version`` is "standard" for a wheel and "editable" for a development install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"].update({name: f"rocetune/_data/{name}" for name in SHIPPED})
