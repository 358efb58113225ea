"""What can go wrong around the lab itself, in words for a person."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot do what was asked. ``remedy`` says what to do about it."""

    def __init__(self, text: str, remedy: str = "") -> None:
        super().__init__(f"{text}: {remedy}" if remedy else text)
        self.text, self.remedy = text, remedy


class LabNotRunning(LabError):
    """No lab runs in this folder."""


def missing_extra(module: str) -> LabError:
    """The error for an installation without the lab's socket libraries."""
    return LabError(f"the lab needs the Python package {module}", "install it with: pip install 'rocetune[lab]'")
