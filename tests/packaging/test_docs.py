"""What the documents name exists: commands, options, files."""

import re
from pathlib import Path

import click
import pytest

from rocetune.cli import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_commands_and_options_exist(path: Path) -> None:
    shared = {"--site": 1, "--inventory": 1, "--limit": 1, "--format": 1}
    for block in re.findall(r"^```\w*\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL):
        for line in re.findall(r"(?:^|[(\"] ?)rocetune +(.*)", block, re.MULTILINE):
            words = line.split("#")[0].split(" >")[0].split()
            while words and words[0].startswith("-"):
                words = words[1 + shared.get(words[0], 0) :]
            if not words or words[0] in ("&&",):
                continue
            assert words[0] in COMMANDS, line
            command = main.get_command(click.Context(main), words[0])
            while isinstance(command, click.Group) and len(words) > 1:
                words = words[1:]
                command = command.get_command(click.Context(command), words[0])
            assert command is not None, line
            known = {option for parameter in command.params for option in parameter.opts}
            assert set(re.findall(r"--[a-z-]+", " ".join(words))) <= known, line
