"""The agent as the processes of a suite load it: by a link, with their settings beside it.

Drivers such as lit start tests with few of their variables, LD_PRELOAD among them. The agent
finds the settings by its own path (``actiondbg/agent/interpose/SuiteProcess.cpp``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from actiondbg.tool.shipped import shipped_agent

_UNUSABLE = " \t\n:;$"  # LD_PRELOAD cannot have these in a path
_NAME = "agent.so"
_SETTINGS = "settings"


def unusable_character(folder: Path) -> str | None:
    """Return a character of a path that LD_PRELOAD cannot have, or None."""
    return next((each for each in sorted(str(folder)) if each in _UNUSABLE), None)


def link_agent(folder: Path) -> Path:
    """Return the path of a link to the agent in a folder; that of the agent itself if need be."""
    if unusable_character(folder.absolute()) is not None:
        return shipped_agent()
    link = folder.absolute() / _NAME
    link.unlink(missing_ok=True)
    link.symlink_to(shipped_agent())
    return link


def write_settings(folder: Path, environment: Mapping[str, str]) -> None:
    """Write the variables for agents beside the link."""
    words = [f"{name}={value}\0" for name, value in environment.items() if _is_ours(name)]
    (folder / _SETTINGS).write_bytes(os.fsencode("".join(words)))


def _is_ours(name: str) -> bool:
    return name.startswith("ACTIONDBG_")
