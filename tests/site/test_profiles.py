"""Profiles as files: places of errors, extends, overrides and who decided what."""
# ruff: noqa: E501 (one case a line)

from __future__ import annotations

from pathlib import Path

import pytest

from rocetune.model.plan import PlanProblem
from rocetune.model.profile import Ecn, Profile
from rocetune.site.effective import effective
from tests.site.conftest import Errors, Load

HEAD = "name: ai\nclasses:\n"
ROCE = "  roce: {dscp: [26], priority: 3, lossless: true, bandwidth: 50%}\n"
CNP = "  cnp: {dscp: [48], priority: 6, strict: true}\n"
REST = "  default: {priority: 0, bandwidth: 50%}\n"


@pytest.mark.parametrize(
    ("profile", "place", "text", "remedy"),
    [
        (HEAD + ROCE.replace("priority", "priorty") + REST, "3:22", "unknown key 'priorty' in classes.roce", "did you mean priority?"),
        (HEAD + ROCE.replace("priority", "priorty") + REST, "3:9", "key 'priority' is missing in classes.roce", "add it"),
        (HEAD + ROCE.replace("priority: 3", "priority: 8") + REST, "3:32", "classes.roce.priority: 8 is out of range", "it must be at most 7"),
        (HEAD + ROCE.replace("priority: 3", 'priority: "3"') + REST, "3:32", "a whole number is needed here, not text '3'", "without quotes"),
        (HEAD + ROCE.replace("[26]", "26") + REST, "3:16", "a list is needed here, not 26", "[26]"),
        (HEAD + ROCE.replace("[26]", "[64]") + REST, "3:17", "classes.roce.dscp[0]: 64 is out of range", "at most 63"),
        (HEAD + ROCE.replace("true", "yes") + REST, "3:45", "true or false is needed here, not text 'yes'", "on, off and yes are text"),
        (HEAD + ROCE.replace("50%", "50") + REST, "3:62", "classes.roce.bandwidth: a share needs its unit", "as in 50%"),
        (HEAD + ROCE.replace("50%}", "50%, pfc: {headroom: 100XB}}") + REST, "3:83", "unit 'XB' is not a unit of size", ""),
        (HEAD + ROCE.replace("50%}", "50%, pfc: {headroom: [1]}}") + REST, "3:83", "classes.roce.pfc.headroom: ", ""),
        (HEAD + ROCE.replace("50%}", "50%, pfc: {watchdog: {detect: 200}}}") + REST, "3:92", "a time needs its unit", ""),
        (HEAD + ROCE.replace("50%}", "50%, pfc: {watchdog: {action: drp}}}") + REST, "3:92", "'drp' is not a value it can have", "did you mean drop?"),
        (HEAD + ROCE.replace("50%}", "50%, pfc: {watchdog: on}}") + REST, "3:83", "watchdog", ""),
        (HEAD + ROCE.replace("50%}", "50%, ecn: {objective: balance}}") + REST, "3:84", "'balance' is not a value", "did you mean balanced?"),
        (HEAD + ROCE.replace("50%}", "50%, ecn: {objective: fast}}") + REST, "3:84", "'fast' is not a value", "latency, balanced, throughput, off"),
        (HEAD + ROCE.replace("50%}", "50%, ecn: {kmin: 4us}}") + REST, "3:79", "unit 'us' is not a unit of size", "4us at 400G is 200 KB"),
        (HEAD + ROCE.replace("50%}", "50%, ecn: {kmin: 2MB, kmax: 1MB}}") + REST, "3:79", "kmin 2 MB is above kmax 1 MB", "1 MB or less"),
        (HEAD + ROCE + REST.replace("priority: 0", "priority: 3"), "4:23", "classes roce and default are both on priority 3", "free priorities: 0, 1, 2, 4, 5, 6, 7"),
        (HEAD + ROCE + REST.replace("50%", "40%"), "4:37", "the shares make 90%, not 100%: roce 50% + default 40%", "add 10%"),
        (HEAD + ROCE + REST + "mtu: 9217\n", "5:6", "mtu: 9217 is out of range", "at most 9216"),
        (HEAD + ROCE + REST + "mtu: 4000\nhost_mtu: 4096\n", "6:11", "servers would send 4096 byte packets", "4000 or less"),
        (HEAD + ROCE + REST + "rdma_mtu: 3000\n", "5:11", "3000 is not a value it can have", "one of: 256, 512, 1024, 2048, 4096"),
        (HEAD + ROCE + REST + "dcbx: on\n", "5:7", "'on' is not a value it can have", ""),
        (HEAD.replace("ai", "other") + ROCE + REST, "1:7", "the file is called ai.yaml, the profile other", "name: ai"),
        (HEAD.replace("ai", "5") + ROCE + REST, "1:7", "name: text is needed here, not 5", "quotes"),
        ("name: ai\n", "1:1", "key 'classes' is missing", "add it"),
        ("- a\n", "1:1", "ai.yaml must hold a mapping", "key: value"),
        (HEAD + ROCE + REST + "extends: nothing\n", "5:10", "there is no profile 'nothing' to extend", ""),
        (HEAD + ROCE + REST + "overrides:\n  - {match: {role: spine}, classes: {rocce: {}}}\n", "6:45", "the profile has no class rocce", "classes: roce, default"),
        (HEAD + ROCE + REST + "overrides:\n  - {match: {rol: spine}, mtu: 9000}\n", "6:14", "unknown key 'rol' in override 1, match", "did you mean role?"),
        (HEAD + ROCE + REST + "overrides:\n  - {match: {speed: 100}, mtu: 9000}\n", "6:21", "a speed needs its unit", ""),
        (HEAD + ROCE + REST + "overrides:\n  - {match: {role: spine}, classes: {roce: {ecn: {objectiv: latency}}}}\n", "6:51", "with profiles/ai.yaml override 1 (role=spine): unknown key 'objectiv' in classes.roce.ecn", "did you mean objective?"),
        (HEAD + ROCE + REST + "overrides:\n  - {match: {role: spine}, mtu: 8000}\n", "6:33", "with profiles/ai.yaml override 1 (role=spine): mtu: servers would send 9000 byte packets", "8000 or less"),
    ],
)  # fmt: skip
def test_every_error_has_place_reason_and_remedy(
    errors: Errors, profile: str, place: str, text: str, remedy: str
) -> None:
    found = errors({"profiles/ai.yaml": profile})
    hits = [error for error in found if error.place == f"profiles/ai.yaml:{place}" and text in error.text]
    assert hits, [(error.place, error.text) for error in found]
    assert remedy in hits[0].remedy
    assert hits[0].source_line == profile.splitlines()[hits[0].line - 1]


def test_no_word_of_the_validation_library_is_shown(errors: Errors) -> None:
    found = errors(
        {
            "profiles/ai.yaml": "name: [1]\nclasses: {a: 5, b: {priority: x, dscp: {}, pfc: 1, ecn: [], marking: off}}\n"
            "mtu: 1.5\ndcqcn: on\noverrides: {}\ndescription: 7\nstorm_prevention: 5\n"
        }
    )
    assert len(found) >= 10
    for error in found:
        assert "nput should" not in error.render()
        assert "pydantic" not in error.render()
        assert error.line > 0


def test_all_errors_of_all_files_at_once(errors: Errors) -> None:
    found = errors(
        {
            "profiles/ai.yaml": HEAD + ROCE + REST + "dcbx: x\nmtu: 1\n",
            "profiles/second.yaml": "name: second\nclasses: {}\n",
            "rocetune.yaml": "netwroks: {}\n",
            "inventory/hosts.yaml": "leaf1: {platform: sonic, prot: 22}\n",
            "inventory/links.yaml": "- {a: x:1, b: y:1, sped: 400G}\n",
        }
    )
    assert {error.file for error in found} == {
        "profiles/ai.yaml",
        "profiles/second.yaml",
        "rocetune.yaml",
        "inventory/hosts.yaml",
        "inventory/links.yaml",
    }


def test_extends_takes_the_rest_from_the_other_file(load: Load) -> None:
    site = load(
        {
            "profiles/mine.yaml": "name: mine\nextends: ai\nclasses:\n  roce: {ecn: {objective: latency}}\nmtu: 9100\n"
            "overrides:\n  - {match: {role: spine}, mtu: 9050}\n",
        }
    )
    mine = site.profiles["mine"]
    assert mine.classes["roce"].dscp == (26,)
    assert mine.classes["roce"].ecn == Ecn(objective="latency")
    assert (mine.mtu, mine.host_mtu) == (9100, 9000)
    assert str(site.locate("profiles", "mine", "classes", "roce", "ecn", "objective")) == "profiles/mine.yaml:4:27"
    assert str(site.locate("profiles", "mine", "classes", "roce", "dscp")) == "profiles/ai.yaml:3:16"


def test_overrides_are_numbered_in_their_own_file(errors: Errors, load: Load) -> None:
    above = {"profiles/ai.yaml": HEAD + ROCE + CNP + REST + "overrides:\n  - {match: {role: spine}, mtu: 9100}\n"}
    mine = "name: mine\nextends: ai\noverrides:\n  - {match: {role: leaf}, mtu: 9050}\n"
    found = errors({**above, "profiles/mine.yaml": mine.replace("9050", "8000")})
    assert found[0].place == "profiles/mine.yaml:4:32"
    assert found[0].text.startswith("with profiles/mine.yaml override 1 (role=leaf): mtu")
    found = errors({**above, "profiles/mine.yaml": mine.replace("9050", "ten")})
    assert (found[0].place, found[0].text[:15]) == ("profiles/mine.yaml:4:32", "override 1, mtu")
    site = load({**above, "profiles/mine.yaml": mine})
    assert [item.origin for item in site.profiles["mine"].overrides] == [
        "profiles/ai.yaml override 1",
        "profiles/mine.yaml override 1",
    ]
    second = PlanProblem("leaf1", "too large", "less", "mine", ("overrides", 1, "mtu"))
    assert site.explain(second).place == "profiles/mine.yaml:4:32"


def test_an_error_of_an_extended_profile_points_at_the_file_that_made_it(errors: Errors) -> None:
    found = errors(
        {"profiles/mine.yaml": "name: mine\nextends: ai\nclasses:\n  roce: {bandwidth: 60%}\n"}
    )  # fmt: skip
    assert found[0].place == "profiles/ai.yaml:5:37"
    assert "the shares make 110%" in found[0].text


def test_extends_in_a_circle(errors: Errors) -> None:
    found = errors(
        {
            "profiles/a.yaml": "name: a\nextends: b\n",
            "profiles/b.yaml": "name: b\nextends: a\n",
        }
    )
    assert "in a circle: a → b → a" in found[0].text


def test_shipped_profiles_can_be_extended_from_any_site(load: Load) -> None:
    site = load({"profiles/mine.yaml": "name: mine\nextends: pfc-only\n"})
    assert site.profiles["mine"].classes["roce"].ecn == "off"


PROFILE = Profile.model_validate(
    {
        "name": "ai",
        "classes": {
            "roce": {"dscp": [26], "priority": 3, "lossless": True, "bandwidth": "50%", "ecn": {"kmax": "1MB"}},
            "default": {"priority": 0, "bandwidth": "50%"},
        },
        "overrides": [
            {"match": {"role": "spine"}, "classes": {"roce": {"ecn": {"objective": "throughput"}}}},
            {"match": {"network": "storage", "speed": "100G"}, "mtu": 9000},
            {"match": {"group": "old"}, "classes": {"roce": {"ecn": "off"}}, "mtu": 9100},
        ],
    }
)


def test_no_match_leaves_the_profile() -> None:
    result, winners = effective(PROFILE, role="leaf", speed_mbps=400_000)
    assert winners == ()
    assert result.overrides == ()
    assert result.classes == PROFILE.classes


def test_overrides_merge_into_the_class() -> None:
    result, winners = effective(PROFILE, role=("spine", "fabric"))
    assert result.classes["roce"].ecn == Ecn(kmax=1_000_000, objective="throughput")
    assert winners == (("classes.roce.ecn.objective", "override 1 (role=spine)"),)


def test_every_field_of_a_match_must_agree() -> None:
    assert effective(PROFILE, network="storage", speed_mbps=400_000)[0].mtu == 9216
    assert effective(PROFILE, network="storage", speed_mbps=100_000)[0].mtu == 9000


def test_the_later_override_wins_and_is_named() -> None:
    result, winners = effective(PROFILE, role="spine", network="storage", speed_mbps=100_000, groups=("old",))
    assert result.mtu == 9100
    assert result.classes["roce"].ecn == "off"
    assert dict(winners)["mtu"] == "override 3 (group=old)"
    assert dict(winners)["classes.roce.ecn"] == "override 3 (group=old)"


def test_overrides_that_meet_are_checked_together(errors: Errors) -> None:
    overrides = (
        "overrides:\n"
        "  - {match: {role: leaf}, classes: {roce: {ecn: {kmin: 800KB}}}}\n"
        "  - {match: {speed: 400G}, classes: {roce: {ecn: {kmax: 700KB}}}}\n"
    )
    found = errors({"profiles/ai.yaml": HEAD + ROCE + CNP + REST + overrides})
    assert len(found) == 1
    assert found[0].place == "profiles/ai.yaml:8:5"
    assert (
        "profiles/ai.yaml override 1 (role=leaf) and profiles/ai.yaml override 2 (speed=400G) meet on leaf1:Ethernet0"
        in found[0].text
    )
    assert "kmin 800 KB is above kmax 700 KB" in found[0].text


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        (HEAD + ROCE + REST, "no class named cnp"),
        (HEAD + ROCE + CNP + REST + "dcqcn: {enabled: false}\n", "nobody slows down on a mark"),
        (HEAD + ROCE.replace("50%}", "50%, ecn: off}") + CNP + REST, "it never acts"),
    ],
)
def test_odd_but_legal_profiles_are_warned_about(load: Load, profile: str, text: str) -> None:
    warnings = load({"profiles/ai.yaml": profile}).warnings
    assert [warning for warning in warnings if text in warning.text], warnings


def test_the_design_example_is_the_shipped_profile() -> None:
    """Numbers of the profile that ships as ai-training, as the design states them."""
    from rocetune.site.site import load_site

    profile = load_site(Path(__file__).resolve().parents[2]).profiles["ai-training"]
    roce = profile.classes["roce"]
    assert (roce.dscp, roce.priority, roce.lossless, roce.bandwidth) == ((26,), 3, True, 50.0)
    assert roce.pfc.watchdog != "off" and (roce.pfc.watchdog.detect, roce.pfc.watchdog.restore) == (200, 400)
    assert roce.ecn == Ecn()
    assert roce.marking is not None and roce.marking.by == ("rdma_cm", "nccl")
    assert (profile.classes["cnp"].dscp, profile.classes["cnp"].priority) == ((48,), 6)
    assert profile.classes["control"].owner == "other"
    assert profile.dcbx == "off"
    assert profile.overrides[0].match.role == "spine"


@pytest.mark.parametrize(
    "number", ["9" * 3000, "9" * 3000 + "B", "9" * 150, "0x" + "f" * 5000, "0o" + "7" * 190, "999TB"]
)
@pytest.mark.parametrize(
    "key", ["pfc: {headroom: %}", "pfc: {xoff: %}", "pfc: {alpha: %}", "ecn: {kmin: %}", "ecn: {pmax: %}",
            "pfc: {watchdog: {detect: %}}", "dscp: [%]", "priority: %"]
)  # fmt: skip
def test_a_number_of_any_length_is_an_error_with_its_place(errors: Errors, number: str, key: str) -> None:
    given = key.replace("%", number)
    fields = {"dscp": "[26]", "priority": "3", "lossless": "true", "bandwidth": "50%"}
    fields[given.partition(":")[0]] = given.partition(": ")[2]
    roce = ", ".join(f"{name}: {value}" for name, value in fields.items())
    found = errors(
        {"profiles/ai.yaml": f"name: ai\nclasses:\n  roce: {{{roce}}}\n  default: {{priority: 0, bandwidth: 50%}}\n"}
    )
    assert found and all(error.place.startswith("profiles/ai.yaml:3:") for error in found)
    assert all(len(error.render()) < 1000 for error in found)
