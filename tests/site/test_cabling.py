"""links.yaml: indexes, both ends, and every way to get a cable wrong."""
# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import pytest

from rocetune.site.cabling import reach_m
from tests.site.conftest import Errors, Load

LEAF = "leaf1: {platform: sonic, data: {ports: {'Ethernet[0-56:8]': {speeds: [100G, 400G]}}}}\n"
HOSTS = LEAF + "spine1: {platform: arista_eos}\n" + '"gpu[01-02]": {groups: [gpu]}\n'


@pytest.mark.parametrize(
    ("links", "place", "text", "remedy"),
    [
        ("- {a: 'leaf9:Ethernet0', b: 'gpu01:rail0'}\n", "1:7", "leaf9 is not a device of the inventory", "did you mean leaf1?"),
        ("- {a: 'leaf1:Ethernet{h*8}', b: 'gpu{h:02}:rail0', for: {h: 1-4}}\n", "1:33", "gpu03 is not a device of the inventory (h=3) (and 1 more like it on this line)", "gpu0"),
        ("- {a: 'leaf1:Ethernet4', b: 'gpu01:rail0'}\n", "1:7", "leaf1 has no port Ethernet4", "did you mean Ethernet"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail7'}\n", "1:29", "gpu01 has no port rail7", "did you mean rail"),
        ("- {a: 'leaf1', b: 'gpu01:rail0'}\n", "1:7", "'leaf1' does not name a port", "device:port"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0'}\n- {a: 'leaf1:Ethernet0', b: 'gpu01:rail1'}\n", "2:7", "leaf1:Ethernet0 is linked twice: to gpu01:rail0 in inventory/links.yaml:1:3, and to gpu01:rail1", "one cable"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu{h:02}:rail0', for: {h: 1-2}}\n", "1:7", "leaf1:Ethernet0 is linked twice: to gpu01:rail0 in this line, and to gpu02:rail0 (h=2)", "index h is not used in a"),
        ("- {a: 'leaf1:Ethernet0', b: 'leaf1:Ethernet0'}\n", "1:3", "leaf1:Ethernet0 is linked to itself", "two different"),
        ("- {a: 'leaf1:Ethernet[0-16:8]', b: 'gpu01:rail[0-1]'}\n", "1:7", "the ranges do not pair up: 'leaf1:Ethernet[0-16:8]' names 3 ports, 'gpu01:rail[0-1]' names 2", "same number"),
        ("- {a: 'leaf1:Ethernet{h*8}', b: 'gpu01:rail0', for: {h: 1, q: 1-2}}\n", "1:53", "index q is used in neither end", "remove it"),
        ("- {a: 'leaf1:Ethernet{x*8}', b: 'gpu01:rail0', for: {h: 1}}\n", "1:7", "uses x, which is no index here", "known: h"),
        ("- {a: 'leaf1:Ethernet{h/8}', b: 'gpu01:rail0', for: {h: 1}}\n", "1:7", "divides with /", "//"),
        ("- {a: 'leaf1:Ethernet{h-8}', b: 'gpu01:rail0', for: {h: 1}}\n", "1:7", "{h-8} is -7 for h=1", "negative"),
        ("- {a: 'leaf1:Ethernet{h', b: 'gpu01:rail0', for: {h: 1}}\n", "1:7", "without '}'", ""),
        ("- {a: 'leaf1:Ethernet{h}', b: 'gpu01:rail0', for: {h: 7-1}}\n", "1:55", "runs backwards", "1-7"),
        ("- {a: 'leaf1:Ethernet{h}', b: 'gpu01:rail0', for: {h: x}}\n", "1:55", "'x' is not a range", ""),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', speed: 200G}\n", "1:51", "leaf1:Ethernet0 cannot run at 200G", "100G, 400G"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', speed: 400}\n", "1:51", "a speed needs its unit", ""),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', speed: 400G, medium: dac, length: 5m}\n", "1:78", "5 m is beyond the reach of dac at 400G, 3 m", "another medium"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', medium: sr, length: 300m}\n", "1:64", "300 m is beyond the reach of sr, 100 m", ""),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', medium: copper}\n", "1:52", "'copper' is not a value it can have", "dac"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', length: 2}\n", "1:52", "a length needs its unit", ""),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', length: 0m}\n", "1:52", "more than 0 m", ""),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', network: mgmt}\n", "1:3", "", ""),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', rail: 5}\n", "1:3", "gpu01:rail0 is on rail 0, the link says 5", "correct rail"),
        ("- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', network: nowhere}\n", "1:3", "there is no network 'nowhere'", "backend, mgmt"),
        ("- {a: 'spine1:Ethernet 1', b: 'leaf1:Ethernet0'}\n", "1:7", "is not a port name", ""),
        ("- {a: 'leaf1:Ethernet0'}\n", "1:3", "key 'b' is missing", "add it"),
        ("a: x\n", "1:1", "links.yaml must hold a list", "- {a:"),
        ("- 5\n", "1:3", "a mapping is needed here", ""),
    ],
)  # fmt: skip
def test_every_error_has_place_reason_and_remedy(
    errors: Errors, links: str, place: str, text: str, remedy: str
) -> None:
    found = errors({"inventory/hosts.yaml": HOSTS, "inventory/links.yaml": links})
    if not text:
        assert found == []
        return
    hits = [error for error in found if error.place == f"inventory/links.yaml:{place}" and text in error.text]
    assert hits, [(error.place, error.text) for error in found]
    assert remedy in hits[0].remedy


def test_a_declared_speed_binds_the_link(errors: Errors) -> None:
    groups = "gpu: {platform: linux, data: {ports: {stor0: {role: rail, speed: 100G}}}}\n"
    link = "- {a: 'leaf1:Ethernet0', b: 'gpu01:stor0', speed: 400G}\n"
    found = errors({"inventory/groups.yaml": groups, "inventory/links.yaml": link})
    assert "gpu01:stor0 runs at 100G, the link at 400G" in found[0].text


def test_a_declared_speed_decides_the_reach(errors: Errors) -> None:
    groups = "gpu: {platform: linux, data: {ports: {rail0: {role: rail, speed: 400G}}}}\n"
    link = "- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', medium: dac, length: 4m}\n"
    found = errors({"inventory/groups.yaml": groups, "inventory/links.yaml": link})
    assert "4 m is beyond the reach of dac at 400G, 3 m" in found[0].text


def test_both_ends_in_different_networks(errors: Errors) -> None:
    found = errors(
        {
            "rocetune.yaml": "networks:\n  backend: {profile: ai, ports: {role: rail}}\n"
            "  other: {profile: none, ports: {device: leaf1}}\n",
            "inventory/links.yaml": "- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0'}\n",
            "inventory/groups.yaml": "gpu: {platform: linux, data: {ports: {rail0: {role: rail}}}}\n",
        }
    )
    assert len(found) == 1
    assert "leaf1:Ethernet0 is in network other, gpu01:rail0 in backend" in found[0].text


def test_a_port_that_two_networks_take(errors: Errors) -> None:
    found = errors(
        {
            "rocetune.yaml": "networks:\n  backend: {profile: ai, ports: {role: rail}}\n"
            "  other: {profile: none, ports: {device: [gpu01], role: [rail, mgmt]}}\n  mgmt: {profile: none}\n",
        }
    )
    assert any("gpu01:rail0 is taken by several networks: backend, other" in error.text for error in found)


def test_the_example_of_the_design(load: Load) -> None:
    """One line for a rail-optimised pod: 8 leaves, 32 servers."""
    site = load(
        {
            "inventory/hosts.yaml": '"leaf[00-07]": {platform: sonic}\n"gpu[001-032]": {groups: [gpu]}\n',
            "inventory/groups.yaml": 'gpu: {platform: linux, data: {ports: {"rail[0-7]": {role: rail, rail: "{n}"}}}}\n',
            "inventory/links.yaml": '- {a: "leaf{r:02}:Ethernet{h*4}", b: "gpu{h:03}:rail{r}", '
            "for: {r: 0-7, h: 1-32}, speed: 400G, medium: dac, length: 2m}\n",
        }
    )
    assert sum(len(site.fabric.ports[f"leaf{r:02}"]) for r in range(8)) == 256
    port = site.fabric.port("leaf05", "Ethernet128")
    assert port is not None
    assert port.peer == ("gpu032", "rail5")
    assert (port.network, port.rail, port.speed_mbps, port.medium, port.cable_m) == ("backend", 5, 400_000, "dac", 2.0)


def test_brackets_pair_by_position(load: Load) -> None:
    site = load({"inventory/links.yaml": '- {a: "leaf1:Ethernet[8,0]", b: "gpu01:rail[0-1]"}\n'})
    ports = {name: site.fabric.port("leaf1", name) for name in ("Ethernet0", "Ethernet8")}
    assert {name: port.peer for name, port in ports.items() if port} == {
        "Ethernet8": ("gpu01", "rail0"),
        "Ethernet0": ("gpu01", "rail1"),
    }


def test_what_a_link_may_say(load: Load) -> None:
    site = load(
        {
            "inventory/hosts.yaml": "leaf1: {platform: sonic}\nleaf2: {platform: sonic}\n"
            '"gpu[01-02]": {groups: [gpu]}\n',
            "rocetune.yaml": "networks:\n  backend: {profile: ai, ports: {role: [rail, fabric]}}\n  mgmt: {profile: none}\n",
            "inventory/links.yaml": "- {a: 'leaf1:Ethernet0', b: 'gpu01:rail0', lag: PortChannel1, bond: bond0, mlag: 1,"
            " breakout: {parent: Ethernet0, lane: 2}}\n"
            "- {a: 'leaf1:Ethernet8', b: 'leaf2:Ethernet8', role: peer-link, lag: {a: PortChannel9, b: PortChannel7}}\n"
            "- {a: 'leaf1:Ethernet16', b: 'leaf2:Ethernet16'}\n",
        }
    )
    first, server = site.fabric.port("leaf1", "Ethernet0"), site.fabric.port("gpu01", "rail0")
    assert first and server
    assert (first.lag, first.mlag, first.breakout, first.link_role) == ("PortChannel1", 1, ("Ethernet0", 2), "host")
    assert (server.lag, server.mlag, server.breakout, server.link_role) == ("bond0", None, None, "host")
    peer_a, peer_b = site.fabric.port("leaf1", "Ethernet8"), site.fabric.port("leaf2", "Ethernet8")
    assert peer_a and peer_b
    assert (peer_a.lag, peer_b.lag, peer_a.link_role, peer_a.network) == (
        "PortChannel9",
        "PortChannel7",
        "peer-link",
        None,
    )
    fabric = site.fabric.port("leaf2", "Ethernet16")
    assert fabric and (fabric.role, fabric.link_role, fabric.network) == ("fabric", "fabric", "backend")


@pytest.mark.parametrize(
    ("medium", "speed", "metres"),
    [  # tuning reference 7.3
        ("dac", 25_000, 5), ("dac", 100_000, 5), ("dac", 200_000, 3), ("dac", 400_000, 3), ("dac", 800_000, 3),
        ("aoc", 400_000, 100), ("sr", 400_000, 100), ("vr", 400_000, 50), ("dr", 400_000, 500), ("fr", 400_000, 2000),
        ("lr", 100_000, 10_000), ("dac", None, 5), ("er", 100_000, None), (None, 100_000, None),
    ],
)  # fmt: skip
def test_reach(medium: str | None, speed: int | None, metres: float | None) -> None:
    assert reach_m(medium, speed) == metres


@pytest.mark.parametrize(
    ("platform", "ports", "names", "wrong"),
    [
        ("sonic", '"Ethernet[1-4]/1"', "Ethernet{h+r*2}/1", True),
        ("sonic", '"Ethernet[0-24:8]"', "Ethernet{((h-1)*2+r)*8}", False),
        ("arista_eos", '"swp[1-4]"', "swp{h+r*2}", True),
        ("arista_eos", '"Ethernet[1-4]/1"', "Ethernet{h+r*2}/1", False),
        ("arista_eos", '"Et[1-4]/1/1"', "Et{h+r*2}/1/1", False),
    ],
)
@pytest.mark.parametrize("declared", [True, False])
def test_a_name_that_the_platform_cannot_have(
    errors: Errors, platform: str, ports: str, names: str, wrong: bool, declared: bool
) -> None:
    data = f"{{ports: {{{ports}: {{}}, oob0: {{manage: none}}}}}}" if declared else "{}"
    found = errors(
        {
            "inventory/hosts.yaml": f'leaf1:\n  platform: {platform}\n  data: {data}\n"gpu[01-02]": {{groups: [gpu]}}\n',
            "inventory/links.yaml": f'- {{a: "leaf1:{names}", b: "gpu{{h:02}}:rail{{r}}", for: {{h: 1-2, r: 0-1}}}}\n',
        }
    )
    places = ["inventory/hosts.yaml:3:18" if declared else "inventory/links.yaml:1:3"] if wrong else []
    assert [error.place for error in found] == places, found
    assert all(f"is no port of platform {platform}" in error.text and error.remedy for error in found)
