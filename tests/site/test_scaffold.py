"""`rocetune init`: a new site that loads, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocetune.site.errors import SiteErrors
from rocetune.site.scaffold import init
from rocetune.site.site import load_site


def test_a_new_site_loads(tmp_path: Path) -> None:
    files = init(tmp_path / "new")
    assert tmp_path / "new" / "profiles" / "ai-training.yaml" in files
    assert (tmp_path / "new" / "schemas" / "profile.schema.json").is_file()
    assert ".rocetune/" in (tmp_path / "new" / ".gitignore").read_text(encoding="utf-8")
    assert "gpu04" in load_site(tmp_path / "new").fabric.devices


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "rocetune.yaml").write_text("# mine\n", encoding="utf-8")
    with pytest.raises(SiteErrors, match="is there already"):
        init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["rocetune.yaml"]
    assert (tmp_path / "rocetune.yaml").read_text(encoding="utf-8") == "# mine\n"


def test_force_overwrites_ours_and_keeps_an_ignore_file(tmp_path: Path) -> None:
    (tmp_path / "rocetune.yaml").write_text("# mine\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("mine\n", encoding="utf-8")
    init(tmp_path, force=True)
    assert "networks:" in (tmp_path / "rocetune.yaml").read_text(encoding="utf-8")
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "mine\n"
