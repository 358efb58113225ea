"""A new site from the shipped one."""

from __future__ import annotations

from pathlib import Path

from rocetune import resources
from rocetune.site.errors import SiteError, SiteErrors

FOLDERS = ("profiles", "inventory", "schemas")
IGNORE_FILE = ".gitignore"
_IGNORED = "# journals, lab state and accepted host keys\n.rocetune/\n"


def init(root: Path, force: bool = False) -> tuple[Path, ...]:
    """Copy profiles, the sample inventory, schemas and rocetune.yaml into a folder; its files, sorted.

    Raises SiteErrors, before anything is written, when one of them is there already and ``force`` is not given.
    """
    source = resources.shipped()
    files = {
        path.relative_to(source): path.read_bytes()
        for folder in FOLDERS
        for path in sorted((source / folder).glob("*"))
        if path.suffix in (".yaml", ".json")
    }
    files[Path("rocetune.yaml")] = (source / "rocetune.yaml").read_bytes()
    if not (root / IGNORE_FILE).exists():
        files[Path(IGNORE_FILE)] = _IGNORED.encode()
    there = [name for name in files if (root / name).exists()]
    if there and not force:
        raise SiteErrors(
            [
                SiteError(
                    (root / name).as_posix(), 0, 0, "is there already", "choose an empty folder; nothing was written"
                )
                for name in there
            ]
        )
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return tuple(sorted(root / name for name in files))
