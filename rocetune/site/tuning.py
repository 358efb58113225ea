"""``tuning:`` of rocetune.yaml with the files that it names, read but not yet understood: that is the tuner's."""

from __future__ import annotations

from pathlib import Path

from rocetune.model.fabric import OwnTable, Tuning
from rocetune.model.tuning import TuningSettings
from rocetune.site.errors import Problems
from rocetune.site.sources import Map, find

_MOST_BYTES = 1_000_000  # a published table has some kilobytes


def read_tuning(root: Path, settings: TuningSettings, tree: Map, problems: Problems) -> Tuning:
    """The section as the planner takes it; files that cannot be read go to ``problems``."""
    tables = []
    for number, entry in enumerate(settings.headroom_tables):
        try:
            path = root / entry.file
            if not path.is_file() and path.exists():
                raise ValueError("it is no ordinary file")  # a pipe would never end
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError(f"more than {_MOST_BYTES:,} B, which no headroom table has")
            tables.append(OwnTable(entry.file, path.read_text(encoding="utf-8-sig"), entry.models))
        except (OSError, ValueError) as error:  # UnicodeDecodeError is a ValueError
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            problems.error(
                find(tree, ("tuning", "headroom_tables", number, "file")),
                f"headroom table {entry.file} cannot be read: {reason}",
                "name a pg_profile_lookup.ini or CSV file, relative to the site",
            )
    asics = {key: entry.row() for key, entry in settings.asics.items()}
    return Tuning(settings.quanta_800g, asics, tuple(tables))
