"""A typing error in a matcher never passes in silence."""
# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import pytest

from tests.site.conftest import SOUND, Errors, Load

RACK = 'leaf1:\n  platform: sonic\n  data: {role: leaf}\n"gpu[01-02]":\n  groups: [gpu]\n'
STOR = "  storage: {profile: ai, ports: {role: storage}}\n"


def settings(ports: str) -> str:
    return (
        "networks:\n  backend: {profile: ai, ports: {role: rail}}\n  mgmt: {profile: none}\n  other: {profile: ai, ports: "
        + (ports + "}\n")
    )


@pytest.mark.parametrize(
    ("ports", "place", "text", "remedy"),
    [
        ("{role: rial}", "4:38", "networks.other.ports.role: no port has the role 'rial'", "did you mean rail?"),
        ("{role: [rial]}", "4:39", "no port has the role 'rial', so network other has no port", "did you mean rail?"),
        ("{device: leaf2}", "4:40", "there is no device 'leaf2'", "did you mean leaf1?"),
        ("{device_role: lef}", "4:45", "no device has the role 'lef'", "did you mean leaf?"),
        ("{group: gpus}", "4:39", "no device is in a group 'gpus'", "did you mean gpu?"),
        ("{rail: 7}", "4:38", "no port is on rail 7", "rails: 0, 1"),
        ("{name: rail9}", "4:38", "no device has a port 'rail9'", "did you mean rail"),
        ("{role: mgmt, device: leaf1}", "4:31", "no port has role mgmt and device leaf1 together", "leave one"),
    ],
)
def test_a_matcher_that_takes_no_port(errors: Errors, ports: str, place: str, text: str, remedy: str) -> None:
    found = errors({"rocetune.yaml": settings(ports)})
    assert [error.place for error in found] == [f"rocetune.yaml:{place}"], found
    assert text in found[0].text
    assert remedy in found[0].remedy


def test_one_wrong_value_of_a_list_is_a_warning(load: Load) -> None:
    text = SOUND["rocetune.yaml"].replace("{role: rail}", "{role: [rail, rial]}")
    (warning,) = load({"rocetune.yaml": text}).warnings
    assert (warning.place, warning.remedy) == ("rocetune.yaml:2:47", "did you mean rail?")
    assert warning.text == "networks.backend.ports.role: no port has the role 'rial'"


def test_a_matcher_whose_ports_name_the_network_themselves(load: Load) -> None:
    text = SOUND["rocetune.yaml"].replace("{profile: none}", "{profile: none, ports: {role: mgmt}}")
    assert load({"rocetune.yaml": text}).warnings == ()


def test_a_site_without_ports_is_said_once(load: Load) -> None:
    site = load({"inventory/hosts.yaml": "leaf1: {platform: sonic}\n", "inventory/links.yaml": None})
    assert [warning.text for warning in site.warnings] == ["the inventory lists no port, so no network has one"]


@pytest.mark.parametrize(
    ("match", "text", "remedy"),
    [
        ("{network: backnd}", "(network=backnd) matches no port of network backend: there is no network 'backnd'", "did you mean backend?"),
        ("{network: mgmt}", "there is no network 'mgmt'", "networks with profile ai: backend"),
        ("{role: rial}", "no port or device has the role 'rial'", "did you mean rail?"),
        ("{rail: 5}", "no port is on rail 5", "rails: 0, 1"),
        ("{speed: 100G}", "no port runs at 100G", "speeds: 400G"),
        ("{cable: aoc}", "no cable is aoc", "cables: dac"),
        ("{device: gpu3}", "there is no device 'gpu3'", "did you mean gpu0"),
        ("{group: gpus}", "no device is in a group 'gpus'", "did you mean gpu?"),
        ("{device: leaf1, group: gpu}", "no port has all of it together", "leave one"),
    ],
)  # fmt: skip
def test_an_override_that_matches_no_port(load: Load, match: str, text: str, remedy: str) -> None:
    profile = SOUND["profiles/ai.yaml"] + "overrides:\n  - {match: {role: gpu}, mtu: 9100}\n"
    (warning,) = load({"profiles/ai.yaml": profile + f"  - {{match: {match}, mtu: 9050}}\n"}).warnings
    assert warning.place == "profiles/ai.yaml:8:13"
    assert warning.text.startswith("profiles/ai.yaml override 2 (")
    assert text in warning.text
    assert remedy in warning.remedy


def test_a_profile_made_for_larger_sites_may_name_their_roles(load: Load) -> None:
    profile = SOUND["profiles/ai.yaml"] + "overrides:\n  - {match: {role: spine}, mtu: 9100}\n"
    assert load({"profiles/ai.yaml": profile}).warnings == ()


def test_ports_of_no_network_are_counted(load: Load) -> None:
    hosts = RACK.replace("{role: leaf}", "{role: leaf, ports: {'Ethernet[0-56:8]': {}, e9: {manage: none}}}")
    site = load({"inventory/hosts.yaml": hosts})
    assert [port.name for port in site.unassigned_ports()] == ["Ethernet32", "Ethernet40", "Ethernet48", "Ethernet56"]
    assert load().unassigned_ports() == ()
