"""Secrets are cut out of what is saved, and a JSON document stays one."""

import json

import pytest

from rocetune.app.collecting import cleaner
from rocetune.model.state import Reply


def _clean(text: str, redact: bool = False) -> str:
    return cleaner(redact)({"show": Reply(text)})["show"].text


@pytest.mark.parametrize(
    "line",
    ["snmp-server community S3cret ro", "username a secret sha512 S3cret", "   key-string 7 S3cret", "password=S3cret"],
)
def test_lines_lose_what_follows_the_word(line: str) -> None:
    text = _clean(f"hostname x\n{line}\nmtu 9214\n")
    assert "S3cret" not in text and "hostname x\n" in text and text.endswith("mtu 9214\n")


def test_a_database_can_still_be_parsed() -> None:
    tables = {
        "TACPLUS": {"global": {"passkey": 'S3"cret', "timeout": "5"}},
        "BGP_PEER": {"a": {"auth_password": "S3cret"}},
        "PORT": {"Ethernet0": {"mtu": "9100"}},
    }
    text = _clean(json.dumps(tables, indent=4))
    found = json.loads(text)
    assert "cret" not in text
    assert found["PORT"] == tables["PORT"] and found["TACPLUS"]["global"]["timeout"] == "5"


def test_a_database_on_one_line_too() -> None:
    tables = {"RADIUS": {"global": {"passkey": "S3cret", "src_ip": "192.0.2.1"}}}
    found = json.loads(_clean(json.dumps(tables)))
    assert found["RADIUS"]["global"] == {"passkey": "<removed>", "src_ip": "192.0.2.1"}


def test_addresses_go_on_demand_only() -> None:
    assert _clean("peer 192.0.2.1") == "peer 192.0.2.1"
    assert _clean("peer 192.0.2.1", redact=True) == "peer <address>"
