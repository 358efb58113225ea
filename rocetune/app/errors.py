"""Trouble that a person can mend: what, and how. The command line prints both and exits with 2."""

from __future__ import annotations


class UseError(Exception):
    """``text`` says what is wrong, ``remedy`` what to do about it."""

    def __init__(self, text: str, remedy: str = "") -> None:
        super().__init__(text)
        self.text, self.remedy = text, remedy
