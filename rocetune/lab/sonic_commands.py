"""The commands of an emulated SONiC switch: arguments as click and systemd take them, refusals in their words.

``config load`` follows sonic-swss-common configdb.cpp: no validation, ``null`` deletes an entry or a table, a null
field is written as "None", and a missing file is no error.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocetune.lab.device import Fault
from rocetune.lab.sonic_daemons import Event, SwitchState, Timer, process
from rocetune.lab.sonic_factory import BUILD, Database
from rocetune.lab.sonic_shell import Answer, Call
from rocetune.lab.sonic_show import View, shown
from rocetune.lab.sonic_skus import headroom_ini, sku

_ROOT = Answer(1, err="Root privileges are required for this operation\n")
_ROOT_VERBS = ("load", "save", "checkpoint", "delete-checkpoint", "pfcwd", "interface", "ecn")


@dataclass(slots=True)
class Machine:
    """What the commands work on."""

    state: SwitchState
    now: Callable[[], float]
    view: Callable[[], View]
    faults: Callable[[], tuple[Fault, ...]]

    def refused(self, text: str) -> str | None:
        """The refusal that a fault asks for, where ``text`` contains its value."""
        for fault in self.faults():
            if fault.name == "refuse_line" and fault.value and fault.value in text:
                return f"Error: {fault.value}: Failed to write: OSError(5, 'Input/output error')\n"
        return None


def handle(machine: Machine, call: Call) -> Answer:
    """One command."""
    refusal = machine.refused(" ".join((call.name, *call.args)))
    if refusal is not None:
        return Answer(1, err=refusal)
    commands: dict[str, Callable[[Machine, Call], Answer]] = {
        "cat": _cat,
        "config": _config,
        "date": _date,
        "ecnconfig": lambda m, c: _show(m, Call("show", c.root, ("ecn",))),
        "pfcwd": _pfcwd,
        "show": _show,
        "sleep": lambda m, c: Answer(),
        "sonic-cfggen": _cfggen,
        "sonic-db-cli": _db_cli,
        "sonic-db-dump": _db_dump,
        "systemctl": _systemctl,
        "systemd-run": _systemd_run,
    }
    return commands[call.name](machine, call)


def printed(database: Database) -> str:
    """A database as JSON, one entry per line."""
    tables = []
    for name in sorted(database):
        entries = ",\n".join(f'        "{key}": {json.dumps(held)}' for key, held in sorted(database[name].items()))
        tables.append(f'    "{name}": {{\n{entries}\n    }}')
    return "{\n" + ",\n".join(tables) + "\n}\n"


def _usage(program: str, text: str) -> Answer:
    return Answer(
        2, err=f"Usage: {program} [OPTIONS] COMMAND [ARGS]...\nTry '{program} -h' for help.\n\nError: {text}\n"
    )


def _date(machine: Machine, call: Call) -> Answer:
    text = call.args[0].removeprefix("+") if call.args else "%s"
    return Answer(out=text.replace("%s", str(int(machine.now()))) + "\n")


def _cat(machine: Machine, call: Call) -> Answer:
    out, name_of_sku = "", machine.state.config["DEVICE_METADATA"]["localhost"]["hwsku"]
    for name in call.args:
        if name == "/etc/sonic/config_db.json":
            out += printed(machine.state.startup)
        elif name == "/etc/sonic/sonic_version.yml":
            out += f"build_version: '{BUILD}'\ndebian_version: '12.8'\nbranch: '202411'\n"
            out += f"asic_type: {sku(name_of_sku).asic_type}\n"
        elif name.startswith("/usr/share/sonic/device/") and name.endswith("/pg_profile_lookup.ini"):
            out += headroom_ini(name_of_sku)
        elif name == "/var/log/syslog" and call.root:
            out += "".join(f"{line}\n" for line in ("INFO systemd: Started swss container.", *machine.state.log))
        else:
            return Answer(1, out, f"cat: {name}: No such file or directory\n")
    return Answer(out=out)


def _show(machine: Machine, call: Call) -> Answer:
    if call.args == ("runningconfiguration", "all"):
        return Answer(out=printed(machine.state.config))
    text = shown(machine.view(), call.args)
    return (
        Answer(out=text)
        if text is not None
        else _usage("show", f'No such command "{call.args[0] if call.args else ""}".')
    )


def _cfggen(machine: Machine, call: Call) -> Answer:
    args = call.args
    if args == ("-d", "--print-data"):
        return Answer(out=printed(machine.state.config))
    if len(args) == 3 and args[:2] == ("-d", "-v"):
        table, entry, field = [*args[2].split("."), "", ""][:3]
        return Answer(out=machine.state.config.get(table, {}).get(entry, {}).get(field, "") + "\n")
    if len(args) == 3 and args[0] == "-j" and args[2] == "--write-to-db":
        return _load(machine, args[1]) if call.root else _ROOT
    return Answer(
        2, err="usage: sonic-cfggen [-h] [-m [MINIGRAPH] | -M [DEVICE_DESCRIPTION]]\nsonic-cfggen: error: arguments\n"
    )


def _db_cli(machine: Machine, call: Call) -> Answer:
    if call.args in (("--help",), ("-h",)):
        return Answer(out="usage: sonic-db-cli [-h] [-s] [-n NAMESPACE] db_or_op [cmd ...]\n")
    database, action, *rest = (*call.args, "", "")
    names = [text for text in rest if text]
    content: dict[str, Database] = {"CONFIG_DB": machine.state.config, "APPL_DB": machine.state.appl}
    if database not in content:
        return Answer(1, err=f"Invalid database name input : '{database}'\n")
    separator = "|" if database == "CONFIG_DB" else ":"
    flat = {f"{t}{separator}{k}": fields for t, entries in content[database].items() for k, fields in entries.items()}
    if action == "KEYS":
        return Answer(out="".join(f"{key}\n" for key in flat if fnmatch.fnmatchcase(key, names[0])))
    if action == "EXISTS":
        return Answer(out=f"{int(names[0] in flat)}\n")
    if action == "HGET":
        return Answer(out=flat.get(names[0], {}).get(names[1], "") + "\n")
    if action == "HGETALL":
        return Answer(out=f"{flat.get(names[0], {})}\n")
    if action in ("HSET", "HDEL", "DEL") and database == "CONFIG_DB":
        return _write(machine, action, names) if call.root else Answer(1, err="Permission denied\n")
    return Answer(1, err=f"ERR unknown command '{action}'\n")


def _db_dump(machine: Machine, call: Call) -> Answer:
    """``sonic-db-dump -n APPL_DB -k PATTERN -y``: entries of Redis as JSON."""
    args = call.args
    if len(args) != 5 or (args[0], args[1], args[2], args[4]) != ("-n", "APPL_DB", "-k", "-y"):
        return Answer(2, err="usage: sonic-db-dump [-h] -n DATABASE [-k KEY] [-y]\n")
    flat = {f"{table}:{key}": fields for table, keys in machine.state.appl.items() for key, fields in keys.items()}
    chosen = {
        key: {"expireat": 0, "ttl": -0.001, "type": "hash", "value": fields}
        for key, fields in sorted(flat.items())
        if fnmatch.fnmatchcase(key, args[3])
    }
    return Answer(out=json.dumps(chosen, indent=2) + "\n")


def _write(machine: Machine, action: str, names: list[str]) -> Answer:
    table, _, key = names[0].partition("|")
    entries = machine.state.config.setdefault(table, {})
    event: Event = ("set", table, key)
    if action == "DEL":
        entries.pop(key, None)
    elif action == "HDEL":
        for name in names[1:]:
            entries.get(key, {}).pop(name, None)
        if not entries.get(key, {"": ""}):
            del entries[key]
    else:
        entries.setdefault(key, {}).update(zip(names[1::2], names[2::2], strict=False))
    if key not in entries:
        event = ("del", table, key)
    process(machine.state, [event])
    return Answer(out="1\n")


def _config(machine: Machine, call: Call) -> Answer:
    args = call.args
    if not args or args[0] in ("-h", "--help"):
        return Answer(out="Usage: config [OPTIONS] COMMAND [ARGS]...\n")
    verb = args[0]
    if verb not in _ROOT_VERBS:
        return _usage("config", f'No such command "{verb}".')
    if not call.root:
        return _ROOT
    if verb == "load" and len(args) == 3 and args[1] == "-y":
        return _load(machine, args[2])
    if verb == "save" and args[1:] == ("-y",):
        machine.state.startup = json.loads(json.dumps(machine.state.config))
        return Answer(out="Running command: /usr/local/bin/sonic-cfggen -d --print-data > /etc/sonic/config_db.json\n")
    if verb == "checkpoint" and len(args) == 2:
        machine.state.checkpoints.append(args[1])
        return Answer(out="Checkpoint created successfully.\n")
    if verb == "delete-checkpoint" and len(args) == 2:
        if args[1] not in machine.state.checkpoints:
            return Answer(2, err=f"Error: Checkpoint '{args[1]}' does not exist\n")
        machine.state.checkpoints.remove(args[1])
        return Answer(out="Checkpoint deleted successfully.\n")
    if verb == "pfcwd":
        return _config_pfcwd(machine, args[1:])
    if verb == "interface":
        return _interface(machine, args[1:])
    if verb == "ecn":
        return _ecn(machine, args[1:])
    return _usage("config", f"Invalid arguments of {verb}")


def _load(machine: Machine, name: str) -> Answer:
    command = f"Running command: /usr/local/bin/sonic-cfggen -j {name} --write-to-db\n"
    try:
        text = Path(name).read_text()
    except OSError:
        return Answer(0, f"The config_db file {name} doesn't exist\n")
    refusal = machine.refused(text)
    if refusal is not None:
        return Answer(1, command, refusal)
    try:
        content = json.loads(text)
    except ValueError as error:
        return Answer(1, command, f"json.decoder.JSONDecodeError: {error}\n")
    events: list[Event] = []
    for table, entries in content.items():
        held = machine.state.config.setdefault(table, {})
        if entries is None:
            events += [("del", table, key) for key in held]
            machine.state.config.pop(table)
            continue
        for key, fields in entries.items():
            if fields is None:
                if held.pop(key, None) is not None:
                    events.append(("del", table, key))
                continue
            held.setdefault(key, {}).update(
                {name: "None" if value is None else str(value) for name, value in fields.items()}
            )
            events.append(("set", table, key))
    process(machine.state, events)
    return Answer(0, command)


def _pfcwd(machine: Machine, call: Call) -> Answer:
    args = call.args
    if not args or args[0] in ("-h", "--help"):
        return Answer(out="Usage: pfcwd [OPTIONS] COMMAND [ARGS]...\n")
    if args[0] == "show" and len(args) == 2:
        return _show(machine, Call("show", call.root, ("pfcwd", args[1])))
    return _config_pfcwd(machine, args) if call.root else _ROOT


def _config_pfcwd(machine: Machine, args: tuple[str, ...]) -> Answer:
    entries = machine.state.config.setdefault("PFC_WD", {})
    if args[:1] == ("stop",):
        ports = [port for port in (args[1:] or tuple(entries)) if port in entries and port != "GLOBAL"]
        for port in ports:
            del entries[port]
        process(machine.state, [("del", "PFC_WD", port) for port in ports])
        return Answer()
    if args[:1] == ("interval",) and len(args) == 2:
        if not args[1].isdigit() or not 100 <= int(args[1]) <= 3000:
            return _usage("pfcwd", f"Invalid value for 'POLL_INTERVAL': {args[1]} is not in the range 100<=x<=3000.")
        entries.setdefault("GLOBAL", {})["POLL_INTERVAL"] = args[1]
        return Answer()
    if args[:1] == ("big_red_switch",) and args[1:] in (("enable",), ("disable",)):
        entries.setdefault("GLOBAL", {})["BIG_RED_SWITCH"] = args[1]
        return Answer()
    return _pfcwd_start(machine, args[1:]) if args[:1] == ("start",) else _usage("pfcwd", "No such command.")


def _pfcwd_start(machine: Machine, args: tuple[str, ...]) -> Answer:
    options, words, rest = {"--action": "drop", "--restoration-time": ""}, [], list(args)
    while rest:
        word = rest.pop(0)
        if word in options and rest:
            options[word] = rest.pop(0)
        else:
            words.append(word)
    if len(words) < 2 or not words[-1].isdigit():
        return _usage("pfcwd start", "Missing argument 'DETECTION_TIME'.")
    entries, out, events = machine.state.config.setdefault("PFC_WD", {}), "", []
    ports = machine.view().ports if words[:-1] == ["all"] else words[:-1]
    for port in ports:
        if not machine.state.config.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable"):
            out += f"SKIPPED: PFC is not enabled on port: {port}\n"
            continue
        restore = options["--restoration-time"] or str(2 * int(words[-1]))
        entries[port] = {"action": options["--action"], "detection_time": words[-1], "restoration_time": restore}
        events.append(("set", "PFC_WD", port))
    process(machine.state, events)
    return Answer(out=out)


def _interface(machine: Machine, args: tuple[str, ...]) -> Answer:
    config = machine.state.config
    if args[:1] == ("mtu",) and len(args) == 3 and args[1] in config["PORT"]:
        if not args[2].isdigit() or not 68 <= int(args[2]) <= 9216:
            return _usage(
                "config interface mtu", f"Invalid value for '<interface_mtu>': {args[2]} is not in the range."
            )
        config["PORT"][args[1]]["mtu"] = args[2]
        return Answer()
    if args[:1] in (("startup",), ("shutdown",)) and len(args) == 2 and args[1] in config["PORT"]:
        config["PORT"][args[1]]["admin_status"] = "up" if args[0] == "startup" else "down"
        return Answer()
    if args[:2] == ("pfc", "priority") and len(args) == 5:
        port, number, action = args[2:]
        if port not in config.get("PORT_QOS_MAP", {}):
            return Answer(0, "Cannot find interface\n")
        held = config["PORT_QOS_MAP"][port]
        enabled = set(filter(None, held.get("pfc_enable", "").split(",")))
        enabled = enabled | {number} if action == "on" else enabled - {number}
        held["pfc_enable"] = ",".join(sorted(enabled))
        process(machine.state, [("set", "PORT_QOS_MAP", port)])
        return Answer()
    return _usage("config interface", "Invalid arguments.")


def _ecn(machine: Machine, args: tuple[str, ...]) -> Answer:
    values = dict(zip(args[::2], args[1::2], strict=False))
    profile = machine.state.config.get("WRED_PROFILE", {}).get(values.pop("-profile", ""))
    if profile is None:
        return Answer(1, err="Invalid profile name\n")
    names = {"-gmin": "green_min_threshold", "-gmax": "green_max_threshold", "-gdrop": "green_drop_probability"}
    for option, value in values.items():
        if option not in names or not value.isdigit():
            return _usage("config ecn", f"no such option: {option}")
        profile[names[option]] = value
    return Answer()


def _systemd_run(machine: Machine, call: Call) -> Answer:
    if call.args == ("--version",):
        return Answer(out="systemd 252 (252.33-1~deb12u1)\n")
    if not call.root:
        return Answer(1, err="Failed to start transient timer unit: Interactive authentication required.\n")
    options = {}
    rest = list(call.args)
    while rest and rest[0].startswith("--"):
        name, _, value = rest.pop(0).partition("=")
        options[name] = value
    unknown = options.keys() - {"--collect", "--on-active", "--unit", "--description"}
    if unknown:
        return Answer(1, err=f"systemd-run: unrecognized option '{min(unknown)}'\n")
    if not rest or not options.get("--on-active", "").isdigit():
        return Answer(1, err="Command line to execute required.\n")
    unit = options.get("--unit", "run-1")
    if any(timer.unit == unit for timer in machine.state.timers):
        text = f"Unit {unit}.timer was already loaded or has a fragment file."
        return Answer(1, err=f"Failed to start transient timer unit: {text}\n")
    at = machine.now() + int(options["--on-active"])
    machine.state.timers.append(Timer(unit, at, options.get("--description", " ".join(rest)), rest))
    return Answer(err=f"Running timer as unit: {unit}.timer\nWill run service as unit: {unit}.service\n")


def _systemctl(machine: Machine, call: Call) -> Answer:
    args = [word for word in call.args if word not in ("--quiet", "-q")]
    if args == ["--version"]:
        return Answer(out="systemd 252 (252.33-1~deb12u1)\n")
    timers = {f"{timer.unit}.timer": timer for timer in machine.state.timers}
    if args[:1] == ["stop"]:
        if not call.root:
            return Answer(1, err="Failed to stop unit: Interactive authentication required.\n")
        machine.state.timers = [timer for name, timer in timers.items() if name not in args[1:]]
        return Answer()
    if args[:1] == ["is-active"]:
        active = all(name in timers for name in args[1:])
        return Answer(
            0 if active else 3, "" if len(args) < len(call.args) else ("active\n" if active else "inactive\n")
        )
    if args[:1] == ["show"]:
        return _systemctl_show(timers, args[1:])
    return Answer(1, err=f"Unknown command verb {args[0] if args else ''}.\n")


def _systemctl_show(timers: dict[str, Timer], args: list[str]) -> Answer:
    wanted = [args[n + 1] for n, word in enumerate(args) if word == "-p"]
    units = [word for n, word in enumerate(args) if word != "-p" and (n == 0 or args[n - 1] != "-p")]
    blocks = []
    for unit in units:
        timer = timers.get(unit)
        values = {
            "Id": unit,
            "ActiveState": "active" if timer else "inactive",
            "Description": timer.description if timer else unit,
        }
        blocks.append("".join(f"{name}={values[name]}\n" for name in wanted if name in values))
    return Answer(out="\n".join(blocks))
