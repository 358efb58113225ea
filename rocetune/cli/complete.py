"""Names that a shell can complete. Whatever goes wrong here, nothing is offered and nothing is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from rocetune.cli.options import Settings

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def _names(find: Callable[[Settings, click.Context], Iterable[str]]) -> Completer:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        try:
            return [name for name in find(ctx.ensure_object(Settings), ctx) if name.startswith(incomplete)]
        except Exception:  # an error text would end up in the line that is being typed
            return []

    return complete


def _runs(settings: Settings, _: click.Context) -> Iterable[str]:
    from rocetune.deploy import journal

    return reversed(journal.runs(settings.state))


def _lab_devices(settings: Settings, _: click.Context) -> Iterable[str]:
    from rocetune.lab import control

    return [item.name for item in control.status(settings.lab_root).devices]


def _faults(settings: Settings, ctx: click.Context) -> Iterable[str]:
    from rocetune.lab import control

    found = control.status(settings.lab_root)
    platform = next((item.platform for item in found.devices if item.name == ctx.params.get("device")), "")
    return found.known_faults.get(platform, ())


def _platforms(_: Settings, __: click.Context) -> Iterable[str]:
    from rocetune import platforms

    return platforms.names()


def _asics(_: Settings, __: click.Context) -> Iterable[str]:
    from rocetune.tuning.asics import table

    return [asic.key for asic in table()]


def _models(_: Settings, __: click.Context) -> Iterable[str]:
    from rocetune.tuning.asics import table

    return [model.split()[-1] for asic in table() for model in asic.models]


def _ecn_presets(_: Settings, __: click.Context) -> Iterable[str]:
    from rocetune.tuning.presets import ecn_presets

    return ecn_presets()


def _dcqcn_parameters(_: Settings, __: click.Context) -> Iterable[str]:
    from rocetune.tuning.dcqcn import PARAMETERS

    return [f"{name}=" for name in PARAMETERS]


runs = _names(_runs)
lab_devices = _names(_lab_devices)
faults = _names(_faults)
platforms = _names(_platforms)
asics = _names(_asics)
models = _names(_models)
ecn_presets = _names(_ecn_presets)
dcqcn_parameters = _names(_dcqcn_parameters)
