"""A site: a folder with profiles, inventory, cabling and settings, read and checked as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rocetune.model.fabric import Fabric, Port, Tuning
from rocetune.model.inventory import SiteSettings
from rocetune.model.plan import PlanProblem
from rocetune.model.profile import Profile
from rocetune.site import yaml
from rocetune.site.cabling import Cabling
from rocetune.site.combinations import check_combinations
from rocetune.site.errors import Problems, SiteError, suggest
from rocetune.site.inventory import Host, Inventory, load_inventory
from rocetune.site.matching import check_matchers
from rocetune.site.profiles import Shelf
from rocetune.site.resolve import build, devices, specs_by_device
from rocetune.site.sources import Map, Place, Position, Sources, find
from rocetune.site.tuning import read_tuning
from rocetune.site.validate import validate

SETTINGS_FILE = "rocetune.yaml"


@dataclass(frozen=True, slots=True)
class Site:
    """Everything a user wrote, without one error in it. ``inventory`` holds connection data by device name."""

    root: Path
    fabric: Fabric
    profiles: Mapping[str, Profile]
    inventory: Mapping[str, Host]
    settings: SiteSettings
    warnings: tuple[SiteError, ...] = ()
    _sources: Sources = field(repr=False, default_factory=lambda: Sources(Path()))
    _trees: Mapping[str, Mapping[str, Map]] = field(repr=False, default_factory=dict)
    _hosts: Inventory = field(repr=False, default_factory=Inventory)

    def unassigned_ports(self) -> tuple[Port, ...]:
        """Listed ports that belong to no network, so nothing is planned for them; without those of ``manage: none``."""
        return tuple(
            port
            for ports in self.fabric.ports.values()
            for port in ports
            if port.network is None and port.manage != "none"
        )

    def locate(self, *path: Any) -> Position | None:
        """Where something was written; the deepest known place on the way, None where nothing is known.

        Paths are ``("profiles", "ai-training", "classes", "roce", "ecn")``, ``("hosts", "leaf1")``,
        ``("hosts", "leaf1", "asic")`` (be it written in a group) or ``("site", "networks", "backend")``.
        """
        place = self._place(*path)
        return None if place is None else self._sources.position(place)

    def _place(self, *path: Any) -> Place | None:
        kind, *rest = path or ("",)
        if kind == "hosts" and rest:
            return self._hosts.place(*rest[:2])
        if kind == "profiles" and rest:
            tree = self._trees["profiles"].get(rest[0])
            return None if tree is None else find(tree, rest[1:])
        if kind == "site":
            return find(self._trees["site"].get(""), rest)
        return None

    def explain(self, problem: PlanProblem) -> SiteError:
        """A planner's problem with the line that caused it, of a profile or of the inventory, where that is known."""
        path = ("profiles", problem.profile, *problem.field) if problem.profile else problem.field
        place = self._place(*path)
        if place is None:
            return SiteError(problem.where or "plan", 0, 0, problem.text, problem.remedy)
        at = self._sources.position(place)
        text = problem.text if problem.where in ("", at.file) else f"{problem.where}: {problem.text}"
        return SiteError(at.file, at.line, at.column, text, problem.remedy, self._sources.line(place))


def load_site(root: Path, inventory: Path | None = None) -> Site:
    """Read a site folder; ``inventory`` replaces its inventory folder. Raises SiteErrors with all errors at once."""
    root = root.resolve()
    sources = Sources(root)
    problems = Problems(sources)
    if not root.is_dir():
        problems.error(
            None, "there is no such folder", "name a site with --site, or make one: rocetune init", file=str(root)
        )
        problems.check()
    settings, settings_tree = _settings(root, problems)
    settings_sound = not problems.errors
    shelf = Shelf(root, problems)
    profiles = _profiles(settings, settings_tree, shelf, problems)
    folder = _folder(root, inventory, settings, settings_tree, problems)
    before = len(problems.errors)
    hosts = load_inventory(folder, problems)
    complete = before == len(problems.errors)
    found = devices(hosts, problems, complete=complete)
    specs = specs_by_device(hosts, problems)
    cabling = Cabling(specs, problems, complete=complete)
    if yaml.exists(folder / "links.yaml", problems):
        cabling.read(folder / "links.yaml")
    tuning = read_tuning(root, settings.tuning, settings_tree, problems)
    fabric, used = build(found, specs, hosts, cabling, settings, profiles, problems, settings_sound=settings_sound)
    if not problems.errors:
        check_matchers(fabric, settings, settings_tree, used, problems)
        check_combinations(fabric, shelf.trees, problems)
    problems.check()
    return Site(
        root=root,
        fabric=replace(fabric, tuning=tuning),
        profiles=profiles,
        inventory=hosts.hosts,
        settings=settings,
        warnings=tuple(problems.warnings),
        _sources=sources,
        _trees={"profiles": shelf.trees, "site": {"": settings_tree}},
        _hosts=hosts,
    )


def load_tuning(root: Path) -> Tuning:
    """``tuning:`` of a folder's rocetune.yaml alone, empty without the file. Raises SiteErrors."""
    problems = Problems(Sources(root))
    if not (root / SETTINGS_FILE).exists():
        return Tuning()
    settings, tree = _settings(root, problems)
    tuning = read_tuning(root, settings.tuning, tree, problems)
    problems.check()
    return tuning


def _settings(root: Path, problems: Problems) -> tuple[SiteSettings, Map]:
    path = root / SETTINGS_FILE
    noted = len(problems.errors)
    if not yaml.exists(path, problems):
        if len(problems.errors) > noted:
            return SiteSettings(), Map()
        problems.warn(
            None,
            "there is no such file, so no network and no managed port",
            "create it with networks:",
            file=SETTINGS_FILE,
        )
        return SiteSettings(), Map()
    tree = yaml.load(path, problems.sources, problems)
    if tree is None:
        return SiteSettings(), Map()
    settings = validate(SiteSettings, tree, problems)
    if settings is not None and settings.inventory.plugin != "files":
        problems.error(
            find(tree, ("inventory", "plugin")),
            f"inventory plug-in {settings.inventory.plugin!r} is not supported yet",
            "this release reads files only: plugin: files",
        )
    if settings is not None and not settings.networks:
        problems.warn(tree.start, "no network is defined, so no port is managed", "add networks:")
    return settings or SiteSettings(), tree


def _profiles(settings: SiteSettings, tree: Map, shelf: Shelf, problems: Problems) -> dict[str, Profile]:
    """All profiles of the site, and the shipped ones that its networks use."""
    for name in shelf.names(shipped=False):
        if shelf.path(name) is None:
            problems.error(
                None,
                "the file name is not a profile name",
                "lower-case letters, digits and '-'",
                file=f"profiles/{name}.yaml",
            )
        else:
            shelf.load(name)
    for network, entry in settings.networks.items():
        if entry.profile == "none":
            continue
        if shelf.path(entry.profile) is None:
            problems.error(
                find(tree, ("networks", network, "profile")),
                f"there is no profile {entry.profile!r}",
                suggest(entry.profile, shelf.names(), "profiles"),
            )
        else:
            shelf.load(entry.profile)
    return dict(shelf.models)


def _folder(root: Path, given: Path | None, settings: SiteSettings, tree: Map, problems: Problems) -> Path:
    if given is not None:
        return given.resolve()
    path = settings.inventory.path
    if path is None:
        return root / "inventory"
    folder = (root / path).resolve()
    if not folder.is_dir():
        problems.error(find(tree, ("inventory", "path")), f"there is no folder {path}", "correct the path")
    return folder
