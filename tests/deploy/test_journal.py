"""The journal survives what kills the process, and the lock dies with its holder."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rocetune.deploy import journal as journals
from rocetune.deploy.journal import Busy, Journal, SiteLock
from rocetune.model.change import Change, Impact, Phase
from rocetune.model.transaction import Token

TOKEN = Token("r1", "leaf1", Phase.PFC)
CHANGE = Change(("port", "eth1"), "change", "off", "on", Phase.PFC, Impact.LINK_BOUNCE)


def written(state):
    journal = Journal.create(state, "r1", command="apply", version="0", devices=["leaf1"], platforms={})
    journal.before("leaf1", {("port", "eth1"): "off"})
    journal.intent(TOKEN, [CHANGE], 60)
    return journal


def test_a_run_reads_back_as_written(tmp_path):
    journal = written(tmp_path)
    journal.outcome(TOKEN, "confirmed")
    journal.end("applied")
    record = journals.read(tmp_path, "r1")
    assert record.verdict == "applied"
    assert record.tokens[0].token == TOKEN
    assert record.tokens[0].outcome == "confirmed"
    assert record.touched("leaf1") == {("port", "eth1"): "off"}


def test_every_prefix_of_a_journal_is_readable_and_never_claims_more(tmp_path):
    journal = written(tmp_path)
    journal.outcome(TOKEN, "confirmed")
    journal.end("applied")
    path = tmp_path / "runs" / "r1" / "journal.jsonl"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        record = journals.read(tmp_path, "r1")
        assert record.verdict is None
        assert [entry.outcome for entry in record.tokens] in ([], [None], ["confirmed"])


def test_appending_after_a_torn_line_loses_nothing_new(tmp_path):
    journal = written(tmp_path)
    path = tmp_path / "runs" / "r1" / "journal.jsonl"
    journal.close()
    with path.open("ab") as stream:
        stream.write(b'{"seq":9,"kind":"outco')
    again = Journal.reopen(tmp_path, "r1")
    again.outcome(TOKEN, "reverted")
    again.end("settled")
    record = journals.read(tmp_path, "r1")
    assert (record.tokens[0].outcome, record.verdict) == ("reverted", "settled")


def test_the_newest_unfinished_run_is_found(tmp_path):
    written(tmp_path)
    assert journals.unfinished(tmp_path).run == "r1"
    Journal.reopen(tmp_path, "r1").end("settled")
    assert journals.unfinished(tmp_path) is None
    with pytest.raises(KeyError, match="r1"):
        journals.read(tmp_path, "nope")


def test_the_second_run_is_refused_with_the_first_ones_id(tmp_path):
    first = SiteLock(tmp_path, "first")
    with pytest.raises(Busy) as error:
        SiteLock(tmp_path, "second")
    assert error.value.run == "first"
    first.close()
    SiteLock(tmp_path, "third").close()


def test_a_killed_holder_leaves_no_lock(tmp_path):
    code = (
        "import sys, os, signal; from pathlib import Path; from rocetune.deploy.journal import SiteLock\n"
        "lock = SiteLock(Path(sys.argv[1]), 'dead'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=os.environ, check=False)
    assert ended.returncode == -9
    SiteLock(tmp_path, "next").close()


def test_journal_files_are_private(tmp_path):
    written(tmp_path)
    assert (tmp_path / "runs" / "r1" / "journal.jsonl").stat().st_mode & 0o077 == 0
