"""mlx5 counters in the vocabulary of :class:`rocetune.model.state.Sample`.

Sources: Linux Documentation/networking/.../mlx5/counters.rst and drivers/infiniband/hw/mlx5/counters.c.
"""

from __future__ import annotations

from collections.abc import Mapping

_PER_PRIORITY = {
    "rx_prio{}_pause": "pfc_rx.{}",
    "tx_prio{}_pause": "pfc_tx.{}",
    "rx_prio{}_pause_duration": "pfc_rx_us.{}",
    "tx_prio{}_pause_duration": "pfc_tx_us.{}",
    "rx_prio{}_pause_transition": "pfc_rx_transitions.{}",
    "rx_prio{}_bytes": "rx_bytes.{}",
    "tx_prio{}_bytes": "tx_bytes.{}",
    "rx_prio{}_packets": "rx_packets.{}",
    "rx_prio{}_marked": "ecn_marked.{}",
}
# Losses of one priority come under up to three names; they count different causes and are added.
_DISCARDS = ("rx_prio{}_discards", "rx_prio{}_buf_discard", "rx_prio{}_cong_discard")
_PORT = {
    "rx_pause_ctrl_phy": "pfc_rx",
    "tx_pause_ctrl_phy": "pfc_tx",
    "rx_discards_phy": "rx_discards",
    "tx_pause_storm_warning_events": "storm_warnings",
    "tx_pause_storm_error_events": "storm_errors",
    "rx_global_pause": "link_pause_rx",
    "tx_global_pause": "link_pause_tx",
    "rx_crc_errors_phy": "crc_errors",
    "rx_symbol_err_phy": "symbol_errors",
    "link_down_events_phy": "link_down",
}
_RDMA = {
    "np_ecn_marked_roce_packets": "ecn_marked_roce",
    "np_cnp_sent": "cnp_sent",
    "rp_cnp_handled": "cnp_handled",
    "rp_cnp_ignored": "cnp_ignored",
    "out_of_sequence": "out_of_sequence",
    "packet_seq_err": "packet_seq_err",
    "implied_nak_seq_err": "implied_nak_seq_err",
    "local_ack_timeout_err": "local_ack_timeout_err",
    "roce_adp_retrans": "adaptive_retransmissions",
    "roce_slow_restart": "slow_restarts",
    "out_of_buffer": "out_of_buffer",
    "rnr_nak_retry_err": "rnr_nak_retry_err",
}


def of_port(ethtool: Mapping[str, int], rdma: Mapping[str, int]) -> dict[str, int]:
    """Counters of one port. Counters the driver does not show stay absent: they are unknown, not 0."""
    result = {ours: ethtool[theirs] for theirs, ours in _PORT.items() if theirs in ethtool}
    for priority in range(8):
        for theirs, ours in _PER_PRIORITY.items():
            if (value := ethtool.get(theirs.format(priority))) is not None:
                result[ours.format(priority)] = value
        lost = [value for name in _DISCARDS if (value := ethtool.get(name.format(priority))) is not None]
        if lost:
            result[f"rx_discards.{priority}"] = sum(lost)
    result.update({ours: rdma[theirs] for theirs, ours in _RDMA.items() if theirs in rdma})
    return result
