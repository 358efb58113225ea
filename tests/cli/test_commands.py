"""Commands parse, call the app, print and end with the right code. The app is a fake here."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rocetune.app import applying, collecting, diagnosis, diffing, planning
from rocetune.app.errors import UseError
from rocetune.cli import main
from rocetune.cli.options import Settings
from rocetune.model.change import Change, Comparison, Impact, Phase, Rendered, Step
from rocetune.model.fabric import Device
from rocetune.model.outcome import ApplyReport, DeviceDiff, DiffReport, DoctorReport, Progress
from rocetune.model.plan import DevicePlan, Plan, PlanProblem
from rocetune.platforms.base import LinkLost, Unreachable
from rocetune.site.errors import SiteError, SiteErrors

CHANGE = Change(("pfc", "Ethernet1/1"), "add", None, "on", Phase.PFC, Impact.LINK_BOUNCE)
CHANGED = DiffReport(
    (DeviceDiff("leaf1", "arista_eos", Comparison((CHANGE,)), (Step("config", "pfc on", "no pfc on"),)),), live=True
)
SAME = DiffReport((DeviceDiff("leaf1", "arista_eos"),), live=True)
HEALTHY = DoctorReport((), passed=3, devices=1)
PLAN = Plan({"leaf1": DevicePlan(Device("leaf1", "switch", "arista_eos"), ())}, ())


def _explain(problem: PlanProblem) -> SiteError:
    return SiteError("profiles/x.yaml", 3, 5, problem.text, problem.remedy, "    headroom: 1KB")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The functions of the app layer, replaceable one by one."""
    limits = SimpleNamespace(wave=8)
    site = SimpleNamespace(warnings=(), explain=_explain, settings=SimpleNamespace(limits=limits))
    workspace = SimpleNamespace(root=Path(), site=site, lab_root=Path("lab"))
    monkeypatch.setattr(Settings, "workspace", lambda self: workspace)
    monkeypatch.setattr(planning, "make_plan", lambda ws, asics=None: PLAN)
    monkeypatch.setattr(planning, "select", lambda ws, plan, limit: tuple(plan.devices))
    return SimpleNamespace(patch=monkeypatch.setattr, workspace=workspace)


def _run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=answer)


def _apply(report: ApplyReport) -> Callable[..., ApplyReport]:
    """An apply that shows its diff to the user as the real one does, and stops where he says no."""

    def apply(ws: Any, limit: str | None = None, *, yes_confirm: Any, progress: Any, **options: Any) -> ApplyReport:
        progress(Progress("connect", "connected", "leaf1", 1, 1))
        if report.diff.changed and not yes_confirm(report.diff):
            return ApplyReport("r1", "refused", report.diff, problems=("not confirmed; nothing was written",))
        return report

    return apply


@pytest.mark.parametrize(("report", "code"), [(SAME, 0), (CHANGED, 1)])
def test_diff_ends_with_zero_or_one(app: SimpleNamespace, report: DiffReport, code: int) -> None:
    app.patch(diffing, "diff", lambda *args, **options: report)
    assert _run("diff").exit_code == code


def test_diff_ends_with_two_when_a_device_could_not_be_read(app: SimpleNamespace) -> None:
    failed = DiffReport((*CHANGED.devices, DeviceDiff("gpu01", "linux", error="refused")), live=True)
    app.patch(diffing, "diff", lambda *args, **options: failed)
    done = _run("diff")
    assert done.exit_code == 2 and "gpu01: could not be read: refused" in done.output


def test_diff_writes_json_and_markdown_alone_on_stdout(app: SimpleNamespace) -> None:
    def diff(ws: Any, limit: Any, running: Any, progress: Any, **options: Any) -> DiffReport:
        progress(Progress("connect", "connected", "leaf1", 1, 1))
        return CHANGED

    app.patch(diffing, "diff", diff)
    assert json.loads(_run("diff", "--format", "json").stdout)["format"] == "rocetune.diff/1"
    assert _run("diff", "--format", "markdown").stdout.startswith("**rocetune diff**")


def test_apply_shows_plan_diff_outcome_and_the_summary_last(app: SimpleNamespace) -> None:
    app.patch(applying, "apply", _apply(ApplyReport("r1", "applied", CHANGED, doctor=HEALTHY, seconds=3)))
    done = _run("apply", "--yes")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("plan: 1 device")
    assert "+ pfc / Ethernet1/1" in done.stdout
    assert "Next: rocetune rollback r1" in done.stdout
    assert lines[-1] == "applied: 1 change on 1 device, healthy, in 3.0 s (run r1)."


def test_apply_asks_and_no_means_no(app: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    app.patch(applying, "apply", _apply(ApplyReport("r1", "applied", CHANGED, doctor=HEALTHY)))
    monkeypatch.setattr("rocetune.cli.apply._somebody_is_here", lambda: True)
    done = _run("apply", answer="n\n")
    assert done.exit_code == 2
    assert "refused: nothing was changed" in done.stdout.splitlines()[-1]
    assert _run("apply", answer="y\n").exit_code == 0


def test_apply_without_yes_and_without_a_person_changes_nothing(app: SimpleNamespace) -> None:
    app.patch(applying, "apply", _apply(ApplyReport("r1", "applied", CHANGED)))
    done = _run("apply")
    assert done.exit_code == 2
    assert "Add --yes" in done.output


def test_yes_never_raises_the_accepted_impact(app: SimpleNamespace) -> None:
    seen: list[Impact] = []

    def apply(ws: Any, limit: Any, *, max_impact: Impact, **options: Any) -> ApplyReport:
        seen.append(max_impact)
        return ApplyReport("r1", "unchanged", SAME, doctor=HEALTHY)

    app.patch(applying, "apply", apply)
    for arguments in (["--yes"], ["--yes", "--bring-up"], ["--max-impact", "brief_loss"]):
        assert _run("apply", *arguments).exit_code == 0
    assert seen == [Impact.MARKING, Impact.LINK_BOUNCE, Impact.BRIEF_LOSS]


def test_second_apply_says_no_changes(app: SimpleNamespace) -> None:
    app.patch(applying, "apply", _apply(ApplyReport("r1", "unchanged", SAME, doctor=HEALTHY)))
    done = _run("apply", "--yes")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("no changes: 1 device already as planned, healthy")


@pytest.mark.parametrize(("words", "run"), [(["--resume"], None), (["--resume", "r7"], "r7")])
def test_resume_takes_an_optional_run(app: SimpleNamespace, words: list[str], run: str | None) -> None:
    seen: list[str | None] = []

    def resume(ws: Any, run: str | None, **options: Any) -> ApplyReport:
        seen.append(run)
        return ApplyReport("r8", "unchanged", SAME, doctor=HEALTHY)

    app.patch(applying, "resume", resume)
    assert _run("apply", *words).exit_code == 0
    assert seen == [run]


def test_trouble_before_the_first_write_is_two_and_after_it_three(app: SimpleNamespace) -> None:
    def early(*args: Any, **options: Any) -> ApplyReport:
        raise Unreachable("leaf1", "connect", "timed out")

    def late(*args: Any, yes_confirm: Any, **options: Any) -> ApplyReport:
        yes_confirm(CHANGED)
        raise LinkLost("leaf1", "commit", "reset by peer")

    app.patch(applying, "apply", early)
    done = _run("apply", "--yes")
    assert done.exit_code == 2 and "leaf1: cannot be reached: timed out" in done.stderr
    app.patch(applying, "apply", late)
    done = _run("apply", "--yes")
    assert done.exit_code == 3
    assert "rocetune apply --resume" in done.stderr


def test_interrupt_before_any_change_is_two(app: SimpleNamespace) -> None:
    def diff(*args: Any, **options: Any) -> DiffReport:
        raise KeyboardInterrupt

    app.patch(diffing, "diff", diff)
    done = _run("diff")
    assert done.exit_code == 2 and "Interrupted; nothing was changed." in done.stderr


def test_errors_have_reason_and_remedy_and_no_traceback(app: SimpleNamespace) -> None:
    def diff(*args: Any, **options: Any) -> DiffReport:
        raise UseError("--limit 'leef*' matches no managed device", "devices: leaf1")

    app.patch(diffing, "diff", diff)
    done = _run("diff")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == ["--limit 'leef*' matches no managed device", "  devices: leaf1"]
    assert "Traceback" in _run("-v", "diff").stderr


def test_an_unexpected_exception_is_called_a_defect(app: SimpleNamespace) -> None:
    def diff(*args: Any, **options: Any) -> DiffReport:
        raise AssertionError("impossible")

    app.patch(diffing, "diff", diff)
    done = _run("diff")
    assert done.exit_code == 2
    assert "defect of rocetune" in done.stderr and "Traceback" not in done.stderr


def test_validate_shows_all_errors_at_once(app: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = (SiteError("a.yaml", 1, 2, "first", "mend it", "x: y"), SiteError("b.yaml", 0, 0, "second"))

    def broken(self: Settings) -> None:
        raise SiteErrors(errors)

    monkeypatch.setattr(Settings, "workspace", broken)
    done = _run("validate")
    assert done.exit_code == 2
    assert "a.yaml:1:2: first" in done.stdout and "b.yaml: second" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 errors."
    document = json.loads(_run("validate", "--format", "json").stdout)
    assert document["valid"] is False and [item["text"] for item in document["errors"]] == ["first", "second"]


def test_validate_shows_infeasible_numbers_at_their_place(app: SimpleNamespace) -> None:
    problem = PlanProblem("leaf1", "the headroom is below its floor", "use auto", "x", ("classes", "roce"))
    app.patch(planning, "make_plan", lambda ws: Plan(PLAN.devices, (), (), (problem,)))
    done = _run("validate")
    assert done.exit_code == 2
    assert "profiles/x.yaml:3:5: the headroom is below its floor" in done.stdout
    app.patch(planning, "make_plan", lambda ws: PLAN)
    assert _run("validate").stdout == "valid: 1 device, 0 planned ports.\n"


def test_render_writes_the_same_bytes_every_time(app: SimpleNamespace, tmp_path: Path) -> None:
    files = {"nccl.env": "NCCL_IB_TC=106\n"}
    app.patch(planning, "render", lambda ws, plan, names: iter([("leaf1", Rendered("qos rewrite\n", files))]))
    for folder in ("one", "two"):
        assert _run("render", "-o", str(tmp_path / folder)).exit_code == 0
    found = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in tmp_path.iterdir()]
    assert found[0] == found[1] and len(found[0]) == 2
    assert Path("leaf1/nccl.env") in found[0]


def test_collect_ends_with_one_when_a_device_is_missing(app: SimpleNamespace, tmp_path: Path) -> None:
    record = collecting.Record("arista_eos", {})
    bundle = collecting.Bundle(0.0, {"leaf1": record}, {"gpu01": "connection refused"})
    app.patch(collecting, "collect", lambda *args, **options: bundle)
    target = tmp_path / "b.json"
    done = _run("collect", "-o", str(target))
    assert done.exit_code == 1 and target.is_file()
    assert "gpu01: not collected: connection refused" in done.stderr


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (HEALTHY, 0),
        (DoctorReport((), passed=0, devices=2, unreachable=("gpu01",)), 1),
        (DoctorReport((), passed=0, devices=1, unreachable=("gpu01",)), 2),
    ],
)
def test_doctor_codes(app: SimpleNamespace, report: DoctorReport, code: int) -> None:
    app.patch(diagnosis, "doctor", lambda *args, **options: report)
    assert _run("doctor").exit_code == code


def test_an_unknown_platform_names_the_known_ones() -> None:
    done = _run("platforms", "ios")
    assert done.exit_code == 2
    assert "arista_eos" in done.output


def test_schemas_are_printed_for_every_kind() -> None:
    from rocetune.cli.schema import KINDS
    from rocetune.site import schema

    assert KINDS == schema.KINDS
    for kind in KINDS:
        done = _run("schema", kind)
        assert done.exit_code == 0, done.output
        assert "$schema" in json.loads(done.stdout)


def test_init_makes_a_valid_site_and_overwrites_nothing(tmp_path: Path) -> None:
    root = tmp_path / "site"
    done = _run("init", str(root))
    assert done.exit_code == 0, done.output
    assert f"rocetune --site {root} validate" in done.output
    assert (root / "schemas" / "profile.schema.json").is_file()
    assert _run("--site", str(root), "validate").exit_code == 0
    (root / "rocetune.yaml").write_text("networks: {}\n")
    done = _run("init", str(root))
    assert done.exit_code == 2 and "is there already" in done.output
    assert (root / "rocetune.yaml").read_text() == "networks: {}\n"


def test_nothing_to_resume_is_no_reason_for_alarm(app: SimpleNamespace) -> None:
    def resume(ws: Any, run: str | None, *, progress: Any, **options: Any) -> ApplyReport:
        if run:
            progress(Progress("connect", "connected", "leaf1", 1, 1))
        raise UseError("no run was cut off: there is nothing to resume", "use: rocetune apply")

    app.patch(applying, "resume", resume)
    assert _run("apply", "--resume").exit_code == 2
    assert _run("apply", "--resume", "r7").exit_code == 3
