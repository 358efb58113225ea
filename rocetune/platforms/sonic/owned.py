"""What rocetune owns in CONFIG_DB, in which phase it goes out, and what live traffic feels.

Keys are (table, key parts..., field). Objects named ROCETUNE* are ours; shared AZURE objects are never edited.
Source of the impacts: sonic-swss orchagent and sonic-utilities as cited in the reference; whether a given ASIC's SAI
applies a buffer change hitlessly is not confirmed, so buffer changes count as brief loss.
"""

from __future__ import annotations

from rocetune.model.change import Impact, KeyRule, Phase

OURS = "ROCETUNE"

_SPLIT = "range keys are split: delete, wait until APPL_DB let go, add; without a profile in between"
_LOAD = "set by config load, as config apply-patch would bounce the port"

# Each note begins with what the key is, in a few words, so that a row can be described by it; a remark may follow.
RULES: tuple[KeyRule, ...] = (
    # phase 1: maps, buffers, headroom
    KeyRule(
        ("DSCP_TO_TC_MAP", f"{OURS}*"), Phase.BUFFERS, Impact.MARKING,
        "DSCP to traffic class: edited in place, applied live", "ours",
    ),
    KeyRule(
        ("TC_TO_PRIORITY_GROUP_MAP", f"{OURS}*"), Phase.BUFFERS, Impact.MARKING,
        "traffic class to priority group: lossless classes have their own, all others share 0", "ours",
    ),
    KeyRule(
        ("TC_TO_QUEUE_MAP", f"{OURS}*"), Phase.BUFFERS, Impact.MARKING,
        "traffic class to queue: one to one", "ours",
    ),
    KeyRule(
        ("MAP_PFC_PRIORITY_TO_QUEUE", f"{OURS}*"), Phase.BUFFERS, Impact.MARKING,
        "queue that a received pause stops: one to one", "ours",
    ),
    KeyRule(
        ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", f"{OURS}*"), Phase.BUFFERS, Impact.MARKING,
        "priority group behind a paused priority: NVIDIA and Barefoot images need it", "ours",
    ),
    KeyRule(
        ("BUFFER_PROFILE", f"{OURS}*"), Phase.BUFFERS, Impact.BRIEF_LOSS,
        "headroom that the profile fixes: numbers are set live", "ours",
    ),
    KeyRule(
        ("PORT", "{port}", "mtu"), Phase.BUFFERS, Impact.BRIEF_LOSS, "port MTU: set by config load, no port bounce"
    ),
    KeyRule(
        ("CABLE_LENGTH", "*", "{port}"), Phase.BUFFERS, Impact.BRIEF_LOSS,
        "cable length the switch sizes headroom by: headroom is re-created",
    ),
    KeyRule(
        ("BUFFER_QUEUE", "{port}"), Phase.BUFFERS, Impact.BRIEF_LOSS, f"buffer profile of a queue: {_SPLIT}"
    ),
    KeyRule(
        ("PORT_QOS_MAP", "{port}", "dscp_to_tc_map"), Phase.BUFFERS, Impact.MARKING,
        "the port's DSCP map: rebinding moves DSCPs to their new queue",
    ),
    KeyRule(
        ("PORT_QOS_MAP", "{port}", "*_map"), Phase.BUFFERS, Impact.MARKING, f"the port's queue and group maps: {_LOAD}"
    ),
    KeyRule(
        ("PORT_QOS_MAP", "global", "dscp_to_tc_map"), Phase.BUFFERS, Impact.ALL_PORTS,
        "the switch's DSCP map: serves every port without its own map", "global",
    ),
    # phase 2: scheduler and ECN
    KeyRule(("SCHEDULER", f"{OURS}*"), Phase.SCHEDULER, Impact.MARKING, "scheduler of a class: applied live", "ours"),
    KeyRule(
        ("WRED_PROFILE", f"{OURS}*"), Phase.SCHEDULER, Impact.MARKING, "ECN curve of a class: applied live", "ours"
    ),
    KeyRule(
        ("QUEUE", "{port}"), Phase.SCHEDULER, Impact.MARKING, f"scheduler and ECN curve of a queue: {_LOAD}"
    ),
    # phase 3: PFC, with the headroom that the switch writes when PFC changes
    KeyRule(
        ("PORT_QOS_MAP", "{port}", "pfc_enable"), Phase.PFC, Impact.BRIEF_LOSS,
        "priorities with PFC: a running watchdog is stopped and started around it",
    ),
    KeyRule(
        ("BUFFER_PG", "{port}"), Phase.PFC, Impact.BRIEF_LOSS, f"headroom of a lossless priority group: {_SPLIT}"
    ),
    # phase 4: watchdog
    KeyRule(
        ("PORT_QOS_MAP", "{port}", "pfcwd_sw_enable"), Phase.WATCHDOG, Impact.NONE,
        "priorities the watchdog looks at: a running one is stopped and started around it",
    ),
    KeyRule(
        ("PFC_WD", "{port}"), Phase.WATCHDOG, Impact.NONE,
        "PFC watchdog of the port: the port is unwatched for a moment",
    ),
    KeyRule(
        ("PFC_WD", "GLOBAL", "POLL_INTERVAL"), Phase.WATCHDOG, Impact.NONE,
        "poll interval of the PFC watchdog: for every watched port", "global",
    ),
)  # fmt: skip

OBJECTS = (
    "BUFFER_PROFILE",
    "DSCP_TO_TC_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "SCHEDULER",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
)
PORT_MAPS = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map", "pfc_to_pg_map")
PFC_FIELDS = ("pfc_enable", "pfcwd_sw_enable")
WATCHDOG_FIELDS = ("action", "detection_time", "restoration_time")
