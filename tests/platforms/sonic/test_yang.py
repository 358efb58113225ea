"""Every rendered CONFIG_DB is accepted by SONiC's own YANG models, and wrong ones are not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.platforms.sonic import PLATFORM
from rocetune.platforms.sonic.database import Database, load
from rocetune.platforms.sonic.schema import problems
from rocetune.platforms.sonic.transition import merged
from tests.platforms.sonic.cases import CASES, HERE, fitted_case
from tests.platforms.sonic.configdb import YANG, context, verdict

pytest.importorskip("libyang", reason="needs Debian libyang2-dev and PyPI libyang==2.7.1")
pytestmark = pytest.mark.skipif(not YANG.exists(), reason="the YANG models are not beside the repository")
ROOT = Path(__file__).resolve().parents[3]
PROFILES = sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))


@pytest.fixture(scope="module")
def models() -> Any:
    return context()


def around(rendered: Database, facts: Facts, plan: DevicePlan) -> Database:
    """The rendered scope on a switch: its ports, pools and the profiles that the image and the switch bring."""
    base: Database = {
        "DEVICE_METADATA": {"localhost": {"buffer_model": facts.extra.get("buffer_model", "traditional")}},
        "PORT": {
            item.native: {"lanes": str(number * 8 + 1), "speed": str(item.setting.qos.speed_mbps), "mtu": "9100"}
            for number, item in enumerate(plan.ports)
        },
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "66394076"},
            "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "67117468"},
            "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "66394076"},
        },
        "BUFFER_PROFILE": {
            "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "67117468"},
            "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1"},
            "q_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1"},
        },
    }
    for fields in rendered.get("BUFFER_PG", {}).values():
        if fields["profile"].startswith("pg_lossless_"):
            made = {
                "pool": "ingress_lossless_pool",
                "size": "2540",
                "xon": "2540",
                "xoff": "178562",
                "dynamic_th": "-2",
            }
            base["BUFFER_PROFILE"][fields["profile"]] = made
    return merged(base, {table: dict(entries) for table, entries in rendered.items()})


@pytest.mark.parametrize("case", [name for name, case in CASES.items() if "render" in case])
def test_every_case_is_accepted(case: str, models: Any) -> None:
    plan, facts = fitted_case(case)
    database = around(load((HERE / case / "expected.json").read_text()), facts, plan)
    assert verdict(models, database) == ""


@pytest.mark.parametrize("profile", PROFILES)
def test_every_shipped_profile_is_accepted(profile: str, models: Any, tmp_path: Path) -> None:
    database = shipped(profile, tmp_path)
    assert database["QUEUE"]
    assert verdict(models, database) == ""
    assert problems(database, {table: set(entries) for table, entries in database.items() if table in TOUCHED}) == ()


TOUCHED = (
    "QUEUE",
    "PORT_QOS_MAP",
    "WRED_PROFILE",
    "SCHEDULER",
    "PFC_WD",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    "PORT",
)


def shipped(profile: str, folder: Path) -> Database:
    """leaf2 of the shipped inventory with one profile on all its ports, as rendered offline."""
    from rocetune.app.planning import fitted, make_plan
    from rocetune.app.workspace import open_workspace

    for name in ("profiles", "inventory"):
        shutil.copytree(ROOT / name, folder / name)
    networks = {
        "backend": {"profile": profile, "ports": {"role": "rail"}},
        "storage": {"profile": "storage", "ports": {"role": "storage"}},
        "mgmt": {"profile": "none"},
    }
    (folder / "rocetune.yaml").write_text(yaml.safe_dump({"networks": networks}))
    ws = open_workspace(folder)
    item = next(fitted(ws, make_plan(ws), ["leaf2"]))
    return around(load(PLATFORM.render(item.plan, item.facts).text), item.facts, item.plan)


MUTATIONS: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "weight out of range": {"SCHEDULER": {"ROCETUNE-backend-400g-2m-roce": {"weight": "101"}}},
    "thresholds in the wrong order": {
        "WRED_PROFILE": {"ROCETUNE-backend-400g-2m-roce": {"green_min_threshold": "9000000"}}
    },
    "percentage above 100": {"WRED_PROFILE": {"ROCETUNE-backend-400g-2m-roce": {"red_drop_probability": "101"}}},
    "unknown map": {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "NOBODY"}}},
    "space in a priority list": {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3, 4"}}},
    "detection below the poll interval": {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "500"}}},
    "poll interval out of range": {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "50"}}},
    "length without unit": {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "5"}}},
    "MTU above the ceiling": {"PORT": {"Ethernet0": {"mtu": "9217"}}},
    "scheduler that is not there": {"QUEUE": {"Ethernet0|3": {"scheduler": "nobody"}}},
    "port that is not there": {"QUEUE": {"Ethernet4096|3": {"scheduler": "ROCETUNE-backend-400g-2m-roce"}}},
    "buffer profile that is not there": {"BUFFER_QUEUE": {"Ethernet0|3": {"profile": "nobody"}}},
    "threshold power out of range": {"BUFFER_PROFILE": {"egress_lossy_profile": {"dynamic_th": "8"}}},
    "name too long": {"WRED_PROFILE": {"R" * 33: {"ecn": "ecn_all"}}},
    "DSCP out of range": {"DSCP_TO_TC_MAP": {"ROCETUNE": {"64": "3"}}},
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_wrong_database_is_refused_by_the_models_and_by_us(name: str, models: Any) -> None:
    plan, facts = fitted_case("render_two_rails")
    good = around(load((HERE / "render_two_rails" / "expected.json").read_text()), facts, plan)
    bad = merged(good, MUTATIONS[name])  # type: ignore[arg-type]
    assert verdict(models, good) == ""
    assert verdict(models, bad) != ""
    touched = {
        table: set(entries) for table, entries in bad.items() if table != "DEVICE_METADATA" and table != "BUFFER_POOL"
    }
    assert problems(good, touched) == ()
    assert problems(bad, touched) != (), json.dumps(MUTATIONS[name])
