"""What a calculator knows: the shipped tables, and on top what ``tuning:`` of the site says, where it stands in one."""

from __future__ import annotations

from pathlib import Path

from rocetune.app.errors import UseError
from rocetune.tuning.knowledge import Knowledge


def known_at(root: Path) -> Knowledge:
    """Chips, tables and 800G quanta for a folder; the shipped ones where it holds no rocetune.yaml.

    Nothing else of the site is read. Raises SiteErrors for a file that is wrong, UseError for a chip or a table in it
    that cannot be.
    """
    if not (root / "rocetune.yaml").exists():
        return Knowledge()  # a calculator needs no site, and starts faster without one
    from rocetune.planner.knowledge import knowledge
    from rocetune.site.site import load_tuning

    found, problems = knowledge(load_tuning(root))
    if problems:
        raise UseError("\n".join(item.text for item in problems), "correct tuning: in rocetune.yaml")
    return found
