"""Whether the switch gave every lossless group the headroom it asked for, in the dynamic buffer model.

There CONFIG_DB only asks (``NULL``). The buffer manager computes a profile, checks that it fits the port and writes
it to APPL_DB; where it does not fit, the port keeps what it had and only syslog says so (sonic-swss
cfgmgr/buffermgrdyn.cpp; sonic-mgmt PR 8041). What APPL_DB binds now is the verdict, because a line in
the log may be of yesterday.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from rocetune.platforms.sonic.database import Database, cable_object, expanded, natural

BOUND = "sonic-db-dump -n APPL_DB -k 'BUFFER_PG_TABLE:*' -y"
# Prints a marker for a log that could be read, so that silence is told from a refusal of sudo.
LOG_READ = "@@syslog was read"
SYSLOG = "sudo cat /var/log/syslog"  # how evidence names the command below
LOG = (
    "sudo -n cat /var/log/syslog | sed -n -E -e '/[Aa]ccumulative headroom size exceeds/p' "
    f"-e '1s/.*/{LOG_READ}/p' | tail -n 200"
)


def bound_groups(text: str) -> dict[tuple[str, int], str] | None:
    """(port, index) -> running profile from a dump of APPL_DB, or None where the text is none."""
    try:
        raw = json.loads(text)
    except ValueError:
        return None
    if not isinstance(raw, dict):
        return None
    found: dict[tuple[str, int], str] = {}
    for key, entry in raw.items():
        value = entry.get("value") if isinstance(entry, dict) else None
        if not isinstance(value, dict):
            return None
        # Releases up to 202106 write references in brackets.
        profile = re.sub(r"\[[A-Z_]+:([^\]]+)\]", r"\1", str(value.get("profile", "")))
        name = key.removeprefix("BUFFER_PG_TABLE:").replace(":", "|")
        found.update({(port, index): profile for port, index, _, _ in expanded({name: {}})})
    return found


def asked_groups(database: Database) -> dict[tuple[str, int], str]:
    """Lossless groups that ask for a computed profile -> the beginning of the name it must have.

    MTU, lanes and gearbox may follow in the name. Ports that are down have given their headroom back.
    """
    found = {}
    groups = database.get("BUFFER_PG", {})
    for port, index, _, fields in expanded({key: groups[key] for key in natural(groups)}):
        entry = database.get("PORT", {}).get(port, {})
        enabled = database.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable", "").split(",")
        length = database.get("CABLE_LENGTH", {}).get(cable_object(database, port), {}).get(port, "")
        if fields.get("profile") == "NULL" and str(index) in enabled and entry.get("admin_status") == "up":
            found[port, index] = f"pg_lossless_{entry.get('speed', '')}_{length}_"
    return found


def refused(database: Database, answers: Mapping[str, str]) -> tuple[str, str, str] | None:
    """(the refusal or "", command, line) for a switch in the dynamic model; None where it cannot be told."""
    asked = asked_groups(database)
    if not asked:
        return None
    log = answers.get(LOG, "").splitlines()
    said = [line for line in log if line and line != LOG_READ]
    bound = bound_groups(answers.get(BOUND, ""))
    if bound is None:
        last = said[-1] if said else ""
        return (last, SYSLOG, last or "no refusal in syslog") if log else None
    for (port, index), name in asked.items():
        held = bound.get((port, index), "")
        if not held.startswith(name):
            lines = [line for line in said if re.search(rf"port {port}\b", line)]
            line = f"BUFFER_PG_TABLE:{port}:{index} has {held or 'no profile'}, asked was {name}profile"
            return (lines[-1], SYSLOG, lines[-1]) if lines else (line, BOUND, line)
    told = ""
    if LOG_READ in log:
        told = f"; syslog: {len(said)} refusals, all overcome since" if said else "; syslog: no refusal"
    return "", BOUND, f"{len(asked)} lossless groups run with the computed profile{told}"
