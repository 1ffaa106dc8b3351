"""The init scripts of the user and of trusted directories."""

from __future__ import annotations

import os
from pathlib import Path

NAME = ".actiondbginit"


def user_file() -> Path:
    """Return the path of the user's init script."""
    return Path.home() / NAME


def project_file() -> Path:
    """Return the path of the init script of the current directory."""
    return Path.cwd() / NAME


def _list_file() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "actiondbg" / "trusted"


def is_trusted(path: Path) -> bool:
    """Whether the user has trusted an init script."""
    try:
        return str(path) in _list_file().read_text(encoding="utf-8").splitlines()
    except OSError:
        return False


def add(path: Path) -> Path:
    """Add an init script to the trusted ones; return it."""
    if not is_trusted(path):
        listing = _list_file()
        listing.parent.mkdir(parents=True, exist_ok=True)
        with listing.open("a", encoding="utf-8") as file:
            file.write(f"{path}\n")
    return path
