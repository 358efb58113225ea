"""``--limit``: a comma means or, a plus sign means and; what matches nothing is an error."""

from typing import Any

import pytest

from rocetune.app.errors import UseError
from rocetune.app.planning import select
from rocetune.model.fabric import Device
from rocetune.model.plan import DevicePlan, Plan


def _device(name: str, role: str, *groups: str) -> DevicePlan:
    return DevicePlan(Device(name, "server", "linux", role=role, groups=groups), ())


PLAN = Plan(
    {
        plan.device.name: plan
        for plan in (
            _device("gpu01", "gpu", "pod1"),
            _device("gpu02", "gpu", "pod2"),
            _device("stor01", "storage", "pod1"),
        )
    },
    (),
)
NO_SITE: Any = None


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        (None, ("gpu01", "gpu02", "stor01")),
        ("role=gpu,group=pod1", ("gpu01", "gpu02", "stor01")),
        ("role=gpu+group=pod1", ("gpu01",)),
        ("stor*, gpu*+group=pod2", ("gpu02", "stor01")),
    ],
)
def test_or_and_and(limit: str | None, names: tuple[str, ...]) -> None:
    assert select(NO_SITE, PLAN, limit) == names


@pytest.mark.parametrize("limit", ["leef*", "role=storage+group=pod2", "role=gpu+", "rack=1", "gpu01,gpu09"])
def test_a_typing_error_is_no_success(limit: str) -> None:
    with pytest.raises(UseError):
        select(NO_SITE, PLAN, limit)
