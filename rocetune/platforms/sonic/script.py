"""Shell scripts that run on the switch: POSIX sh, and only what every SONiC image has.

Two scripts per transaction: one that makes the change and stops at the first refusal, and its inverse, which the
switch's own timer runs as root when nobody confirms. The inverse goes on after an error and may run twice.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from rocetune.platforms.sonic.transition import Act

_HEAD = r"""#!/bin/sh
# rocetune {what} of {token}
d=${{0%/*}}
rc=0
fail() {{ echo "rocetune: $*" >&2; {on_error}; }}
# config load answers 0 for a missing file, so the file is looked at first.
load() {{
    cat >"$d/{what}.part.json"
    [ -s "$d/{what}.part.json" ] || {{ fail "nothing to load, is the disk full?"; return; }}
    out=$({root}config load -y "$d/{what}.part.json" 2>&1) ||
        fail "config load: $(printf '%s\n' "$out" | sed '/^Running command: /d')"
}}
unset_fields() {{ out=$({root}sonic-db-cli CONFIG_DB HDEL "$@" 2>&1) || fail "HDEL $1: $out"; }}
stop_watchdog() {{ out=$({root}pfcwd stop "$@" 2>&1) || fail "pfcwd stop: $out"; }}
gone() {{
    n=0
    while :; do
        keys=$({root}sonic-db-cli APPL_DB KEYS 'BUFFER_*_TABLE:*' 2>/dev/null)
        left=
        for key in "$@"; do
            case "
$keys
" in *"
$key
"*) left=$key ;; esac
        done
        [ -n "$left" ] || return 0
        n=$((n + 1))
        [ "$n" -lt 20 ] || {{ fail "APPL_DB still holds $left after 20 s"; return; }}
        sleep 1
    done
}}
have() {{
    n=0
    while :; do
        case $({root}sonic-db-cli CONFIG_DB EXISTS "BUFFER_PROFILE|$1" 2>/dev/null) in 1 | True) return 0 ;; esac
        n=$((n + 1))
        [ "$n" -lt 20 ] || {{ fail "no headroom profile $1: is this speed and length in the switch's table?"; return; }}
        sleep 1
    done
}}
"""
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._|:+@/-]*", re.ASCII)


class UnsafeName(ValueError):
    """A name that may not reach a shell line."""


def script(acts: Sequence[Act], token: str, *, undo: bool) -> str:
    """The script for these acts. It keeps its parts in its own folder."""
    head = _HEAD.format(
        what="undo" if undo else "do",
        token=token,
        on_error="rc=1" if undo else "exit 1",
        root="" if undo else "sudo -n ",
    )
    lines = [head, ': >"$d/undoing"'] if undo else [head]
    for act in acts:
        lines.append(f"# {act.note}")
        if act.kind == "load":
            lines += ["load <<'ROCETUNE_JSON'", json.dumps(act.load, indent=1, sort_keys=True), "ROCETUNE_JSON"]
        elif act.kind == "unset":
            lines.append("unset_fields " + _words(act.names))
        elif act.kind == "stop":
            lines.append("stop_watchdog " + _words(act.names))
        elif act.kind == "gone":
            lines.append("gone " + _words(act.names))
        else:
            # An undo does not wait for a profile: what it restores has one.
            lines += [] if undo else ["have " + _words((name,)) for name in act.names]
    # Only a complete inverse counts as done; a confirm must not come after one that began.
    lines.append('[ "$rc" -ne 0 ] || : >"$d/undone"\nexit "$rc"' if undo else ': >"$d/done"')
    return "\n".join(lines) + "\n"


def _words(names: Sequence[str]) -> str:
    for name in names:
        if not _SAFE.fullmatch(name):
            raise UnsafeName(f"{name!r} may not stand in a shell line")
    return " ".join(shlex.quote(name) for name in names)
