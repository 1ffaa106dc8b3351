"""The user's directories (XDG Base Directory Specification)."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Return actiondbg's directory in the user's cache."""
    return _directory("XDG_CACHE_HOME", ".cache")


def config_directory() -> Path:
    """Return actiondbg's directory in the user's configuration."""
    return _directory("XDG_CONFIG_HOME", ".config")


def state_directory() -> Path:
    """Return actiondbg's directory in the user's state, such as histories."""
    return _directory("XDG_STATE_HOME", ".local/state")


def home_directory() -> Path:
    """Return the user's home directory; the root for a user without one, as in a container."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _directory(variable: str, default: str) -> Path:
    given = Path(os.environ.get(variable, ""))
    return (given if given.is_absolute() else home_directory() / default) / "actiondbg"
