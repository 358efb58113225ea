"""What a platform is believed to do is shown apart from what is known."""

import json
from dataclasses import dataclass

from rocetune.model.change import Impact, KeyRule, Phase
from rocetune.model.plan import Assumption
from rocetune.report.platforms import platform_text, platforms_json, platforms_text


@dataclass(frozen=True)
class Example:
    """Stands for a platform."""

    name: str = "example_os"
    transport: str = "ssh"
    running_suffix: str = ".cfg"
    safety: str = "the device's own timer"
    confirmed: tuple[str, ...] = ("a timer exists (manual 1.2)",)
    unconfirmed: tuple[Assumption, ...] = (Assumption("", "the timer survives a reload", "try it in a lab"),)
    owned: tuple[KeyRule, ...] = (KeyRule(("interface {port}", "pfc"), Phase.PFC, Impact.LINK_BOUNCE, "bounces"),)


def test_overview() -> None:
    assert "example_os  ssh         1 confirmed, 1 not  the device's own timer" in platforms_text([Example()])


def test_one_platform() -> None:
    text = platform_text(Example())
    assert "  - the timer survives a reload (try it in a lab)" in text
    assert "interface {port} / pfc  port   PFC    link bounce  bounces" in text


def test_json() -> None:
    document = json.loads(platforms_json([Example()]))
    assert document["platforms"][0]["worst_impact"] == "link_bounce"
