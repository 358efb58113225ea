"""The CONFIG_DB of an emulated SONiC leaf as it leaves the factory: the stock AZURE profile of a T0 image.

Shapes follow sonic-buildimage ``qos_config.j2`` and ``buffers_config.j2``; ASIC kind and headroom table are the SKU's.
Tables that no QoS tool may touch (BGP, NTP, VLAN) are there to survive.
"""

from __future__ import annotations

from rocetune.lab.device import LabDevice
from rocetune.lab.sonic_skus import DEFAULT, sku

Fields = dict[str, str]
Database = dict[str, dict[str, Fields]]

BUILD = "202411.0-emulated"
STOCK_CABLE = "40m"
_PORTS, _STEP, _SPEED_MBPS = 32, 8, 400_000
_STOCK_DSCPS = {3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6}  # everything else goes to 1


def hwsku(device: LabDevice) -> str:
    """What the inventory declares, else the SKU of the demo rack."""
    declared = device.plan.device.declared
    return declared.get("hwsku") or declared.get("model") or DEFAULT


def factory(device: LabDevice) -> Database:
    """The factory CONFIG_DB, without what the switch writes by itself."""
    declared, family = device.plan.device.declared, sku(hwsku(device))
    model = declared.get("buffer_model", "traditional")
    usual = min(_SPEED_MBPS, max(row.speed_mbps for row in family.rows))
    speeds = {f"Ethernet{number * _STEP}": usual for number in range(_PORTS)}
    speeds |= {item.native: item.port.speed_mbps or item.setting.qos.speed_mbps or usual for item in device.plan.ports}
    ports = sorted(speeds, key=lambda name: int("".join(filter(str.isdigit, name)) or 0))
    return {
        "DEVICE_METADATA": {
            "localhost": {
                "hwsku": hwsku(device),
                "platform": family.platform,
                "hostname": device.name,
                "type": "ToRRouter",
                "buffer_model": model,
                "default_pfcwd_status": "disable",
                "mac": "02:00:00:00:00:02",
                "bgp_asn": "65100",
            }
        },
        "VERSIONS": {"DATABASE": {"VERSION": "version_202411_01"}},
        "PORT": {name: _port(name, number, speeds[name]) for number, name in enumerate(ports)},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(ports, STOCK_CABLE)},
        **_maps(ports),
        **_queues(ports),
        **_buffers(ports, family.lossy_queue_profile, model == "dynamic"),
        **_foreign(),
    }


def _port(name: str, number: int, speed: int) -> Fields:
    first = number * 8 + 1
    return {
        "alias": f"etp{number + 1}",
        "index": str(number + 1),
        "lanes": ",".join(str(first + lane) for lane in range(8)),
        "speed": str(speed),
        "mtu": "9100",
        "fec": "rs",
        "admin_status": "up",
        "description": f"{name} of the rack",
    }


def _maps(ports: list[str]) -> Database:
    same = {str(number): str(number) for number in range(8)}
    groups = {"0": "0", "1": "0", "2": "0", "3": "3", "4": "4", "5": "0", "6": "0", "7": "7"}
    bound = {
        "dscp_to_tc_map": "AZURE",
        "tc_to_queue_map": "AZURE",
        "tc_to_pg_map": "AZURE",
        "pfc_to_queue_map": "AZURE",
        "pfc_enable": "3,4",
        "pfcwd_sw_enable": "3,4",
    }
    return {
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): str(_STOCK_DSCPS.get(dscp, 1)) for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": dict(same)},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": groups},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": dict(same)},
        "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE"}, **{name: dict(bound) for name in ports}},
    }


def _queues(ports: list[str]) -> Database:
    wred: Fields = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        wred |= {
            f"wred_{colour}_enable": "true",
            f"{colour}_min_threshold": "1048576",
            f"{colour}_max_threshold": "2097152",
            f"{colour}_drop_probability": "5",
        }
    queues: dict[str, Fields] = {}
    for name in ports:
        for index in range(7):
            lossless = index in (3, 4)
            queues[f"{name}|{index}"] = {"scheduler": "scheduler.1" if lossless else "scheduler.0"}
            if lossless:
                queues[f"{name}|{index}"]["wred_profile"] = "AZURE_LOSSLESS"
    return {
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"},
            "scheduler.1": {"type": "DWRR", "weight": "15"},
        },
        "WRED_PROFILE": {"AZURE_LOSSLESS": wred},
        "QUEUE": queues,
    }


def _buffers(ports: list[str], lossy: str, dynamic: bool) -> Database:
    pool = {"type": "ingress", "mode": "dynamic", "size": "66394076", "xoff": "27200352"}
    groups = {f"{name}|0": {"profile": "ingress_lossy_profile"} for name in ports}
    if dynamic:  # in the other model the buffer manager writes the lossless groups
        groups |= {f"{name}|3-4": {"profile": "NULL"} for name in ports}
    return {
        "BUFFER_POOL": {
            "ingress_lossless_pool": pool,
            "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "67117468"},
            "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "66394076"},
        },
        "BUFFER_PROFILE": {
            "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "1"},
            "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "67117468"},
            lossy: {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1"},
        },
        "BUFFER_PG": groups,
        "BUFFER_QUEUE": {
            f"{name}|{span}": {"profile": profile}
            for name in ports
            for span, profile in (("0-2", lossy), ("3-4", "egress_lossless_profile"), ("5-6", lossy))
        },
    }


def _foreign() -> Database:
    """What a QoS tool must leave as it is, a secret among it."""
    return {
        "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65200", "name": "spine1", "local_addr": "10.0.0.0"}},
        "NTP_SERVER": {"192.0.2.123": {"association_type": "server"}},
        "VLAN": {"Vlan100": {"vlanid": "100"}},
        "SNMP_COMMUNITY": {"planted-community": {"TYPE": "RO"}},
        "TACPLUS": {"global": {"passkey": "planted-passkey"}},
    }
