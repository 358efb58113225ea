"""``rocetune init``: a new site made of the shipped sample rack."""

from __future__ import annotations

from pathlib import Path

from rocetune import resources
from rocetune.app.errors import UseError

_IGNORED = "# journals, lab state and accepted host keys\n.rocetune/\n"


def scaffold(root: Path) -> tuple[Path, ...]:
    """Copy the sample site into a folder. Returns its files, sorted.

    Raises UseError, before writing anything, when one of them exists already.
    """
    source = resources.shipped()
    files = {
        path.relative_to(source): path.read_bytes()
        for folder in ("profiles", "inventory")
        for path in sorted((source / folder).rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
    files[Path("rocetune.yaml")] = (source / "rocetune.yaml").read_bytes()
    files[Path(".gitignore")] = _IGNORED.encode()
    there = [name for name in files if (root / name).exists()]
    if there:
        names = ", ".join(map(str, there[:3])) + (" ..." if len(there) > 3 else "")
        raise UseError(f"{root} already holds {names}", "choose an empty folder; nothing was written")
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return tuple(sorted(root / name for name in files))
