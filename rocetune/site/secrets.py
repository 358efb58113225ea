"""Where passwords come from when the inventory holds none, as it should be."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from importlib import import_module

from pydantic import SecretStr

PREFIX = "ROCETUNE_"
KEYRING_SERVICE = "rocetune"


def variable(group: str | None = None, what: str = "PASSWORD") -> str:
    """The environment variable of a group, or of everybody: ``ROCETUNE_PASSWORD_SPINE``."""
    return f"{PREFIX}{what}" + (f"_{re.sub(r'[^A-Z0-9]', '_', group.upper())}" if group else "")


def from_environment(groups: Iterable[str]) -> SecretStr | None:
    """The password of the nearest group that has one, else the common one."""
    value = _nearest(groups, "PASSWORD")
    return None if value is None else SecretStr(value)


def user_from_environment(groups: Iterable[str]) -> str | None:
    """The user name of the nearest group that has one, else the common one."""
    return _nearest(groups, "USERNAME")


def _nearest(groups: Iterable[str], what: str) -> str | None:
    for group in (*groups, None):
        value = os.environ.get(variable(group, what))
        if value:
            return value
    return None


def from_keyring(name: str, username: str | None) -> SecretStr | None:
    """The password that the desktop keyring holds for service ``rocetune``, user ``USER@DEVICE`` or ``USER``.

    None without the ``keyring`` package, without a backend, or without an entry.
    """
    try:
        keyring = import_module("keyring")  # optional: not a dependency
    except ImportError:
        return None
    for account in (f"{username}@{name}", username):
        try:
            value = keyring.get_password(KEYRING_SERVICE, account) if account else None
        except Exception:  # a keyring backend may fail in any way; it is only one of several sources
            return None
        if value:
            return SecretStr(value)
    return None
