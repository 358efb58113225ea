"""What a run may touch when it is finished or taken back, and what a bad journal does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocetune.app.applying import resume, rollback
from rocetune.app.diffing import diff
from rocetune.app.errors import UseError
from rocetune.deploy import journal as journals
from rocetune.deploy.journal import Journal
from tests.app.rack import Rack, rack

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    with rack(tmp_path_factory.mktemp("rack")) as served:
        yield served


def changed(site: Rack) -> dict[str, int]:
    return {item.device: len(item.comparison.changes) for item in diff(site.ws).devices}


def reopened(site: Rack, run: str) -> None:
    """Make a finished run look cut off: its last record is lost."""
    path = site.ws.state / "runs" / run / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert b'"kind":"end"' in lines[-1]
    path.write_bytes(b"".join(lines[:-1]))


def test_resume_keeps_to_the_devices_of_the_run(site: Rack) -> None:
    factory = changed(site)
    first = site.apply(limit="leaf1")
    reopened(site, first.run)
    report = resume(site.ws, interval_s=0.1)
    assert report.verdict == "unchanged"
    after = changed(site)
    assert after == {**factory, "leaf1": 0}


def test_a_rollback_of_a_part_leaves_the_run_open_and_names_the_rest(site: Rack) -> None:
    run = site.apply(limit="leaf1,leaf2,gpu01")
    assert run.verdict == "applied", run.problems
    reopened(site, run.run)
    part = rollback(site.ws, run.run, "gpu01")
    assert part.verdict == "applied"
    assert any(text.startswith("leaf2: outside --limit") for text in part.problems)
    assert journals.read(site.ws.state, run.run).verdict is None
    whole = rollback(site.ws, run.run)
    assert whole.verdict == "applied"
    assert whole.problems == ()
    assert journals.read(site.ws.state, run.run).verdict == "rolled back"


def test_no_rollback_of_another_run_while_one_is_cut_off(site: Rack) -> None:
    first = site.apply(limit="leaf1")
    second = site.apply(limit="gpu01")
    reopened(site, second.run)
    with pytest.raises(UseError, match=second.run):
        rollback(site.ws, first.run)
    assert resume(site.ws, interval_s=0.1).exit_code in (0, 1)


def test_a_device_gone_from_the_inventory_is_never_called_given_back(tmp_path: Path) -> None:
    with rack(tmp_path) as site:
        run = site.apply(limit="leaf1,gpu01").run
        hosts, links = tmp_path / "inventory" / "hosts.yaml", tmp_path / "inventory" / "links.yaml"
        text = hosts.read_text()
        hosts.write_text(text[text.index("leaf2:") :])
        links.write_text("".join(line for line in links.read_text().splitlines(True) if "leaf1" not in line))
        report = rollback(site.ws, run)
    assert report.verdict == "mixed"
    assert report.problems == ("leaf1: no longer in the inventory, keeps what the run wrote",)


@pytest.mark.parametrize(
    "line", [b"garbage\n", b"[]\n", b'{"seq":1}\n', b'{"kind":"intent","phase":"NEW"}\n', b"\xff\xfe\n"]
)
def test_a_damaged_journal_is_named_with_its_line(site: Rack, line: bytes) -> None:
    journal = Journal.create(site.ws.state, "99991231T000000-dead", command="apply")
    journal.close()
    with journal.path.open("ab") as stream:
        stream.write(line)
    try:
        with pytest.raises(UseError, match=r"journal\.jsonl:2: .*damaged") as error:
            site.apply()
        assert "out of the way" in error.value.remedy
    finally:
        journal.path.unlink()
        journal.path.parent.rmdir()


def test_a_run_id_is_a_name_and_no_path(site: Rack) -> None:
    with pytest.raises(UseError, match="no run"):
        rollback(site.ws, "../runs/x")
