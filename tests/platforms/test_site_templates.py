"""A site's own template wins over the shipped one, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocetune.platforms import templating


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    yield
    templating.use_site(None)


def test_one_file_is_overridden_and_the_rest_stays_shipped(tmp_path: Path) -> None:
    (tmp_path / "templates" / "linux").mkdir(parents=True)
    (tmp_path / "templates" / "linux" / "roce.env.j2").write_text("# ours\n")
    templating.use_site(tmp_path / "templates")
    assert templating.environment("linux").get_template("roce.env.j2").render() == "# ours\n"
    assert "{%" in templating.source("linux", "settings.j2")
    templating.use_site(tmp_path / "nothing there")
    assert templating.source("linux", "roce.env.j2") != "# ours\n"


def test_an_unknown_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"nope\.j2"):
        templating.source("linux", "nope.j2")
