"""hosts, groups and defaults: resolved as Nornir does, and every wrong value named."""
# ruff: noqa: E501 (one case a line)

from __future__ import annotations

from pathlib import Path

import pytest
from nornir.plugins.inventory import SimpleInventory

from rocetune.site import secrets
from rocetune.site.errors import Problems
from rocetune.site.inventory import load_inventory
from rocetune.site.sources import Sources
from tests.site.conftest import Errors, Load

NORNIR = {
    "hosts.yaml": """
one:
  groups: [a, b]
  port: 2222
  data: {site: here}
two:
  groups: [b]
  username: own
  hostname: 192.0.2.2
  connection_options: {netmiko: {port: 23, extras: {fast_cli: true}}}
three: {}
""",
    "groups.yaml": """
a: {groups: [a1, a2], username: from-a, data: {role: leaf, x: a}}
a1: {groups: [top], platform: sonic, data: {x: a1, y: a1}}
a2: {platform: linux, connection_options: {netmiko: {extras: {global_delay_factor: 2}}}}
b: {groups: [a2, top], platform: arista_eos, data: {x: b, z: b}}
top: {username: top, port: 1022, data: {y: top, w: top}, connection_options: {napalm: {port: 8443}}}
""",
    "defaults.yaml": """
username: default
platform: linux
data: {w: default, v: default}
connection_options: {netmiko: {username: by-default, extras: {other: 1}}}
""",
}


def test_resolution_is_nornirs(tmp_path: Path) -> None:
    for name, text in NORNIR.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    problems = Problems(Sources(tmp_path))
    ours = load_inventory(tmp_path, problems)
    assert problems.errors == []
    theirs = SimpleInventory(
        str(tmp_path / "hosts.yaml"), str(tmp_path / "groups.yaml"), str(tmp_path / "defaults.yaml")
    ).load()
    assert set(ours.hosts) == set(theirs.hosts)
    for name, host in theirs.hosts.items():
        mine = ours.hosts[name]
        assert mine.hostname == (host.hostname or name)
        assert (mine.port, mine.username, mine.platform) == (host.port, host.username, host.platform)
        assert list(mine.all_groups) == [group.name for group in host.extended_groups()]
        assert dict(mine.data) == host.extended_data()
        for plugin in ("netmiko", "napalm"):
            option = host._get_connection_options_recursively(plugin)
            mine_option = mine.connection_options.get(plugin)
            if mine_option is None:
                assert not any((option.port, option.username, option.extras))
            else:
                assert (mine_option.port, mine_option.username) == (option.port, option.username)
                assert mine_option.extras == option.extras


@pytest.mark.parametrize(
    ("file", "content", "place", "text", "remedy"),
    [
        ("hosts", "leaf1: {platform: sonic, prot: 22}\n", "1:26", "unknown key 'prot'", "did you mean port?"),
        ("hosts", "leaf1: {platform: sonic, port: 70000}\n", "1:32", "port: 70000 is out of range", "65535"),
        ("hosts", "leaf1: {platform: sonic, groups: leaf}\n", "1:34", "a list is needed here, not text 'leaf'", "[26]"),
        ("hosts", "leaf1: {platform: sonic, groups: [lef]}\n", "1:35", "there is no group 'lef'", "gpu"),
        ("hosts", "leaf1: {platform: sonik}\n", "1:19", "platform sonik of leaf1 is not installed", "did you mean sonic?"),
        ("hosts", "leaf1: {}\n", "1:1", "leaf1 has no platform", "set platform"),
        ("hosts", "leaf1: 5\n", "1:1", "leaf1 needs a mapping", "as in"),
        ("hosts", "1: {platform: sonic}\n", "1:1", "1 is read as a number", '"1"'),
        ("hosts", "'leaf 1': {platform: sonic}\n", "1:1", "'leaf 1' is not a device name", "letters"),
        ("hosts", "'leaf1;reboot': {platform: sonic}\n", "1:1", "is not a device name", "letters"),
        ("hosts", "'leaf[1-3': {platform: sonic}\n", "1:1", "'[' without ']'", "gpu[01-04]"),
        ("hosts", "'leaf[3-1]': {platform: sonic}\n", "1:1", "runs backwards", "1-3"),
        ("hosts", "leaf1: {platform: sonic}\n'leaf[1-2]': {platform: sonic}\n", "2:1", "leaf1 is already defined in inventory/hosts.yaml:1:1", "split"),
        ("hosts", "leaf1: {platform: sonic, hostname: 'a b'}\n", "1:36", "neither an IP address nor a DNS name", "192.0.2.10"),
        ("hosts", "leaf1: {platform: sonic, hostname: 192.0.2.300}\n", "1:36", "neither an IP address nor a DNS name", ""),
        ("hosts", "leaf1: {platform: sonic, hostname: '192.0.2.{n}'}\n", "1:36", "uses n, which is no index here", ""),
        ("hosts", "leaf1: {platform: sonic, username: 'a; rm'}\n", "1:36", "is not a user name", ""),
        ("hosts", "leaf1: {platform: sonic, data: {rolle: leaf}}\n", "1:33", "unknown key 'rolle' in data", "did you mean role?"),
        ("hosts", "leaf1: {platform: sonic, data: {role: 'a b'}}\n", "1:39", "is not a plain name", ""),
        ("hosts", "leaf1: {platform: sonic, data: {manage: ful}}\n", "1:41", "'ful' is not a value it can have", "did you mean full?"),
        ("hosts", "leaf1: {platform: sonic, data: {globals: all}}\n", "1:42", "'all' is not a value", "one of: extend, exclusive, refuse"),
        ("hosts", "leaf1: {platform: sonic, data: {os_version: 202411}}\n", "1:45", "text is needed here, not 202411", "quotes"),
        ("hosts", "leaf1: {platform: sonic, data: {asic: 'x`y'}}\n", "1:39", "is not a plain fact", ""),
        ("hosts", "leaf1: {platform: sonic, data: {failure_domain: 'a/b'}}\n", "1:49", "failure_domain", ""),
        ("hosts", "leaf1: {platform: sonic, data: {ports: {Ethernet0: {sped: 1G}}}}\n", "1:53", "unknown key 'sped'", "did you mean speed?"),
        ("hosts", "leaf1: {platform: sonic, data: {ports: {Ethernet0: {speed: 400}}}}\n", "1:60", "a speed needs its unit", ""),
        ("hosts", "leaf1: {platform: sonic, data: {ports: {Ethernet0: {speed: 300G}}}}\n", "1:60", "300G is not an Ethernet speed", "400G"),
        ("hosts", "leaf1: {platform: sonic, data: {ports: {Ethernet0: {speed: 400G, speeds: [100G]}}}}\n", "1:60", "the port cannot have this speed", ""),
        ("hosts", "leaf1: {platform: sonic, data: {ports: {'Eth 0': {speed: 400G}}}}\n", "1:41", "'Eth 0' is not a port name", ""),
        ("hosts", "leaf1: {platform: sonic, data: {ports: {'e[0-1]': {}, e1: {}}}}\n", "1:55", "port e1 is listed twice", "split"),
        ("groups", "gpu: {groups: [up]}\nup: {groups: [gpu], platform: linux}\n", "2:14", "in a circle: gpu → up → gpu", "remove"),
        ("groups", "gpu: {groups: [gpu], platform: linux, connection_options: {napalm: {port: 22}}}\n", "1:15", "group gpu contains itself", "remove gpu from the groups of gpu"),
        ("groups", "gpu: {groups: [up]}\nup: {groups: [gpu], connection_options: {netmiko: {port: 22}}}\n", "2:14", "in a circle: gpu → up → gpu", "remove gpu from the groups of up"),
        ("groups", "gpu: {platform: linux, data: {ports: {'r[0-1]': {select: [netdev:a]}}}}\n", "1:39", "select lists 1 values for 2 ports", "one value per port"),
        ("groups", "gpu: {platform: linux, data: {ports: {'r[0-1]': {netdev: a}}}}\n", "1:39", "is the same for 2 ports", "{n}"),
        ("groups", "gpu: {platform: linux, data: {ports: {r0: {select: eth0}}}}\n", "1:39", "does not say what it selects by", "netdev:"),
        ("groups", "gpu: {platform: linux, data: {ports: {r0: {pci: '1a:00.0'}}}}\n", "1:39", "is not a PCI address", "0000:1a:00.0"),
        ("groups", "gpu: {platform: linux, data: {ports: {r0: {netdev: 'averyverylongname'}}}}\n", "1:39", "is not a network interface name", "15"),
        ("groups", "gpu: {platform: linux, data: {ports: {r0: {netdev: a}, r1: {netdev: a}}}}\n", "1:38", "ports r0 and r1 are bound to the same netdev a", ""),
        ("groups", "gpu: {platform: linux, data: {ports: {r0: {rail: '{q}'}}}}\n", "1:39", "uses q, which is no index here", "known: i"),
        ("groups", "gpu: {platform: linux, data: {ports: {r0: {network: nowhere}}}}\n", "1:53", "there is no network 'nowhere' (gpu01:r0)", "backend, mgmt"),
        ("defaults", "usrname: x\n", "1:1", "unknown key 'usrname'", "did you mean username?"),
        ("defaults", "- x\n", "1:1", "defaults.yaml must hold a mapping", ""),
    ],
)  # fmt: skip
def test_every_error_has_place_reason_and_remedy(
    errors: Errors, file: str, content: str, place: str, text: str, remedy: str
) -> None:
    found = errors({f"inventory/{file}.yaml": content, "inventory/links.yaml": None})
    hits = [error for error in found if error.place == f"inventory/{file}.yaml:{place}" and text in error.text]
    assert hits, [(error.place, error.text) for error in found]
    assert remedy in hits[0].remedy


def test_no_hosts_file(errors: Errors) -> None:
    found = errors({"inventory/hosts.yaml": None})
    assert found[0].text == "there is no hosts.yaml"
    assert "rocetune init" in found[0].remedy


def test_an_error_in_a_host_is_not_told_again_by_its_links(errors: Errors) -> None:
    found = errors({"inventory/hosts.yaml": 'leaf1: {platform: sonic, prot: 1}\n"gpu[01-02]": {groups: [gpu]}\n'})
    assert [error.text for error in found] == ["leaf1: unknown key 'prot'"]


def test_ranges_of_hosts_fill_their_address(load: Load) -> None:
    site = load(
        {
            "inventory/hosts.yaml": "leaf1: {platform: sonic}\n"
            '"gpu[01-02]": {groups: [gpu], hostname: "192.0.2.{n+100}", data: {failure_domain: "rack{n//2}"}}\n'
        }
    )
    assert [site.inventory[name].hostname for name in ("gpu01", "gpu02")] == ["192.0.2.101", "192.0.2.102"]
    assert [site.fabric.devices[name].failure_domain for name in ("gpu01", "gpu02")] == ["rack0", "rack1"]
    assert site.inventory["leaf1"].hostname == "leaf1"


@pytest.mark.parametrize(
    "content",
    [
        "leaf1: {platform: sonic, password: hunter2}\n",
        "leaf1:\n  platform: sonic\n  password:\n    hunter2\n",
        "leaf1: {platform: sonic, connection_options: {netmiko: {extras: {secret: hunter2}}}}\n",
        "leaf1: {platform: sonic, connection_options: {napalm: {password: hunter2}}}\n",
        "leaf1: {platform: sonic, data: {tacacs_password: hunter2}}\n",
    ],
)
def test_a_password_in_the_inventory_is_a_warning_that_does_not_show_it(load: Load, content: str) -> None:
    site = load({"inventory/hosts.yaml": content, "inventory/links.yaml": None})
    warnings = [warning for warning in site.warnings if "a secret stands in plain text" in warning.text]
    assert len(warnings) == 1
    assert "ROCETUNE_PASSWORD" in warnings[0].remedy
    assert "hunter2" not in "".join(warning.render() for warning in site.warnings)
    assert "hunter2" not in repr(site.inventory["leaf1"].password)
    assert "hunter2" not in repr(site.fabric)


def test_no_error_shows_a_password(errors: Errors) -> None:
    found = errors(
        {
            "inventory/hosts.yaml": "leaf1: {platform: sonic, password: hunter2, prot: 1}\n"
            "leaf2: {platform: sonic, password: [hunter2]}\n"
            "leaf3:\n  platform: sonic\n  password:\n    - hunter2\n"
            "leaf4: {password: 'hunter2\n",
        }
    )
    assert len(found) >= 3
    assert "hunter2" not in "".join(error.render() for error in found)


def test_passwords_come_from_the_environment_nearest_group_first(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCETUNE_PASSWORD", "common")
    monkeypatch.setenv("ROCETUNE_PASSWORD_GPU", "for-gpus")
    monkeypatch.setenv("ROCETUNE_USERNAME", "who")
    site = load()
    leaf, gpu = site.inventory["leaf1"], site.inventory["gpu01"]
    assert leaf.password is not None and leaf.password.get_secret_value() == "common"
    assert gpu.password is not None and gpu.password.get_secret_value() == "for-gpus"
    assert leaf.username == "who"
    assert "common" not in repr(leaf)
    assert site.warnings == ()


def test_names_of_variables() -> None:
    assert secrets.variable() == "ROCETUNE_PASSWORD"
    assert secrets.variable("rack-1.gpus") == "ROCETUNE_PASSWORD_RACK_1_GPUS"


@pytest.mark.parametrize(
    ("hosts", "place", "text"),
    [
        ("leaf1:\nplatform: sonic\ndata: {role: leaf}\n", ["2:1", "3:1"], "stands where a name is expected"),
        ("leaf1:\n  hostname: leaf1\n platform: sonic\n", ["3:2"], "the indentation or a bracket is wrong here"),
        ("leaf1:\n  hostname: leaf1\n    platform: sonic\n", ["3:13"], "a second ': '"),
    ],
)
def test_a_wrong_indent_is_one_error(errors: Errors, hosts: str, place: list[str], text: str) -> None:
    """Nothing about a missing platform, or about links to a device that is not whole."""
    found = errors({"inventory/hosts.yaml": hosts + '"gpu[01-02]": {groups: [gpu]}\n'})
    assert [error.place for error in found] == [f"inventory/hosts.yaml:{at}" for at in place], found
    assert text in found[0].text


def test_a_wrong_address_is_shown_where_it_was_written(errors: Errors) -> None:
    groups = "gpu:\n  platform: linux\n  hostname: '192.0.2.{n+255}'\n"
    found = errors({"inventory/groups.yaml": groups, "inventory/links.yaml": None})
    assert {error.place for error in found} == {"inventory/groups.yaml:3:13"}


def test_other_tools_may_keep_their_data(load: Load) -> None:
    site = load(
        {
            "inventory/hosts.yaml": "leaf1: {platform: sonic, data: {vlan_pool: 7}}\n"
            "leaf2: {platform: sonic, data: {vlan_pool: 8}}\n",
            "inventory/links.yaml": None,
        }
    )
    assert site.inventory["leaf2"].data["vlan_pool"] == 8
    assert [warning.place for warning in site.warnings if "vlan_pool" in warning.text] == ["inventory/hosts.yaml:1:33"]


def test_options_of_a_plugin_are_flat(load: Load) -> None:
    site = load(
        {
            "inventory/hosts.yaml": "leaf1: {platform: arista_eos, connection_options: {napalm: {port: 8443, "
            "extras: {timeout: 20, optional_args: {transport: https}}}}}\n",
            "inventory/links.yaml": None,
        }
    )
    leaf = site.inventory["leaf1"]
    assert leaf.options("napalm") == {"timeout": 20, "transport": "https", "port": 8443}
    assert leaf.options("netmiko") == {}


def test_facts_are_handed_on(load: Load) -> None:
    site = load(
        {
            "inventory/hosts.yaml": "leaf1: {platform: sonic, data: {asic: Tomahawk 3, hwsku: X-1, "
            'os_version: "202411", buffer_model: dynamic, facts: {nic_driver: inbox}}}\n',
            "inventory/links.yaml": None,
        }
    )
    assert site.fabric.devices["leaf1"].declared == {
        "asic": "Tomahawk 3",
        "hwsku": "X-1",
        "os_version": "202411",
        "buffer_model": "dynamic",
        "nic_driver": "inbox",
    }


@pytest.mark.parametrize(
    ("name", "select"),
    [("0000:1a:00.0", "pci:0000:1a:00.0"), ("aa:bb:cc:dd:ee:ff", "mac:aa:bb:cc:dd:ee:ff"), ("ens1f0np0", None)],
)
def test_a_port_may_be_named_by_its_hardware(load: Load, name: str, select: str | None) -> None:
    site = load(
        {
            "inventory/groups.yaml": f"gpu: {{platform: linux, data: {{ports: {{'{name}': {{role: rail}}}}}}}}\n",
            "inventory/links.yaml": f'- {{a: "leaf1:Ethernet0", b: "gpu01:{name}"}}\n',
        }
    )
    port = site.fabric.port("gpu01", name)
    assert port is not None
    assert port.select == select
    assert port.peer == ("leaf1", "Ethernet0")


def test_groups_may_be_nested_deeper_than_the_stack(errors: Errors) -> None:
    chain = "".join(f"g{n}: {{groups: [g{n + 1}]}}\n" for n in range(3000))
    groups = chain + "g3000: {connection_options: {netmiko: {port: 22}}}\ngpu: {platform: linux, groups: [g0]}\n"
    assert errors({"inventory/groups.yaml": groups, "inventory/links.yaml": None}) == []


def test_groups_that_meet_again_and_again_are_walked_once(errors: Errors) -> None:
    """Thirty diamonds in a row have 2^30 ways from top to bottom."""
    diamonds = "".join(
        f"a{n}: {{groups: [b{n}, c{n}]}}\nb{n}: {{groups: [a{n + 1}]}}\nc{n}: {{groups: [a{n + 1}]}}\n"
        for n in range(30)
    )
    groups = diamonds + "a30: {connection_options: {netmiko: {port: 22}}}\ngpu: {platform: linux, groups: [a0]}\n"
    assert errors({"inventory/groups.yaml": groups, "inventory/links.yaml": None}) == []


@pytest.mark.parametrize(
    ("hosts", "place", "text"),
    [
        ('"gpu[01-04]": {platform: linux, hostname: 192.0.2.1}\n', "1:43", "gpu01, gpu02, gpu03, gpu04 have one and the same address, 192.0.2.1"),
        ("a: {platform: sonic, hostname: LEAF1.example.}\nb: {platform: sonic, hostname: leaf1.example}\n", "2:32", "a, b have one"),
        ("a: {platform: sonic, hostname: '2001:db8::1', port: 22}\nb: {platform: sonic, hostname: '2001:DB8:0::1', port: 22}\n", "2:32", "2001:db8::1 port 22"),
        ("a: {platform: sonic}\nb: {platform: sonic, hostname: a}\n", "2:32", "a, b have one"),
    ],
)  # fmt: skip
def test_one_address_for_several_devices(errors: Errors, hosts: str, place: str, text: str) -> None:
    found = errors({"inventory/hosts.yaml": hosts, "inventory/links.yaml": None, "rocetune.yaml": "{}\n"})
    assert [error.place for error in found] == [f"inventory/hosts.yaml:{place}"], found
    assert text in found[0].text and "{100+n}" in found[0].remedy


@pytest.mark.parametrize(
    "hosts",
    [
        "a: {platform: sonic, hostname: 192.0.2.1, port: 1022}\nb: {platform: sonic, hostname: 192.0.2.1, port: 2022}\n",
        "a: {platform: sonic, hostname: h, connection_options: {netmiko: {port: 1}}}\nb: {platform: sonic, hostname: h, connection_options: {netmiko: {port: 2}}}\n",
        "a: {platform: sonic, hostname: h}\nb: {platform: sonic, hostname: h, data: {manage: none}}\n",
    ],
)  # fmt: skip
def test_one_address_with_several_ports_is_fine(errors: Errors, hosts: str) -> None:
    assert errors({"inventory/hosts.yaml": hosts, "inventory/links.yaml": None, "rocetune.yaml": "{}\n"}) == []
