"""A site as a whole: the shipped demo rack, networks per port, settings, and places for later errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocetune.model.plan import PlanProblem
from rocetune.site.errors import SiteErrors
from rocetune.site.site import load_site
from tests.site.conftest import Errors, Load, write

ROOT = Path(__file__).resolve().parents[2]


def test_the_shipped_site_is_the_demo_rack() -> None:
    site = load_site(ROOT)
    assert site.warnings == ()
    assert set(site.profiles) >= {"ai-training", "inference", "storage", "lossy-roce", "pfc-only"}
    fabric = site.fabric
    assert list(fabric.devices) == ["leaf1", "leaf2", "gpu01", "gpu02", "gpu03", "gpu04"]
    assert [device.platform for device in fabric.devices.values()] == ["arista_eos", "sonic"] + ["linux"] * 4
    assert {len(fabric.ports[name]) for name in ("leaf1", "leaf2")} == {32}
    for h in range(1, 5):
        for r in range(8):
            port = fabric.port(f"gpu0{h}", f"rail{r}")
            assert port is not None
            far = (
                ("leaf1", f"Ethernet{(h - 1) * 4 + r + 1}/1")
                if r < 4
                else ("leaf2", f"Ethernet{((h - 1) * 4 + (r - 4)) * 8}")
            )
            assert port.peer == far
            assert (port.network, port.rail, port.speed_mbps) == ("backend", r, 400_000)
            assert (port.medium, port.cable_m, port.select) == ("dac", 2.0, f"netdev:ens{11 + r}np0")
            other = fabric.port(*far)
            assert other is not None
            assert other.peer == (f"gpu0{h}", f"rail{r}")
            assert (other.network, other.rail, other.speed_mbps, other.cable_m) == ("backend", r, 400_000, 2.0)
        storage = fabric.port(f"gpu0{h}", "stor0")
        assert storage is not None
        assert storage.peer == ("leaf2", f"Ethernet{128 + 8 * (h - 1)}")
        assert (storage.network, storage.speed_mbps, storage.cable_m) == ("storage", 100_000, 3.0)
        management = fabric.port(f"gpu0{h}", "mgmt0")
        assert management is not None
        assert (management.network, management.manage, management.peer) == ("mgmt", "none", None)
    unused = fabric.port("leaf1", "Ethernet32/1")
    assert unused is not None
    assert (unused.network, unused.peer) == (None, None)
    assert fabric.networks["mgmt"].profile is None
    assert fabric.networks["storage"].profile is site.profiles["storage"]


def test_shipped_classes_fit_on_one_switch() -> None:
    """A switch has one DSCP map: profiles that share one must agree on every code point."""
    site = load_site(ROOT)
    points: dict[int, int] = {}
    for name in ("ai-training", "storage"):
        for item in site.profiles[name].classes.values():
            for dscp in item.dscp:
                assert points.setdefault(dscp, item.priority) == item.priority


def test_no_shipped_file_holds_a_secret() -> None:
    for path in (*ROOT.glob("inventory/*.yaml"), *ROOT.glob("profiles/*.yaml"), ROOT / "rocetune.yaml"):
        lines = [line.split("#")[0] for line in path.read_text(encoding="utf-8").splitlines()]
        assert not any("password:" in line or "secret:" in line for line in lines)


@pytest.mark.parametrize(
    ("settings", "place", "text", "remedy"),
    [
        ("networks: {backend: {profile: aii}}\n", "1:31", "there is no profile 'aii'", "did you mean ai?"),
        ("networks: {backend: {profle: ai}}\n", "1:22", "unknown key 'profle'", "did you mean profile?"),
        ("networks: {Back end: {profile: ai}}\n", "1:12", "'Back end' is not a network name", ""),
        ("networks: {backend: {profile: ai, ports: {}}}\n", "1:42", "an empty matcher would take every port", "role"),
        ("inventory: {plugin: netbox}\n", "1:21", "inventory plug-in 'netbox' is not supported yet", "plugin: files"),
        ("inventory: {path: nowhere}\n", "1:19", "there is no folder nowhere", "correct"),
        ("limits: {wave: 0}\n", "1:16", "limits.wave: 0 is out of range", "at least 1"),
        ("limts: {}\n", "1:1", "unknown key 'limts'", "did you mean limits?"),
        ("- 1\n", "1:1", "rocetune.yaml must hold a mapping", "key: value"),
    ],
)
def test_settings_errors(errors: Errors, settings: str, place: str, text: str, remedy: str) -> None:
    found = errors({"rocetune.yaml": settings})
    hits = [error for error in found if error.place == f"rocetune.yaml:{place}" and text in error.text]
    assert hits, [(error.place, error.text) for error in found]
    assert remedy in hits[0].remedy


def test_profiles_are_looked_for_in_the_site_then_among_the_shipped(load: Load) -> None:
    own = "name: storage\nclasses: {default: {priority: 0}}\n"
    networks = "networks:\n  backend: {profile: storage, ports: {role: rail}}\n  mgmt: {profile: none}\n"
    assert set(load({"rocetune.yaml": networks}).profiles["storage"].classes) == {"storage", "cnp", "default"}
    assert set(load({"rocetune.yaml": networks, "profiles/storage.yaml": own}).profiles["storage"].classes) == {
        "default"
    }


def test_without_settings_nothing_is_managed(load: Load) -> None:
    groups = "gpu: {platform: linux, data: {ports: {'rail[0-1]': {role: rail}}}}\n"
    site = load({"rocetune.yaml": None, "inventory/groups.yaml": groups})
    assert "no network and no managed port" in site.warnings[0].text
    assert all(port.network is None for ports in site.fabric.ports.values() for port in ports)


def test_manage_is_never_stronger_than_the_device(load: Load) -> None:
    groups = (
        "gpu: {platform: linux, data: {manage: observe, ports: {rail0: {role: rail}, "
        "rail1: {role: rail, manage: full}, mgmt0: {manage: none}}}}\n"
    )
    ports = load({"inventory/groups.yaml": groups}).fabric.ports["gpu01"]
    assert [port.manage for port in ports] == ["observe", "observe", "none"]


def test_another_inventory_folder(tmp_path: Path) -> None:
    write(tmp_path, {})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "hosts.yaml").write_text("leaf7: {platform: sonic}\n", encoding="utf-8")
    assert list(load_site(tmp_path, tmp_path / "other").fabric.devices) == ["leaf7"]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(SiteErrors, match="there is no such folder"):
        load_site(tmp_path / "absent")


def test_locate(load: Load) -> None:
    site = load()
    assert str(site.locate("hosts", "gpu02")) == "inventory/hosts.yaml:4:1"
    assert str(site.locate("profiles", "ai", "classes", "roce", "pfc", "headroom")) == "profiles/ai.yaml:3:9"
    assert str(site.locate("site", "networks", "backend", "profile")) == "rocetune.yaml:2:22"
    assert site.locate("profiles", "absent") is None
    assert site.locate("anything") is None


def test_a_problem_of_the_planner_gets_its_line(load: Load) -> None:
    site = load()
    problem = PlanProblem("leaf1:Ethernet0", "headroom too small", "use auto", "ai", ("classes", "roce", "bandwidth"))
    error = site.explain(problem)
    assert error.place == "profiles/ai.yaml:3:62"
    assert error.render().splitlines()[0] == "profiles/ai.yaml:3:62: leaf1:Ethernet0: headroom too small"
    assert "^" in error.render()
    assert site.explain(PlanProblem("leaf1", "no chip", "name it")).place == "leaf1"
    chip = PlanProblem("leaf1", "no such chip", "name it", field=("hosts", "leaf1", "asic"))
    assert site.explain(chip).place == "inventory/hosts.yaml:3:28"
    assert str(site.locate("hosts", "gpu01", "role")) == "inventory/groups.yaml:4:11"


_FILES = ("inventory/hosts.yaml", "inventory/groups.yaml", "inventory/defaults.yaml", "inventory/links.yaml",
          "rocetune.yaml", "profiles/ai.yaml", "profiles/storage.yaml")  # fmt: skip


@pytest.mark.parametrize("name", _FILES)
@pytest.mark.parametrize("kind", ["dangling", "loop", "folder", "pipe", "yml"])
def test_what_stands_in_the_place_of_a_file_is_an_error(tmp_path: Path, name: str, kind: str) -> None:
    """Never "there is no such file", and never the shipped profile of that name instead."""
    write(tmp_path, {})
    path = tmp_path / name
    path.unlink(missing_ok=True)
    shown, text = name, ""
    if kind == "dangling":
        path.symlink_to("nowhere.yaml")
        text = "the link leads nowhere: nowhere.yaml"
    elif kind == "loop":
        path.symlink_to(path.name)
        text = "the link leads in a circle"
    elif kind == "folder":
        path.mkdir()
        text = "this is a folder"
    elif kind == "pipe":
        os.mkfifo(path)
        text = "this is no regular file"
    else:
        path.with_suffix(".yml").write_text("{}\n", encoding="utf-8")
        shown, text = name.replace(".yaml", ".yml"), f"only {path.name} is read"
    with pytest.raises(SiteErrors) as caught:
        load_site(tmp_path)
    assert (shown, True) in [(error.file, text in error.text and bool(error.remedy)) for error in caught.value.errors]


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, {})
    path = tmp_path / "inventory/links.yaml"
    path.rename(tmp_path / "cabling.yaml")
    path.symlink_to("../cabling.yaml")
    assert load_site(tmp_path).fabric.ports["leaf1"][0].peer is not None


def test_profiles_that_is_no_folder(tmp_path: Path) -> None:
    write(tmp_path, {"profiles/ai.yaml": None, "rocetune.yaml": "networks: {backend: {profile: storage}}\n"})
    (tmp_path / "profiles").symlink_to("nowhere")
    with pytest.raises(SiteErrors, match="profiles: this is no folder"):
        load_site(tmp_path)
