"""A small site in a temporary folder whose files a test replaces one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rocetune.site.errors import SiteError, SiteErrors
from rocetune.site.site import Site, load_site

SOUND: Mapping[str, str] = {
    "rocetune.yaml": "networks:\n  backend: {profile: ai, ports: {role: rail}}\n  mgmt: {profile: none}\n",
    "profiles/ai.yaml": (
        "name: ai\n"
        "classes:\n"
        "  roce: {dscp: [26], priority: 3, lossless: true, bandwidth: 50%}\n"
        "  cnp: {dscp: [48], priority: 6, strict: true}\n"
        "  default: {priority: 0, bandwidth: 50%}\n"
    ),
    "inventory/hosts.yaml": (
        'leaf1:\n  platform: sonic\n  data: {role: leaf, asic: Tomahawk 3}\n"gpu[01-02]":\n  groups: [gpu]\n'
    ),
    "inventory/groups.yaml": (
        "gpu:\n"
        "  platform: linux\n"
        "  data:\n"
        "    role: gpu\n"
        "    ports:\n"
        '      "rail[0-1]": {role: rail, rail: "{n}", netdev: "ens{n}np0"}\n'
        "      mgmt0: {role: mgmt, network: mgmt, manage: none}\n"
    ),
    "inventory/links.yaml": (
        '- {a: "leaf1:Ethernet{((h-1)*2+r)*8}", b: "gpu{h:02}:rail{r}", for: {h: 1-2, r: 0-1}, speed: 400G, '
        "medium: dac, length: 2m}\n"
    ),
}

Load = Callable[..., Site]
Errors = Callable[..., list[SiteError]]


def write(root: Path, files: Mapping[str, str | None]) -> None:
    """The sound site with some files replaced; None leaves one out."""
    for name, text in {**SOUND, **files}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load the sound site with some files replaced."""

    def run(files: Mapping[str, str | None] | None = None) -> Site:
        write(tmp_path, files or {})
        return load_site(tmp_path)

    return run


@pytest.fixture
def errors(tmp_path: Path) -> Errors:
    """The errors of the sound site with some files replaced; [] when there are none."""

    def run(files: Mapping[str, str | None]) -> list[SiteError]:
        write(tmp_path, files)
        try:
            load_site(tmp_path)
        except SiteErrors as found:
            return list(found.errors)
        return []

    return run
