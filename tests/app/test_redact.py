"""What a bundle must not carry. Shapes of lines are those of EOS, SONiC and others; the secrets are invented."""

from __future__ import annotations

import json

import pytest

from rocetune.app.redact import addresses_removed, secrets_removed

LINES = [
    "username admin privilege 15 secret sha512 $6$SALT$S3CRET",
    "   password 7 S3CRET",
    "snmp-server community S3CRET ro",
    "snmp-server user ops network-admin v3 auth sha S3CRET priv aes S3CRET",
    "tacacs-server key 7 S3CRET",
    "radius-server host 192.0.2.1 key S3CRET",
    "ntp authentication-key 1 md5 S3CRET",
    "   ip ospf authentication-key 7 S3CRET",
    "   ip ospf message-digest-key 1 md5 S3CRET",
    "   isis authentication key S3CRET",
    "   neighbor 192.0.2.2 password 7 S3CRET",
    "   authentication text S3CRET",
    "   pre-shared-key S3CRET",
    '  "passkey": "S3CRET",',
    '{"auth_password": "S3CRET", "snmp_community": "S3CRET"}',
]


@pytest.mark.parametrize("line", LINES)
def test_the_secret_goes_and_the_next_line_stays(line: str) -> None:
    cleaned = secrets_removed(f"before\n{line}\n   mtu 9214\n")
    assert "S3CRET" not in cleaned
    assert cleaned.startswith("before\n")
    assert cleaned.endswith("\n   mtu 9214\n")


@pytest.mark.parametrize(
    "line",
    [
        "   description gpu01 token",
        "interface Ethernet1/1",
        "   priority-flow-control priority 3 no-drop",
        "tc: 0 ratelimit: unlimited, tsa: vendor",
        '"BUFFER_PG|Ethernet0|3": {"profile": "x"}',
    ],
)
def test_innocent_lines_stay(line: str) -> None:
    assert secrets_removed(line) == line


def test_json_stays_json() -> None:
    text = json.dumps({"TACPLUS": {"global": {"passkey": 'S3C"RET', "timeout": "5"}}, "token": 5})
    assert json.loads(secrets_removed(text)) == {
        "TACPLUS": {"global": {"passkey": "<removed>", "timeout": "5"}},
        "token": "<removed>",
    }


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::17", "fe80::1", "b8:59:9f:aa:bb:cc", "b859.9faa.bbcc"])
def test_addresses_go_on_demand(address: str) -> None:
    assert address not in addresses_removed(f"peer {address} up")


def test_times_and_names_are_no_addresses() -> None:
    text = "at 10:30:15 Ethernet1/1 pci 0000:1a:00.0"
    assert addresses_removed(text) == text
