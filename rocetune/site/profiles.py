"""Profiles of a site: found by name, joined with what they extend, checked with each of their overrides."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from rocetune import resources
from rocetune.model.names import PROFILE
from rocetune.model.profile import Profile
from rocetune.model.rules import CNP
from rocetune.site import yaml
from rocetune.site.effective import label_of
from rocetune.site.errors import Problems, suggest
from rocetune.site.sources import Map, Seq, find, overlay, own_index, without
from rocetune.site.validate import FILE, explained, validate

_OWN = ("name", "description", "extends")  # never inherited


class Shelf:
    """All profiles that a site can name: its own first, then the shipped ones."""

    def __init__(self, root: Path, problems: Problems) -> None:
        self.problems = problems
        self.folders = [root / "profiles"]
        if resources.profiles().resolve() != self.folders[0].resolve():
            self.folders.append(resources.profiles())
        self.trees: dict[str, Map] = {}  # by profile name, extends applied
        self.models: dict[str, Profile] = {}
        self._read: dict[str, Map | None] = {}
        self._check_folder(self.folders[0])

    def _check_folder(self, own: Path) -> None:
        """What would be passed over in silence: something that is no folder, and files called .yml."""
        shown = self.problems.sources.shown
        if not own.is_dir() and os.path.lexists(own):
            remedy = "make it a folder: it holds one file per profile"
            self.problems.error(None, "this is no folder", remedy, file=shown(own))
        for path in sorted(own.glob("*.yml")) if own.is_dir() else ():
            self.problems.error(None, f"only {path.stem}.yaml is read", "rename it", file=shown(path))

    def names(self, *, shipped: bool = True) -> list[str]:
        """Names that can be used, sorted."""
        folders = self.folders if shipped else self.folders[:1]
        return sorted({path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.yaml")})

    def path(self, name: str) -> Path | None:
        """The file of a profile, the site's own first."""
        if PROFILE.fullmatch(name) is None:
            return None
        paths = (folder / f"{name}.yaml" for folder in self.folders)
        return next((path for path in paths if os.path.lexists(path)), None)

    def load(self, name: str) -> Profile | None:
        """A profile by name, or None after noting its errors. The file must exist."""
        if name in self._read:
            return self.models.get(name)
        tree = self._tree(name, ())
        if tree is None:
            return None
        self.trees[name] = tree
        model = validate(Profile, tree, self.problems)
        if model is None:
            return None
        if model.name != name:
            self.problems.error(
                find(tree, ("name",)),
                f"the file is called {name}.yaml, the profile {model.name}",
                f"write name: {name}",
            )
            return None
        self._name_overrides(tree, model)
        if self._overrides(tree, model):
            self._warn(tree, model)
            self.models[name] = model
        return self.models.get(name)

    def _tree(self, name: str, below: tuple[str, ...]) -> Map | None:
        """The raw profile with everything it extends."""
        if name in self._read:
            return self._read[name]
        path = self.path(name)
        assert path is not None, name
        readable = yaml.exists(path, self.problems)
        tree = yaml.load(path, self.problems.sources, self.problems) if readable else None
        self._read[name] = tree
        if tree is None or not isinstance(tree.get("extends"), str):
            return tree
        tree = self._read[name] = self._extended(tree, name, below)
        return tree

    def _extended(self, own: Map, name: str, below: tuple[str, ...]) -> Map | None:
        parent, place = own["extends"], find(own, ("extends",))
        chain = (*below, name)
        if parent in chain:
            self.problems.error(
                place, f"profiles extend each other in a circle: {' → '.join((*chain, parent))}", "remove one extends"
            )
            return None
        if self.path(parent) is None:
            self.problems.error(
                place, f"there is no profile {parent!r} to extend", suggest(parent, self.names(), "profiles")
            )
            return None
        base = self._tree(parent, chain)
        return None if base is None else joined(base, own)

    def _name_overrides(self, tree: Map, model: Profile) -> None:
        """Each override gets the file that holds it and its number there."""
        for number, override in enumerate(model.overrides):
            file = self.problems.sources.position(tree["overrides"].marks[number]).file
            if Path(file).is_absolute():  # a shipped profile: where it lies is of no interest
                file = f"shipped {Path(file).name}"
            override.came_from(f"{file} override {own_index(tree['overrides'], number) + 1}")

    def _overrides(self, tree: Map, model: Profile) -> bool:
        """Check the profile as each override makes it; True when all are sound."""
        sound = True
        plain = without(tree, "overrides")
        for number, override in enumerate(model.overrides):
            changed = overlay(plain, without(tree["overrides"][number], "match"))
            try:
                Profile.model_validate(changed, context=FILE)
            except ValidationError as error:
                sound = False
                for path, fault, key in explained(Profile, changed, error):
                    self.problems.error(
                        find(changed, path, key=key), f"with {label_of(number, override)}: {fault.text}", fault.remedy
                    )
        return sound

    def _warn(self, tree: Map, model: Profile) -> None:
        marked = [
            name for name, item in model.classes.items() if item.owner == "rocetune" and item.ecn not in (None, "off")
        ]
        place = find(tree, ("classes",), key=True)
        if marked and model.dcqcn.enabled and CNP not in model.classes:
            self.problems.warn(
                place,
                f"profile {model.name} has no class named {CNP}: congestion notifications travel with the rest",
                f"add {CNP}: {{dscp: [48], priority: 6, strict: true}}",
            )
        if marked and not model.dcqcn.enabled:
            self.problems.warn(
                find(tree, ("dcqcn", "enabled")) or place,
                f"profile {model.name} marks {', '.join(marked)}, but dcqcn is off: nobody slows down on a mark",
                "set ecn: off in the class, or dcqcn: {enabled: true}",
            )
        if not marked and model.dcqcn.enabled:
            self.problems.warn(
                place,
                f"profile {model.name} has dcqcn on, but no class is marked: it never acts",
                "give a class ecn: {objective: balanced}, or set dcqcn: {enabled: false}",
            )


def joined(parent: Map, child: Map) -> Map:
    """A profile over the one it extends. Overrides of the parent come first, so the child's win."""
    base = parent
    for name in _OWN:
        base = without(base, name)
    result = overlay(base, child)
    above, below = parent.get("overrides"), child.get("overrides")
    if isinstance(above, Seq) and isinstance(below, Seq):
        both = Seq(below.start)
        for part in (above, below):
            for value, place in zip(part, part.marks, strict=True):
                both.put(value, place)
        result["overrides"] = both
    return result
