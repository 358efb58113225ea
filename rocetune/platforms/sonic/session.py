"""I/O with one switch: one round trip per question, the undo on the switch before the first write.

SONiC has no commit timer, so the switch gets a transient systemd timer that runs our inverse script as root. Its fixed
unit name is also the lock: a second transaction cannot start while one is armed. Persisting (``config save``) happens
only on confirm, so a reboot undoes as well.
"""

from __future__ import annotations

import re
import secrets
import shlex
import time
from collections.abc import Sequence

from rocetune.model.change import Step
from rocetune.model.facts import Facts
from rocetune.model.state import Reply, Transcript
from rocetune.model.transaction import Pending, Token
from rocetune.platforms.base import Completed, DeviceError, ShellLink
from rocetune.platforms.sonic import facts as facts_of
from rocetune.platforms.sonic.database import Database, NotConfigDb, compact, copy, load
from rocetune.platforms.sonic.parse import of
from rocetune.platforms.sonic.schema import LIMITS, problems
from rocetune.platforms.sonic.script import script
from rocetune.platforms.sonic.steps import target
from rocetune.platforms.sonic.transition import transition

UNIT = "rocetune-undo"
STARTUP = "sudo -n cat /etc/sonic/config_db.json"
# Exactly the programs a push needs, each harmless with this argument.
RIGHTS = (
    "config --help",
    "pfcwd --help",
    "sonic-db-cli --help",
    "sh -c :",
    "systemd-run --version",
    "systemctl --version",
)
# Only these tables leave the switch: CONFIG_DB also holds SNMP communities and TACACS keys.
KEPT_TABLES = frozenset(LIMITS) | {
    "BUFFER_POOL",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "DEVICE_METADATA",
    "DOT1P_TO_TC_MAP",
    "LOSSLESS_TRAFFIC_PATTERN",
    "TC_TO_DSCP_MAP",
    "VERSIONS",
}
_META_FIELDS = (
    "hwsku",
    "platform",
    "hostname",
    "type",
    "buffer_model",
    "switch_type",
    "default_pfcwd_status",
    "asic_name",
)
_MARK = re.compile(r"^@@rocetune-(\w+)-(\d+) (\d+)$", re.MULTILINE)
_PUSH_TIMEOUT_S = 300.0


class SonicSession:
    """A session over an exec-channel link."""

    def __init__(self, link: ShellLink, facts: Facts | None) -> None:
        self._link = link
        self._facts = facts

    def collect(self, commands: Sequence[str]) -> Transcript:
        """All commands in one round trip; a refused one carries its own error text."""
        nonce = secrets.token_hex(4)
        lines = ["e=$(mktemp) || exit 90", "trap 'rm -f \"$e\"' EXIT"]
        for number, command in enumerate(commands):
            lines += [f'( {command}\n) 2>"$e" </dev/null', "s=$?"]
            lines += [
                f'printf "\\n@@rocetune-{nonce}-{number} %s\\n" "$s"',
                'cat "$e"',
                f'printf "\\n@@rocetune-{nonce}-{number} 0\\n"',
            ]
        done = self._run("sh -s", "\n".join(lines) + "\nexit 0\n")
        at = time.time()
        parts = _MARK.split(done.stdout)
        result: dict[str, Reply] = {}
        # parts: text, (nonce, number, status), error text, (nonce, number, 0), text ...
        for number, command in enumerate(commands):
            base = number * 8
            if base + 4 >= len(parts) or parts[base + 1] != nonce:
                raise DeviceError(self._link.device, command, done.stderr.strip() or "the answer is incomplete")
            text, status, error = parts[base].strip("\n") + "\n", int(parts[base + 3]), parts[base + 4].strip()
            failure = None if status == 0 else (error or text.strip() or f"exit status {status}")
            if failure is None and command in (facts_of.CONFIG, STARTUP):
                text, failure = _kept(text)
            result[command] = Reply(text if failure is None else "", failure, at)
        return result

    def ready(self) -> tuple[str, ...]:
        """What stands in the way of a push, each with its remedy."""
        found = []
        replies = self.collect(
            [f"sudo -n {probe} >/dev/null" for probe in RIGHTS] + [facts_of.CONFIG, STARTUP, _SHOW_UNIT]
        )
        for probe in RIGHTS:
            reply = replies[f"sudo -n {probe} >/dev/null"]
            if reply.error is not None:
                program = probe.split()[0]
                found.append(
                    f"sudo {program} is refused ({_first(reply.error)}): log in as a user of group sudo, "
                    "which SONiC lets run it without a password"
                )
        pending = _pending(replies[_SHOW_UNIT].text, "")
        if pending.kind != "idle":
            owner = pending.owner or "somebody"
            found.append(
                f"an undo of {owner} is armed and fires in {pending.seconds:.0f} s: wait for it, or finish that run "
                "with rocetune apply --resume"
            )
        found += self._unsaved(replies)
        return tuple(found)

    def _unsaved(self, replies: Transcript) -> list[str]:
        if replies[facts_of.CONFIG].error is not None or replies[STARTUP].error is not None:
            error = replies[facts_of.CONFIG].error or replies[STARTUP].error or ""
            return [f"the configuration cannot be read: {_first(error)}"]
        database = load(replies[facts_of.CONFIG].text)
        if not database.get("PORT"):
            return ["CONFIG_DB holds no ports: a multi-ASIC switch keeps them per namespace, which is not supported"]
        running = unsaved_view(database)
        startup = unsaved_view(load(replies[STARTUP].text))
        keys = sorted(key for key in running.keys() | startup.keys() if running.get(key) != startup.get(key))
        if not keys:
            return []
        shown = ", ".join("|".join(key) for key in keys[:3])
        return [
            f"note: running and startup configuration differ in {len(keys)} QoS keys ({shown}): the confirm saves "
            "somebody's unsaved change as well"
        ]

    def stage(self, token: Token, steps: Sequence[Step], facts: Facts) -> str:
        """Resolve the steps on the live database, check the result against the YANG limits, upload both scripts."""
        live = self._live()
        wanted = target(live, steps)
        touched = {
            table: {
                key
                for key in {**live.get(table, {}), **wanted.get(table, {})}
                if live.get(table, {}).get(key) != wanted.get(table, {}).get(key)
            }
            for table in LIMITS
        }
        wrong = problems(wanted, {table: keys for table, keys in touched.items() if keys})
        if wrong:
            raise DeviceError(self._link.device, "check against the YANG limits", "; ".join(wrong[:5]))
        do = script(transition(live, wanted), token.name, undo=False)
        undo = script(transition(wanted, live), token.name, undo=True)
        lines = ["umask 077", f"d={_folder(token)}", 'mkdir -p "$d" || exit 1', 'rm -f "$d"/* || exit 1']
        lines += ["cat >\"$d/undo.sh\" <<'ROCETUNE_UNDO' || exit 1", undo + "ROCETUNE_UNDO"]
        lines += ["cat >\"$d/do.sh\" <<'ROCETUNE_DO' || exit 1", do + "ROCETUNE_DO"]
        # A full disk leaves short files behind without an error on some systems.
        lines += [
            f'[ "$(wc -c <"$d/undo.sh")" -eq {len(undo.encode())} ] || {{ echo "no space left in $d" >&2; exit 1; }}'
        ]
        self._checked("sh -s", "\n".join(lines) + "\n", "stage")
        return ""

    def commit(self, token: Token, revert_in_s: int) -> None:
        """Arm the undo, then run the change; a refusal undoes at once and still raises."""
        lines = [
            f"d={_folder(token)}",
            '[ -s "$d/do.sh" ] && [ -s "$d/undo.sh" ] || { echo "nothing is staged" >&2; exit 1; }',
            f"at=$(($(date +%s) + {int(revert_in_s)}))",
            f"out=$(sudo -n systemd-run --collect --on-active={int(revert_in_s)} --unit={UNIT} "
            f'--description="{UNIT} {token.name} $at" /bin/sh "$d/undo.sh" 2>&1) || '
            '{ echo "the undo timer cannot be armed: $out" >&2; exit 1; }',
            ': >"$d/armed"',
            f"sudo -n config checkpoint {token.name} >/dev/null 2>&1",  # evidence only; older images have none
            'sh "$d/do.sh" </dev/null && exit 0',
            f'sudo -n sh "$d/undo.sh" </dev/null && sudo -n systemctl stop {UNIT}.timer',
            "exit 1",
        ]
        self._checked("sh -s", "\n".join(lines) + "\n", "commit")

    def confirm(self, token: Token) -> None:
        """Stop the timer, save, clean up."""
        lines = [
            f"d={_folder(token)}",
            '[ -d "$d" ] || exit 0',  # confirmed before
            *_only_ours(token),
            f"sudo -n systemctl stop {UNIT}.timer >/dev/null 2>&1",
            '[ ! -e "$d/undoing" ] || { echo "the undo ran before the confirm" >&2; exit 1; }',
            f"! systemctl is-active --quiet {UNIT}.service || {{ echo 'the undo is running' >&2; exit 1; }}",
            ': >"$d/confirmed" || exit 1',
            'out=$(sudo -n config save -y 2>&1) || { echo "config save: $out" >&2; exit 1; }',
            f"sudo -n config delete-checkpoint {token.name} >/dev/null 2>&1",
            'rm -rf "$d"',
            "exit 0",
        ]
        self._checked("sh -s", "\n".join(lines) + "\n", "confirm")

    def revert(self, token: Token) -> None:
        """Undo now, then stop the timer. What was only staged is thrown away."""
        lines = [
            f"d={_folder(token)}",
            '[ -d "$d" ] || exit 0',
            *_only_ours(token),
            'if [ -e "$d/armed" ] && [ ! -e "$d/undone" ]; then',
            '    sudo -n sh "$d/undo.sh" </dev/null || { echo "the undo failed; its timer stays armed" >&2; exit 1; }',
            "fi",
            f"sudo -n systemctl stop {UNIT}.timer >/dev/null 2>&1",
            f"sudo -n config delete-checkpoint {token.name} >/dev/null 2>&1",
            'sudo -n rm -rf "$d"',
            "exit 0",
        ]
        self._checked("sh -s", "\n".join(lines) + "\n", "revert")

    def pending(self, token: Token) -> Pending:
        """Armed, staged, idle, or held by somebody else's timer."""
        lines = [
            f"d={_folder(token)}",
            _SHOW_UNIT,
            'if [ -d "$d" ] && [ ! -e "$d/undone" ] && [ ! -e "$d/confirmed" ]; then echo Staged=yes; fi',
            "exit 0",
        ]
        done = self._checked("sh -s", "\n".join(lines) + "\n", "pending")
        return _pending(done.stdout, token.name)

    def _live(self) -> Database:
        reply = self.collect([facts_of.CONFIG])[facts_of.CONFIG]
        if reply.error is not None:
            raise DeviceError(self._link.device, facts_of.CONFIG, reply.error)
        return load(reply.text)

    def _run(self, command: str, stdin: str) -> Completed:
        return self._link.run(command, stdin.encode(), timeout_s=_PUSH_TIMEOUT_S)

    def _checked(self, command: str, stdin: str, what: str) -> Completed:
        done = self._run(command, stdin)
        if done.status != 0:
            text = done.stderr.strip() or done.stdout.strip() or f"exit status {done.status}"
            raise DeviceError(self._link.device, what, text)
        return done


# The description carries whose undo it is and when it fires, for any process and any user.
_SHOW_UNIT = f"systemctl show {UNIT}.timer {UNIT}.service -p Id -p ActiveState -p Description && date +Now=%s"


def _folder(token: Token) -> str:
    """A shell expression for the transaction's folder: in the user's home, which root can read as well."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,80}", token.name, re.ASCII):
        raise ValueError(f"{token.name!r} cannot name a folder")
    return f'"$HOME"/.rocetune/{shlex.quote(token.name)}'


def _only_ours(token: Token) -> list[str]:
    """Lines that stop when the armed timer belongs to another transaction."""
    return [
        f"t=$(systemctl show {UNIT}.timer -p ActiveState -p Description)",
        'case "$t" in',
        f'*ActiveState=active*) case "$t" in *"{UNIT} {token.name} "*) ;; '
        '*) echo "another transaction holds the undo timer" >&2; exit 1 ;; esac ;;',
        "esac",
    ]


def _pending(text: str, name: str) -> Pending:
    """Reads what ``systemctl show`` says about timer and service; blocks are separated by an empty line."""
    clock = re.search(r"^Now=(\d+)$", text, re.MULTILINE)  # the switch's own clock, as in the deadline
    now = int(clock[1]) if clock else 0
    for block in text.split("\n\n"):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if values.get("ActiveState") not in ("active", "activating"):
            continue
        match = re.search(rf"{UNIT} (\S+) (\d+)", values.get("Description", ""))
        owner = match[1] if match else ""
        seconds = max(0.0, int(match[2]) - now) if match else 0.0
        if owner != name:
            return Pending("foreign", seconds, owner or "an unknown transaction")
        return Pending("reverting", seconds, owner)
    return Pending("staged", owner=name) if "Staged=yes" in text else Pending("idle")


def unsaved_view(database: Database) -> dict[tuple[str, ...], str]:
    """Owned keys without what the switch writes by itself after a boot and never saves."""
    return {key: value for key, value in of(database).items() if key[0] != "BUFFER_PG"}


def kept(database: Database) -> Database:
    """The tables a transcript may carry, device metadata reduced to what facts need."""
    result = copy({table: entries for table, entries in database.items() if table in KEPT_TABLES})
    for entries in (result.get("DEVICE_METADATA", {}),):
        for fields in entries.values():
            for name in [name for name in fields if name not in _META_FIELDS]:
                del fields[name]
    return result


def _kept(text: str) -> tuple[str, str | None]:
    try:
        return compact(kept(load(text))), None
    except NotConfigDb as error:
        return "", str(error)


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), text)
