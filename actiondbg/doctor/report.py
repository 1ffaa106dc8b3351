"""A report about tools, for an author of actiondbg: what is in the builds, and what failed there.

It has facts of files and of the machine, and what the agent found out with a sample of actiondbg's
own: nothing of the user's IR. The user's home folder is written as ``~``.
"""

from __future__ import annotations

import json
import mmap
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from actiondbg.doctor.examination import Examined
from actiondbg.errors import LaunchError
from actiondbg.support.atomic_write import write_whole
from actiondbg.tool import build_agent, find_tool
from actiondbg.tool.elf import defined_symbols
from actiondbg.version import VERSION

# The mangled names of MLIR and LLVM that an agent refers to, or replaces.
_NAMES = re.compile(rb"_Z[A-Z]{0,2}[0-9A-Za-z_]*4(?:mlir|llvm)[0-9A-Za-z_]+")


def write_report(path: Path, examined: Iterable[Examined]) -> None:
    """Write a report as JSON.

    Args:
        path: of the report; an existing file is replaced.
        examined: the tools.

    Raises:
        FileNotWritten: the file cannot be written.
    """
    report: dict[str, Any] = {
        "actiondbg": VERSION,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "tools": [_described(one) for one in examined],
    }
    home = os.path.expanduser("~")
    text = json.dumps(report, indent=2, default=str)
    write_whole(path, (text.replace(home, "~") + "\n").encode())


def _described(one: Examined) -> dict[str, Any]:
    described: dict[str, Any] = msgspec.to_builtins(one, enc_hook=str)
    if one.object is not None:
        status = one.object.stat()
        described["bytes"] = status.st_size
        described["absent"] = _absent(one.program, one.object)
    return described


def _absent(program: Path, holder: Path) -> list[str]:
    """List the functions that the agent looks up, and that the object with MLIR lacks."""
    try:
        agent = build_agent(find_tool(str(program)))
    except LaunchError:
        return []
    wanted = set(_NAMES.findall(agent.read_bytes()))
    with holder.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        wanted.difference_update(defined_symbols(content))
    return sorted(name.decode() for name in wanted)
