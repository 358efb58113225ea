"""How a person reaches an emulated device, and the words of a fault that was set."""

from pathlib import Path

import pytest

from rocetune.lab.device import Fault
from rocetune.lab.faults import filled, lasting
from rocetune.lab.login import ssh_command
from rocetune.lab.overlay import Endpoint


def _endpoint(root: Path) -> Endpoint:
    return Endpoint("gpu01", "ssh", "127.0.0.1", 2201, "admin", "-", root / "known_hosts", root / "key")


def test_ssh_uses_the_labs_keys_and_nothing_of_the_user(tmp_path: Path) -> None:
    words = ssh_command(_endpoint(tmp_path / "my rack"), "mlnx_qos -i ens11np0")
    assert words[:3] == ["ssh", "-F", "none"] and words[-2:] == ["admin@127.0.0.1", "mlnx_qos -i ens11np0"]
    assert f'UserKnownHostsFile="{tmp_path}/my rack/known_hosts"' in words
    assert {"StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "GlobalKnownHostsFile=/dev/null"} <= set(words)
    assert ssh_command(_endpoint(tmp_path))[-1] == "admin@127.0.0.1"


@pytest.mark.parametrize(
    ("said", "fault", "words"),
    [
        (
            "rail1: PORT has another MTU (VALUE, default 1500)",
            Fault("mtu", "rail1", "4000"),
            "rail1 has another MTU (4000)",
        ),
        ("rail1: PORT has another MTU (VALUE, default 1500)", Fault("mtu", "rail1"), "rail1 has another MTU (1500)"),
        ("PORT maps a DSCP wrongly (VALUE: DSCP:PRIORITY, default 0)", Fault("x", "r0"), "r0 maps a DSCP wrongly"),
        ("PORT sends pause (VALUE: priority)", Fault("storm", "r0", "3"), "r0 sends pause (3)"),
        ("lines that contain VALUE are refused", Fault("x", None, r"a\1b"), r"lines that contain a\1b are refused"),
        ("Ethernet1/1 has MTU 1500", Fault("mtu", "Ethernet1/1"), "Ethernet1/1 has MTU 1500"),
    ],
)
def test_no_template_word_is_left_in_a_confirmation(said: str, fault: Fault, words: str) -> None:
    assert filled(said, fault) == words


def test_a_setting_changed_once_is_told_from_a_condition() -> None:
    assert lasting("slow") and lasting("storm") and not lasting("mtu")
