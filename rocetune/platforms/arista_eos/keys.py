"""What rocetune owns on EOS: the ownership table, and builders of its keys.

A key follows the nesting of the configuration. Queues are called ``queue N`` whether the device writes
``uc-tx-queue N`` or ``tx-queue N``: a device has one of the two, and the fact ``queue_mode`` picks the word.
"""

from __future__ import annotations

from rocetune.model.change import Impact, Key, KeyRule, Phase
from rocetune.platforms.arista_eos import names

MAP = "qos map dscp"
TC_MAP = "qos map traffic-class"
PROFILE = "qos profile"
MMU = "platform trident mmu queue profile"
MMU_APPLY: Key = ("platform trident mmu queue profile apply",)
WATCHDOG = "priority-flow-control pause watchdog"
WATCHDOG_ACTION: Key = (WATCHDOG, "action")
ECN_COUNTER: Key = ("hardware counter feature", "ecn out")
INTERFACE = "interface"

_OURS = f"{names.PREFIX}*"
_PFC_NOTE = "PFC of a priority changes how its packets are buffered"
_MMU_NOTE = "the packet buffer of the whole switch is divided anew: expect a short loss on every port (not confirmed)"

OWNED: tuple[KeyRule, ...] = (
    KeyRule((MAP, "*"), Phase.BUFFERS, Impact.MARKING, "the DSCP map is one per switch", "global"),
    KeyRule((TC_MAP, "*"), Phase.BUFFERS, Impact.MARKING, "the queue map is one per switch", "global"),
    KeyRule((MMU, _OURS), Phase.BUFFERS, Impact.BRIEF_LOSS, _MMU_NOTE, "ours"),
    KeyRule(MMU_APPLY, Phase.BUFFERS, Impact.BRIEF_LOSS, _MMU_NOTE, "global"),
    KeyRule((PROFILE, _OURS, "priority-flow-control*"), Phase.PFC, Impact.BRIEF_LOSS, _PFC_NOTE, "ours"),
    KeyRule((PROFILE, _OURS, "watchdog*"), Phase.WATCHDOG, Impact.NONE, "", "ours"),
    KeyRule((PROFILE, _OURS, "qos trust"), Phase.SCHEDULER, Impact.MARKING, "", "ours"),
    KeyRule((PROFILE, _OURS), Phase.SCHEDULER, Impact.MARKING, "", "ours"),
    KeyRule((INTERFACE, "{port}", "service-profile"), Phase.SCHEDULER, Impact.MARKING, "trust and queues of the port"),
    KeyRule((INTERFACE, "{port}", "mtu"), Phase.SCHEDULER, Impact.BRIEF_LOSS, "the port is programmed anew"),
    KeyRule((INTERFACE, "{port}", "qos trust"), Phase.SCHEDULER, Impact.MARKING, "overrides the profile"),
    KeyRule((INTERFACE, "{port}", "dcbx mode"), Phase.SCHEDULER, Impact.NONE),
    KeyRule((INTERFACE, "{port}", "queue *"), Phase.SCHEDULER, Impact.MARKING),
    KeyRule((INTERFACE, "{port}", "priority-flow-control*"), Phase.PFC, Impact.BRIEF_LOSS, _PFC_NOTE),
    KeyRule((INTERFACE, "{port}", "watchdog*"), Phase.WATCHDOG, Impact.NONE),
    KeyRule((WATCHDOG, "*"), Phase.WATCHDOG, Impact.NONE, "default of every port that watches", "global"),
    KeyRule(ECN_COUNTER, Phase.SCHEDULER, Impact.NONE, "counter resources are one per switch", "global"),
)


def dscp(code_point: int) -> Key:
    """The traffic class of one DSCP."""
    return (MAP, str(code_point))


def queue_of(traffic_class: int) -> Key:
    """The transmit queue of one traffic class."""
    return (TC_MAP, str(traffic_class))


def profile(name: str, *rest: str) -> Key:
    """A key inside a ``qos profile``; without ``rest`` the profile's existence."""
    return (PROFILE, name, *rest)


def port(name: str, *rest: str) -> Key:
    """A key of one interface."""
    return (INTERFACE, name, *rest)


def queue(number: int) -> str:
    """The key part of a transmit queue, in a profile or on a port."""
    return f"queue {number}"


def pfc_priority(priority: int) -> str:
    """The key part of a priority's drop behaviour."""
    return f"priority-flow-control priority {priority}"
