"""Counters of a SONiC switch from its printed tables, under the names of ``rocetune.model.state.Sample``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rocetune.platforms.sonic.tables import Row, Table, number, tables

PFC = "show pfc counters"
WATCHDOG = "show pfcwd stats"
QUEUES = "show queue counters"
WRED = "show queue wredcounters"  # from 202505
PG_DROPS = "show priority-group drop counters"
PG_WATERMARK = "show priority-group watermark headroom"
PORTS = "show interfaces counters"
FEC = "show interfaces counters fec-stats"

Counts = dict[str, dict[str, int]]


def counters(answers: Mapping[str, str]) -> Counts:
    """Everything countable in these answers; ``N/A`` and absent tables are left out, never zero."""
    found: Counts = {}
    for table in tables(answers.get(PFC, "")):
        _priorities(table, found)
    for table in tables(answers.get(PG_DROPS, "")):
        _groups(table, "pg_drops", found)
    for table in tables(answers.get(QUEUES, "")):
        _queues(table, {"Counter/pkts": "tx_packets", "Counter/bytes": "tx_bytes", "Drop/pkts": "queue_drops"}, found)
    for table in tables(answers.get(WRED, "")):
        _queues(table, {"EcnMarked/pkts": "ecn_marked", "WredDrp/pkts": "wred_drops"}, found)
    for table in tables(answers.get(WATCHDOG, "")):
        _storms(table, found)
    for table in tables(answers.get(PORTS, "")):
        _columns(table, "IFACE", {"RX_DRP": "rx_discards", "RX_ERR": "crc_errors"}, found)
    for table in tables(answers.get(FEC, "")):
        _columns(table, "IFACE", {"FEC_UNCORR": "fec_uncorrectable", "FEC_SYMBOL_ERR": "symbol_errors"}, found)
    return found


def storms(text: str) -> Iterable[tuple[str, int, str, Row]]:
    """(port, queue, status, row) of ``show pfcwd stats``."""
    for table in tables(text):
        for row in table.rows:
            port, _, queue = row["QUEUE"].partition(":")
            if queue.isdigit():
                yield port, int(queue), row["STATUS"], row


def _add(found: Counts, port: str, name: str, text: str) -> None:
    value = number(text)
    if value is not None and port:
        found.setdefault(port, {})[name] = value


def _priorities(table: Table, found: Counts) -> None:
    direction = {"Port Rx": "pfc_rx", "Port Tx": "pfc_tx"}.get(table.header[0])
    if direction is None:
        return
    for row in table.rows:
        for priority in range(8):
            _add(found, row[table.header[0]], f"{direction}.{priority}", row[f"PFC{priority}"])


def _groups(table: Table, name: str, found: Counts) -> None:
    for row in table.rows:
        for priority in range(8):
            _add(found, row["Port"], f"{name}.{priority}", row[f"PG{priority}"])


def _queues(table: Table, columns: Mapping[str, str], found: Counts) -> None:
    for row in table.rows:
        match = re.fullmatch(r"UC(\d)", row["TxQ"])  # multicast queues (MC) carry no RoCE
        for header, name in columns.items():
            if match is not None:
                _add(found, row["Port"], f"{name}.{match[1]}", row[header])


def _storms(table: Table, found: Counts) -> None:
    for row in table.rows:
        port, _, queue = row["QUEUE"].partition(":")
        detected, _, restored = row["STORM DETECTED/RESTORED"].partition("/")
        if queue.isdigit():
            _add(found, port, f"watchdog_storms.{queue}", detected)
            _add(found, port, f"watchdog_restored.{queue}", restored)


def _columns(table: Table, key: str, columns: Mapping[str, str], found: Counts) -> None:
    for row in table.rows:
        for header, name in columns.items():
            _add(found, row[key], name, row[header])
