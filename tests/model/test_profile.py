"""What a profile accepts and what it refuses, and with which words."""
# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from rocetune.model.invalid import Fault, Invalid
from rocetune.model.profile import Ecn, Profile

BASE: dict[str, Any] = {
    "name": "ai",
    "classes": {
        "roce": {"dscp": [26], "priority": 3, "lossless": True, "bandwidth": "50%"},
        "cnp": {"dscp": [48], "priority": 6, "strict": True},
        "default": {"priority": 0, "bandwidth": "50%"},
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The base profile with one value set; None removes it."""
    result = copy.deepcopy(BASE)
    *above, last = path.split(".")
    inner = result
    for step in above:
        inner = inner.setdefault(step, {})
    if value is None:
        inner.pop(last)
    else:
        inner[last] = value
    return result


def faults(data: dict[str, Any]) -> list[Fault]:
    """The faults that our own rules find."""
    with pytest.raises(ValidationError) as caught:
        Profile.model_validate(data, context={"file": True})
    found: list[Fault] = []
    for item in caught.value.errors():
        inner = item.get("ctx", {}).get("error")
        if item["type"] == "literal_error":  # "or the word off": the other branch of the union
            continue
        assert isinstance(inner, Invalid), item
        found.extend(inner.faults)
    return found


def test_numbers_are_plain_after_reading() -> None:
    profile = Profile.model_validate(changed("classes.roce.pfc", {"headroom": "150KB", "watchdog": {"detect": "0.1s"}}))
    roce = profile.classes["roce"]
    assert roce.pfc.headroom == 150_000
    assert roce.pfc.watchdog != "off"
    assert roce.pfc.watchdog.detect == 100.0
    assert roce.bandwidth == 50.0
    assert roce.dscp == (26,)


@pytest.mark.parametrize("ecn", ["off", {"objective": "off"}, {"objective": "off", "kmin": "auto"}])
def test_ecn_off_has_one_form(ecn: Any) -> None:
    assert Profile.model_validate(changed("classes.roce.ecn", ecn)).classes["roce"].ecn == "off"


@pytest.mark.parametrize("ecn", [{"preset": "hpcc"}, {"objective": {"preset": "hpcc"}}])
def test_a_preset_has_one_form(ecn: Any) -> None:
    found = Profile.model_validate(changed("classes.roce.ecn", ecn)).classes["roce"].ecn
    assert found == Ecn(preset="hpcc")


def test_a_lossless_class_is_marked_unless_it_says_otherwise() -> None:
    profile = Profile.model_validate(BASE)
    assert profile.classes["roce"].ecn == Ecn()
    assert profile.classes["default"].ecn is None
    assert "ecn" not in profile.classes["roce"].model_fields_set


def test_the_only_class_has_the_whole_link() -> None:
    profile = Profile.model_validate({"name": "x", "classes": {"default": {"priority": 0}}})
    assert profile.classes["default"].bandwidth == 100.0


def test_a_dumped_profile_reads_back() -> None:
    data = changed("classes.roce.pfc", {"headroom": "150KB", "watchdog": {"detect": "100ms"}})
    profile = Profile.model_validate(data)
    assert Profile.model_validate(profile.model_dump()) == profile
    assert Profile.model_validate(profile.model_dump(exclude_unset=True)) == profile


@pytest.mark.parametrize(
    ("path", "value", "text", "at"),
    [
        ("classes.default.priority", 3, "classes roce and default are both on priority 3", "classes.default.priority"),
        ("classes.default.dscp", [26], "DSCP 26 belongs to both roce and default", "classes.default.dscp.0"),
        ("classes.roce.dscp", [26, 26], "DSCP 26 is listed twice", "dscp"),
        ("classes.default.bandwidth", "40%", "the shares make 90%, not 100%", "classes.default.bandwidth"),
        ("classes.default.bandwidth", None, "the class has no share of the link", "classes.default"),
        ("classes.default.bandwidth", "0%", "a share of 0% would starve the class", "bandwidth"),
        ("classes.default.bandwidth", "49.5%", "not a whole percent", "bandwidth"),
        ("classes.cnp.bandwidth", "5%", "a strict class is served first and has no share", "bandwidth"),
        ("classes.roce.dscp", None, "a lossless class without DSCP", "lossless"),
        ("classes.default.pfc", {"xoff": "1MB"}, "pfc belongs to a lossless class only", "pfc"),
        ("classes.cnp.lossless", True, "congestion notifications must not be lossless", "classes.cnp.lossless"),
        ("classes.cnp.priority", 3, "share priority 3 with the lossless class roce", "classes.cnp.priority"),
        ("classes.cnp.dscp", [26], "share DSCP 26 with the lossless class roce", "classes.cnp.dscp"),
        ("classes.roce.ecn", {"kmin": "2MB", "kmax": "1MB"}, "kmin 2 MB is above kmax 1 MB", "kmin"),
        ("classes.roce.ecn", {"pmax": "0%"}, "pmax 0% marks nothing", "pmax"),
        ("classes.roce.ecn", {"objective": "off", "kmin": "1MB"}, "kmin is set although objective is off", "kmin"),
        ("classes.roce.pfc", {"xoff": "10KB", "xon": "10KB"}, "xon 10000 B is not below xoff 10000 B", "xon"),
        ("classes.roce.pfc", {"alpha": 1000}, "alpha 1000 is outside", "alpha"),
        ("classes.roce.pfc", {"watchdog": {"detect": "1ms"}}, "detect is outside 10ms to 60s", "detect"),
        ("classes.roce.pfc", {"watchdog": {"restore": "100ms"}}, "restore 100ms is shorter than detect 200ms", "restore"),
        ("classes.other", {"priority": 1, "bandwidth": "10%"}, "both have no DSCP", "classes.other"),
        ("host_mtu", 9216, "", ""),
        ("mtu", 8000, "servers would send 9000 byte packets into switch ports of 8000", "mtu"),
        ("host_mtu", 4191, "an RDMA MTU of 4096 needs a host_mtu of 4192, not 4191", "host_mtu"),
        ("overrides", [{"match": {}, "mtu": 9000}], "match is empty", ""),
        ("overrides", [{"match": {"role": "x"}, "classes": {"rocce": {}}}], "has no class rocce", "overrides.0.classes.rocce"),
        ("name", "A B", "is not a profile name", ""),
        ("classes.ro ce", {"priority": 1}, "is not a class name", ""),
    ],
)  # fmt: skip
def test_contradictions(path: str, value: Any, text: str, at: str) -> None:
    data = changed(path, value)
    if not text:
        Profile.model_validate(data)
        return
    found = [fault for fault in faults(data) if text in fault.text]
    assert found, [fault.text for fault in faults(data)]
    assert ".".join(map(str, found[0].path)) == at
    assert found[0].remedy


def test_the_smallest_host_mtu_for_4096() -> None:
    # linux include/rdma/ib_addr.h: 4096 + 96 bytes of headers
    assert Profile.model_validate(changed("host_mtu", 4192)).host_mtu == 4192


def test_foreign_classes_count_in_the_sum() -> None:
    data = changed("classes.routing", {"dscp": [56], "priority": 7, "owner": "other", "bandwidth": "10%"})
    assert "the shares make 110%" in faults(data)[0].text
    data["classes"]["default"]["bandwidth"] = "40%"
    Profile.model_validate(data)


def test_bare_numbers_of_a_file_need_a_unit() -> None:
    data = changed("classes.roce.pfc", {"watchdog": {"detect": 200.0}})
    with pytest.raises(ValidationError, match="a time needs its unit"):
        Profile.model_validate(data, context={"file": True})
    Profile.model_validate(data)
