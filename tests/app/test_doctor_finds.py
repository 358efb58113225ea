"""Every fault of the lab is found under the catalogue's id at the right device and port, and its fix makes it healthy.

The fix is typed as the finding prints it, into the device that the finding (or its "on DEVICE:" line) names.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocetune.app.diagnosis import doctor
from rocetune.model.finding import Finding
from rocetune.model.outcome import DoctorReport
from tests.app.rack import Rack, rack

pytestmark = pytest.mark.lab

# fault: (device, fault, port, value) -> (id, device, port as the finding names it)
FAULTS = [
    (("gpu01", "wrong_trust", "rail0", None), ("MAP-001", "gpu01", "rail0")),
    (("gpu01", "wrong_map", "rail0", None), ("MAP-003", "gpu01", "rail0")),
    (("gpu01", "pfc_missing", "rail0", None), ("PFC-001", "gpu01", "rail0")),
    (("gpu01", "mtu", "rail0", None), ("MTU-001", "gpu01", "rail0")),
    (("gpu01", "tos", "rail0", None), ("APP-001", "gpu01", "rail0")),
    (("gpu01", "cnp_dscp", "rail0", None), ("CNP-001", "gpu01", "rail0")),
    (("gpu01", "ecn_off", "rail0", None), ("CC-001", "gpu01", "rail0")),
    (("gpu01", "stall_timer", "rail0", None), ("WD-008", "gpu01", "rail0")),
    (("gpu01", "dcbx_firmware", "rail0", None), ("DCBX-001", "gpu01", "rail0")),
    (("gpu01", "global_pause", "rail0", None), ("PFC-010", "gpu01", "rail0")),
    (("gpu01", "lldpad", None, None), ("DCBX-001", "gpu01", None)),
    (("leaf1", "wrong_trust", "Ethernet1/1", None), ("MAP-002", "leaf1", "Ethernet1/1")),
    (("leaf1", "wrong_map", None, None), ("MAP-004", "leaf1", None)),
    (("leaf1", "pfc_missing", "Ethernet1/1", None), ("PFC-002", "leaf1", "Ethernet1/1")),
    (("leaf1", "ecn_missing", "Ethernet1/1", None), ("ECN-001", "leaf1", "Ethernet1/1")),
    (("leaf1", "mtu", "Ethernet1/1", None), ("MTU-002", "leaf1", "Ethernet1/1")),
    (("leaf1", "watchdog_off", "Ethernet1/1", None), ("WD-001", "leaf1", "Ethernet1/1")),
    (("leaf2", "wrong_trust", "Ethernet0", None), ("MAP-002", "leaf2", "Ethernet0")),
    (("leaf2", "wrong_map", None, None), ("MAP-004", "leaf2", None)),
    (("leaf2", "pfc_missing", "Ethernet0", None), ("PFC-002", "leaf2", "Ethernet0")),
    (("leaf2", "headroom_missing", "Ethernet0", None), ("BUF-002", "leaf2", "Ethernet0")),
    (("leaf2", "mtu", "Ethernet0", None), ("MTU-002", "leaf2", "Ethernet0")),
    (("leaf2", "watchdog_off", "Ethernet0", None), ("WD-001", "leaf2", "Ethernet0")),
    (("leaf2", "wred_flag_missing", None, None), ("ECN-009", "leaf2", None)),
    (("leaf2", "big_red_switch", None, None), ("WD-007", "leaf2", None)),
]

STORMS = [
    ("rail0", "leaf1", ["configure", "interface Ethernet1/1", "no shutdown"]),
    ("rail1", "leaf2", ["sudo config interface startup Ethernet0"]),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    with rack(tmp_path_factory.mktemp("rack")) as served:
        report = served.apply()
        assert report.verdict == "applied", report.problems
        yield served


def examine(site: Rack) -> DoctorReport:
    return doctor(site.ws, interval_s=1.2)


def type_in(site: Rack, finding: Finding, only: str | None = None) -> None:
    """Type a finding's fix as a person would; a line "on DEVICE:" changes the device. ``only`` on this one."""
    by_device: dict[str, list[str]] = {}
    device = finding.device
    for line in finding.fix:
        if line.startswith("on ") and line.endswith(":"):
            device = line[3:-1].split()[0]
        else:
            by_device.setdefault(device, []).append(line)
    for name, lines in by_device.items():
        if only not in (None, name):
            continue
        emulator = site.lab.emulator(name)
        if emulator.transport == "eapi":
            emulator.run_cmds(["enable", *(line.strip() for line in lines)], "text")
        else:
            done = emulator.run("\n".join(lines), b"")
            assert done.status == 0, (lines, done.stderr)


def test_a_healthy_rack_yields_no_finding(site: Rack) -> None:
    report = examine(site)
    assert report.findings == ()
    assert report.verdict == "healthy"


@pytest.mark.parametrize(("fault", "expected"), FAULTS, ids=lambda pair: "-".join(str(part) for part in pair if part))
def test_found_and_mended(
    site: Rack, fault: tuple[str, str, str | None, str | None], expected: tuple[str, str, str | None]
) -> None:
    device, name, port, value = fault
    site.lab.fault(device, name, port, value)
    try:
        report = examine(site)
        found = {(item.id, item.device): item for item in report.findings if item.verdict == "fail"}
        places = {(item.id, item.device, item.port) for item in report.findings if item.verdict == "fail"}
        if expected[2] is None:
            assert (expected[0], expected[1]) in found, places
        else:
            assert expected in places
        for finding in report.findings:
            if finding.verdict == "fail" and not finding.id.startswith(("DRF-", "SYM-", "FW-004")):
                assert finding.fix, "a finding without a fix"
                type_in(site, finding)
        after = examine(site)
        assert [(item.id, item.device, item.port, item.observed) for item in after.findings] == []
    finally:
        site.lab.clear()
        mended = site.apply()
        assert mended.verdict in ("applied", "unchanged"), mended.problems


@pytest.mark.parametrize(("rail", "leaf", "up"), STORMS, ids=["arista_eos", "sonic"])
def test_a_storm_is_traced_to_its_nic_and_the_fix_frees_the_switch(
    site: Rack, rail: str, leaf: str, up: list[str]
) -> None:
    site.lab.fault("gpu01", "storm", rail)
    try:
        report = examine(site)
        root = next(item for item in report.findings if item.id == "STM-010")
        assert (root.device, root.port, root.verdict) == ("gpu01", rail, "fail")
        assert root.folded > 0
        type_in(site, root, leaf)  # isolates; the reset of the NIC that follows is not emulated
        after = examine(site)
        assert not [item for item in after.findings if item.device == leaf and item.id.startswith(("STM", "CTR"))]
    finally:
        site.lab.clear()
    emulator = site.lab.emulator(leaf)  # the NIC was replaced: the port is opened again
    if emulator.transport == "eapi":
        emulator.run_cmds(["enable", *up], "text")
    else:
        assert emulator.run("\n".join(up), b"").status == 0
    assert examine(site).verdict == "healthy"


def test_settings_lost_at_reboot_are_found_and_one_apply_mends_them(site: Rack) -> None:
    site.lab.fault("gpu01", "lost_at_reboot")
    report = examine(site)
    ids = {item.id for item in report.findings if item.device == "gpu01" and item.verdict == "fail"}
    assert {"FW-004", "MAP-001"} & ids, ids
    site.lab.clear()
    assert site.apply().verdict == "applied"
    assert examine(site).verdict == "healthy"


def test_settings_survive_a_reboot_of_every_device(site: Rack) -> None:
    for device in ("leaf1", "leaf2", "gpu01"):
        site.lab.reboot(device)
    assert examine(site).verdict == "healthy"
    assert site.apply().verdict == "unchanged"
