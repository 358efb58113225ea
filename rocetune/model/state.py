"""What a device was observed to have, and the transcript it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocetune.model.facts import Facts
from rocetune.model.qos import Path, PortQos


@dataclass(frozen=True, slots=True)
class Reply:
    """One command's answer. ``error`` is the device's own text when it refused; ``at`` seconds since epoch."""

    text: str
    error: str | None = None
    at: float = 0.0


Transcript = Mapping[str, Reply]  # command -> answer, in the order they were asked


@dataclass(frozen=True, slots=True)
class Evidence:
    """The line a verdict stands on."""

    command: str
    line: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Counters of a device at one moment. Outer key: native port name ("" = device), inner: counter name.

    Counter names are ours, one vocabulary for all platforms; ``.P`` is a priority:
    ``pfc_rx.P`` ``pfc_tx.P`` (frames), ``pfc_rx_us.P`` ``pfc_tx_us.P`` (paused microseconds),
    ``pfc_rx_transitions.P`` (XOFF to XON), ``pfc_rx`` ``pfc_tx`` (port totals where no split exists),
    ``rx_bytes.P`` ``tx_bytes.P`` ``rx_packets.P`` ``tx_packets.P``, ``queue_drops.P``, ``pg_drops.P``,
    ``rx_discards.P`` (NIC), ``rx_discards``, ``ecn_marked.P``, ``wred_drops.P``,
    ``watchdog_storms.P`` ``watchdog_restored.P``, ``storm_warnings`` ``storm_errors`` (NIC),
    ``link_pause_rx`` ``link_pause_tx``, ``ecn_marked_roce`` ``cnp_sent`` ``cnp_handled`` ``cnp_ignored``,
    ``out_of_sequence`` ``packet_seq_err`` ``implied_nak_seq_err`` ``local_ack_timeout_err``
    ``adaptive_retransmissions`` ``slow_restarts`` ``out_of_buffer`` ``rnr_nak_retry_err``
    ``crc_errors`` ``symbol_errors`` ``fec_uncorrectable`` ``link_down``.
    """

    at: float
    counters: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class State:
    """One device as observed. An absent port or leaf is unknown, not off.

    ``device`` holds device-level observations (``lldpad`` running|absent, ``persistence`` installed|absent|stale,
    ``startup`` equal|differs, ``big_red_switch`` on|off, ``nccl_ib_tc``, ``ucx_tc`` ...), value "" = known empty.
    ``problems`` says what could not be read and why.
    """

    device: str
    facts: Facts
    ports: Mapping[str, PortQos] = field(default_factory=dict)  # key: native port name
    settings: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    evidence: Mapping[Path, Evidence] = field(default_factory=dict)  # path starts with the native port name
    problems: tuple[str, ...] = ()
