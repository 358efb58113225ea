"""Where the shipped templates, profiles and sample site are found.

They are top-level folders of the repository and travel inside the wheel as ``rocetune/_data``. A checkout
(also an editable install) has no ``_data`` folder, so the repository root serves. Nothing else in the
program knows this difference.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@lru_cache(maxsize=1)
def shipped() -> Path:
    """Folder that holds ``templates/``, ``profiles/``, ``inventory/`` and ``rocetune.yaml``.

    Raises FileNotFoundError when the installation is damaged.
    """
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        if (root / "templates").is_dir() and (root / "profiles").is_dir():
            return root
    raise FileNotFoundError(f"rocetune's templates and profiles are missing beside {_PACKAGE}: reinstall the package")


def templates() -> Path:
    """Folder of the shipped Jinja2 templates, one sub-folder per platform."""
    return shipped() / "templates"


def profiles() -> Path:
    """Folder of the shipped profiles, one YAML file each."""
    return shipped() / "profiles"
