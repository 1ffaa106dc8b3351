"""The tool that a script starts with its own arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import LaunchError
from actiondbg.tool import find_tool
from actiondbg.tool.agent_environment import without_agents
from actiondbg.tool.program import Program


class StartedTool(NamedTuple):
    """A tool that a program has started.

    Args:
        path: the executable.
        environment: its environment at its start, without what is there for an agent.
    """

    path: Path
    environment: Mapping[str, str]


def started_tool(program: Program, pid: int) -> StartedTool | None:
    """Return the tool in a process of a program, if the program did no more than start it.

    Args:
        program: the program.
        pid: of the process that has MLIR.

    Returns:
        None if the program itself loads MLIR, or has started the tool with other arguments or in
        another directory.
    """
    if not program.is_followed:
        return None
    process = Path(f"/proc/{pid}")
    try:
        path = Path(os.readlink(process / "exe"))
        arguments = _texts(process / "cmdline")[1:]
        environment: dict[str, str] = {}
        for each in _texts(process / "environ"):
            name, _, value = each.partition("=")
            environment[name] = value
        directory = os.readlink(process / "cwd")
        if find_tool(str(path)).libmlir is None:
            return None
    except (OSError, LaunchError):
        return None
    if arguments != program.command[1:] or directory != os.path.realpath(program.cwd or "."):
        return None
    return StartedTool(path, without_agents(environment))


def _texts(file: Path) -> list[str]:
    return [os.fsdecode(text) for text in file.read_bytes().split(b"\0")[:-1]]
