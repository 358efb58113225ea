"""The doctor: pure checks over what was planned and what was observed. It never talks to a device.

What a platform's ``read`` can hand over
----------------------------------------
Leaves of :class:`~rocetune.model.qos.PortQos` and counters of :class:`~rocetune.model.state.Sample` are the
main diet. These entries of ``State.settings`` are understood too; an absent key is *unknown*, an empty value is
*known to be empty*. ``<port>`` is the native port name.

=============================  =============================================================================
key                            value
=============================  =============================================================================
``lldpad``                     ``running`` or ``absent``
``persistence``                ``installed``, ``stale`` or ``absent``: does the boot-time unit carry the settings
``big_red_switch``             ``on`` or ``off`` (SONiC)
``wred_green_enable``          ``on`` or ``off`` for the whole device, or ``wred_green_enable.<port>.<priority>``
``headroom_rejected``          the device's own line, ``""`` when its log was read and holds none (SONiC)
``stormed``                    ``port:queue`` of the queues that are stormed now, blank-separated; once it is known, a
                               queue without watchdog counters has had no event (SONiC lists only the others)
``unread_counters``            loss counters whose command was not answered, blank-separated, without priority
                               (``pg_drops``): their silence is no absence of loss
``nccl_ib_tc``                 traffic class byte that jobs inherit on the server, ``""`` = unset
``ucx_tc`` ``nvshmem_tc``      the same for UCX, NVSHMEM (IBGDA),
``nccl_gin_ib_tc``             NCCL device-initiated traffic,
``mori_tc``                    and mori
``device_initiated``           which of ``gin``, ``nvshmem``, ``mori`` jobs use, blank-separated
``nccl_ib_gid_index``          the pinned index, ``""`` = NCCL chooses
``gids.<port>``                ``index type gid``, joined by ``"; "``, as the kernel words them:
                               ``3 RoCE v2 0000:0000:0000:0000:0000:ffff:c000:0201``
``lldp_neighbors.<port>``      number of LLDP neighbours seen on the port
``dcbx_willing.<port>``        ``on`` or ``off``
``pfc_admin.<port>``           ``on``, ``off`` or ``auto`` where the device tells configuration from operation
=============================  =============================================================================

Evidence paths are ``(native port, *leaf path)``; for device settings ``("", key)``; for a counter
``(native port, "counters", name)`` (optional: the doctor quotes both samples itself).

What a platform's ``remedy`` is asked
-------------------------------------
Any leaf path with the wanted value, ``("", key)`` for a device setting, and these paths that are no leaves:

``(port, "storm")``
    value ``"isolate"`` (on the switch: take the port that faces the sender out of service) or ``"reset"`` (on the
    server: reset the NIC that sends the pause frames).
``("", "persistence")``
    value ``"installed"``: make the running settings survive a reboot.

A platform answers ``()`` where it knows no command; the catalogue's words are shown then.
"""
