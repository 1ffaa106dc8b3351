"""The options of a tool, as its ``--help`` lists them, for completion; kept in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.discovery import Tool

_SECONDS = 10.0  # for a tool to print its help
# LLVM indents an option by 2 columns, and a pass in the list of passes by 6; by 8 the options of a
# pass, which are written in braces behind it.
_OPTION = re.compile(r"^(?: {2}| {6})(--?[A-Za-z][\w.-]*)(=?)", re.MULTILINE)


def option_names(tool: Tool, env: Mapping[str, str] | None, cwd: Path | None) -> list[str]:
    """Return the options of a tool, sorted; one that takes a value ends in ``=``.

    Args:
        tool: the tool, which is run with ``--help`` once for each build.
        env: its environment; None for ours.
        cwd: its working directory; None for ours.

    Returns:
        The options; none if the tool prints no such help.
    """
    file = cache_directory() / f"options-{_digest(tool)}.txt"
    with contextlib.suppress(OSError, ValueError):
        return file.read_text(encoding="utf-8").split()
    try:
        done = subprocess.run(
            [tool.path, "--help"],
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    names = sorted(
        {"".join(found) for found in _OPTION.findall(done.stdout.decode(errors="replace"))}
    )
    if names:
        with contextlib.suppress(OSError):  # the next session asks again
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, "\n".join(names).encode())
    return names


def _digest(tool: Tool) -> str:
    """Identify the build of a tool: its MLIR may be in a library that another tool loads, too."""
    with contextlib.suppress(OSError):
        found = tool.path.stat()
        key = f"{tool.path}\0{tool.build_id}\0{found.st_mtime_ns}\0{found.st_size}"
        return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:24]
    return tool.build_id
