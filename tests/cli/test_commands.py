"""Commands parse, call the app, print and end with the right code. The app is a fake here."""

import json
from collections.abc import Callable, Iterator
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
from rocetune.model.finding import Finding
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
    site = SimpleNamespace(
        warnings=(), explain=_explain, settings=SimpleNamespace(limits=limits), unassigned_ports=tuple
    )
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
    assert "+ PFC Ethernet1/1" in done.stdout and "link bounce" in done.stdout
    assert "Next: rocetune rollback r1   # give back what this run changed" in done.stdout
    assert lines[-1] == "applied: 1 setting on 1 device, healthy, in 3.0 s (run r1)."


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
    assert done.stderr.splitlines()[-2:] == [
        "nobody is here to confirm; nothing was changed",
        "  add --yes to go on without the question",
    ]
    assert "Usage" not in done.output


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
    seen: list[tuple[str | None, str | None, bool, bool]] = []

    def resume(
        ws: Any, run: str | None, limit: str | None, *, keep: bool, bring_up: bool, **options: Any
    ) -> ApplyReport:
        seen.append((run, limit, keep, bring_up))
        return ApplyReport("r8", "unchanged", SAME, doctor=HEALTHY)

    app.patch(applying, "resume", resume)
    assert _run("apply", *words).exit_code == 0
    assert _run("--limit", "leaf1", "apply", *words, "--keep", "--bring-up").exit_code == 0
    assert seen == [(run, None, False, False), (run, "leaf1", True, True)]


def test_trouble_before_the_first_write_is_two_and_after_it_three(app: SimpleNamespace) -> None:
    def early(*args: Any, **options: Any) -> ApplyReport:
        raise Unreachable("leaf1", "connect", "timed out")

    def late(*args: Any, yes_confirm: Any, progress: Any, **options: Any) -> ApplyReport:
        yes_confirm(CHANGED)
        progress(Progress("push", "PFC: canary, 1 device"))
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


def test_interrupt_while_the_baseline_is_read_says_that_nothing_was_changed(app: SimpleNamespace) -> None:
    def apply(*args: Any, yes_confirm: Any, progress: Any, **options: Any) -> ApplyReport:
        yes_confirm(CHANGED)
        progress(Progress("baseline", "doctor baseline of 1 device"))
        raise KeyboardInterrupt

    app.patch(applying, "apply", apply)
    done = _run("apply", "--yes")
    assert done.exit_code == 2 and done.stderr.splitlines()[-1] == "Interrupted; nothing was changed."


def test_the_next_command_of_a_diff_is_one_that_is_not_refused(app: SimpleNamespace) -> None:
    app.patch(diffing, "diff", lambda *args, **options: CHANGED)
    lines = _run("diff", "--limit", "leaf1").stdout.splitlines()[-2:]
    assert lines[0].startswith("Next: rocetune apply --bring-up --limit leaf1   # if the rack is not in service")
    assert lines[1].startswith("  or: rocetune apply --max-impact link_bounce --limit leaf1   # if it is in service")


def test_a_refused_apply_says_what_it_would_do_and_how_it_is_done(app: SimpleNamespace) -> None:
    problem = "leaf1: pfc Ethernet1/1 has impact link_bounce, the limit is marking"
    app.patch(applying, "apply", lambda *args, **options: ApplyReport("r1", "refused", CHANGED, problems=(problem,)))
    done = _run("apply", "--yes")
    assert done.exit_code == 2
    assert "1 setting to change on 1 device, up to link bounce" in done.stdout
    assert "Next: rocetune diff" in done.stdout and "or: rocetune apply --bring-up" in done.stdout


def test_a_long_diff_is_summed_up_before_the_question(app: SimpleNamespace) -> None:
    changes = tuple(
        Change(("mode", f"feature-{n}x"), "add", None, "on", Phase.PFC, Impact.NONE, origin=("", f"leaf {n}"))
        for n in range(50)
    )
    long = DiffReport((DeviceDiff("leaf1", "arista_eos", Comparison(changes)),), live=True)
    app.patch(applying, "apply", _apply(ApplyReport("r1", "applied", long, doctor=HEALTHY)))
    done = _run("apply", "--yes")
    assert len(done.stdout.splitlines()) < 20 and "50 settings" in done.stdout
    assert "Every setting: rocetune diff" in done.stdout
    assert "feature-49x" in _run("apply", "--yes", "-v").stdout


def test_an_or_never_stands_without_a_next(app: SimpleNamespace) -> None:
    finding = Finding("BUF-006", "critical", "unknown", "leaf1", "not shown")
    unsure = DoctorReport((finding,), passed=3, devices=1)
    app.patch(applying, "apply", _apply(ApplyReport("r1", "applied", CHANGED, doctor=unsure, seconds=3)))
    done = _run("apply", "--yes")
    words = [line.split(":")[0].strip() for line in done.stdout.splitlines() if " rocetune " in line]
    assert words and words[0] == "Next"
    assert "health could not be fully judged (1 check: BUF-006)" in done.stdout.splitlines()[-1]


def test_rollback_without_a_known_run_lists_the_runs(app: SimpleNamespace, tmp_path: Path) -> None:
    from rocetune.deploy.journal import Journal

    journal = Journal.create(
        tmp_path / ".rocetune", "r7", command="apply", version="1", devices=("leaf1",), platforms={}
    )
    journal.end("applied")
    journal.close()
    for words in ((), ("r8",)):
        done = _run("--site", str(tmp_path), "rollback", *words)
        assert done.exit_code == 2
        assert [done.stderr.split()[i] for i in (-6, -3, -2, -1)] == ["r7", "apply", "applied", "leaf1"]


def test_collect_running_makes_files_for_an_offline_diff(app: SimpleNamespace, tmp_path: Path) -> None:
    saved = collecting.Saved({"leaf1": tmp_path / "leaf1.cfg"}, {})
    app.patch(collecting, "save_running", lambda *args, **options: saved)
    done = _run("collect", "--running", str(tmp_path))
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [f"1 device in {tmp_path}.", f"Next: rocetune diff --running {tmp_path}"]
    assert _run("collect", "--running", str(tmp_path), "-o", "x").exit_code == 2


def test_a_remedy_is_said_once() -> None:
    from rocetune.cli.failure import message

    assert message(UseError("no lab: start it", "start it"), Settings()) == "no lab\n  start it"


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


def test_validate_counts_the_ports_of_no_network(app: SimpleNamespace) -> None:
    app.workspace.site.unassigned_ports = lambda: ("leaf1 Ethernet9/1", "leaf1 Ethernet10/1")
    done = _run("validate")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "2 listed ports belong to no network: nothing is planned there."
    assert json.loads(_run("validate", "--format", "json").stdout)["unassigned_ports"] == 2
    app.workspace.site.unassigned_ports = lambda: ("leaf1 Ethernet9/1",)
    assert _run("validate").stdout.startswith("1 listed port belongs to no network")


def test_render_writes_the_same_bytes_every_time(app: SimpleNamespace, tmp_path: Path) -> None:
    files = {"nccl.env": "NCCL_IB_TC=106\n"}
    app.patch(planning, "render", lambda ws, plan, names: iter([("leaf1", Rendered("qos rewrite\n", files))]))
    for folder in ("one", "two"):
        assert _run("render", "-o", str(tmp_path / folder)).exit_code == 0
    found = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in tmp_path.iterdir()]
    assert found[0] == found[1] and len(found[0]) == 2
    assert Path("leaf1/nccl.env") in found[0]


@pytest.mark.parametrize("words", [[], ["--format", "json"], ["-o"]])
def test_a_device_that_cannot_be_rendered_leaves_no_half_output(
    app: SimpleNamespace, tmp_path: Path, words: list[str]
) -> None:
    def render(ws: Any, plan: Any, names: Any) -> Iterator[tuple[str, Rendered]]:
        yield "leaf1", Rendered("new\n", {"nccl.env": "new\n"})
        raise UseError("leaf1 cannot be rendered")

    (tmp_path / "leaf1.cfg").write_text("old\n")
    app.patch(planning, "render", render)
    done = _run("render", *words, *([str(tmp_path)] if words == ["-o"] else []))
    assert done.exit_code == 2 and done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["leaf1.cfg"]
    assert (tmp_path / "leaf1.cfg").read_text() == "old\n"


def test_a_file_that_cannot_be_written_leaves_what_was_there(
    app: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if self.name == "nccl.env":
            raise OSError(28, "No space left on device", str(self))
        return write(self, data)

    app.patch(planning, "render", lambda ws, plan, names: iter([("leaf1", Rendered("new\n", {"nccl.env": "x"}))]))
    (tmp_path / "leaf1.cfg").write_text("old\n")
    monkeypatch.setattr(Path, "write_bytes", full)
    done = _run("render", "-o", str(tmp_path))
    assert done.exit_code == 2 and "No space left on device" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["leaf1.cfg"]
    assert (tmp_path / "leaf1.cfg").read_text() == "old\n"


@pytest.mark.parametrize("form", ["text", "json", "markdown", "junit"])
def test_fixes_carry_the_options_of_the_caller(app: SimpleNamespace, form: str) -> None:
    fix = ("rocetune --limit leaf1 apply",)
    finding = Finding("DRF-001", "error", "fail", "leaf1", "differs", expected="as planned", observed="not", fix=fix)
    app.patch(diagnosis, "doctor", lambda *args, **options: DoctorReport((finding,), passed=0, devices=1))
    done = _run("--lab", "--site", "rack", "doctor", "--format", form)
    assert "rocetune --site rack --lab --limit leaf1 apply" in done.stdout


def test_remedies_name_commands_for_the_same_rack(app: SimpleNamespace) -> None:
    def fail(*args: Any, **options: Any) -> DiffReport:
        raise UseError("run r1 was cut off", "finish it with: rocetune apply --resume   or: rocetune rollback r1")

    app.patch(diffing, "diff", fail)
    assert _run("--lab", "--site", "my rack", "diff").stderr.splitlines()[-1] == (
        "  finish it with: rocetune --site 'my rack' --lab apply --resume   "
        "or: rocetune --site 'my rack' --lab rollback r1"
    )
    problem = "leaf1: the journal cannot be written: make room, then: rocetune apply --resume"
    app.patch(applying, "apply", lambda *args, **options: ApplyReport("r1", "mixed", SAME, problems=(problem,)))
    assert "then: rocetune --lab apply --resume" in _run("--lab", "apply", "--yes").stdout


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
    assert done.exit_code == 2 and "of its files are there already" in done.output
    assert "--force" in done.output and len(done.output.splitlines()) == 2
    assert (root / "rocetune.yaml").read_text() == "networks: {}\n"


def test_nothing_to_resume_is_no_reason_for_alarm(app: SimpleNamespace) -> None:
    def resume(ws: Any, run: str | None, limit: str | None, *, progress: Any, **options: Any) -> ApplyReport:
        if run:
            progress(Progress("connect", "connected", "leaf1", 1, 1))
        raise UseError("no run was cut off: there is nothing to resume", "use: rocetune apply")

    app.patch(applying, "resume", resume)
    assert _run("apply", "--resume").exit_code == 2
    assert _run("apply", "--resume", "r7").exit_code == 3
