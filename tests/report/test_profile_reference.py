"""The reference in docs/ says what the models say."""

from pathlib import Path

import pytest

from rocetune.model.profile import Profile
from rocetune.report.profile_reference import DOCUMENTS, main, profile_reference

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_it_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text() == DOCUMENTS[name](), "run: python -m rocetune.report.profile_reference docs"


def test_every_key_of_the_profile_is_there() -> None:
    text = profile_reference()
    for key in Profile.model_fields:
        assert f"| `{key}` |" in text


def test_values_and_defaults_are_written_as_a_user_writes_them() -> None:
    lines = profile_reference().splitlines()
    detect = next(line for line in lines if line.startswith("| `detect`"))
    assert "time, as in 200ms" in detect and "`200ms`" in detect
    assert "| `kmin` | size, as in 150KB or 1.5MiB or `auto` | `auto` |" in "\n".join(lines)


def test_the_command_writes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(DOCUMENTS)
    assert main([]) == 2
