"""A wheel carries the shipped data; a development install uses the checkout itself."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import rocetune
from rocetune import resources

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("templates", "profiles", "inventory", "schemas")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without network: the build backend is part of the development extra."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return next(folder.glob("rocetune-*.whl"))


def test_the_wheel_carries_every_shipped_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in SHIPPED:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"rocetune/_data/{path.relative_to(ROOT).as_posix()}" in names
    assert "rocetune/_data/rocetune.yaml" in names
    assert "rocetune/cli/__init__.py" in names


def test_the_wheel_finds_its_data_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from rocetune import resources; print(resources.shipped())"
    command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "site")]
    found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    assert Path(found) == tmp_path / "site" / "rocetune" / "_data"


def test_the_checkout_serves_its_own_files() -> None:
    if not Path(rocetune.__file__).is_relative_to(ROOT):
        pytest.skip("the tests run against an installed wheel")
    assert resources.shipped() == ROOT


def test_the_wheel_carries_the_console_script_and_the_entry_points(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    name = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
    text = archive.read(name).decode()
    assert "rocetune = rocetune.cli:main" in text
    for platform in ("arista_eos", "sonic", "linux"):
        assert f"{platform} = rocetune.platforms.{platform}" in text
