"""Programs: their search on PATH, and the answers of those that run for a moment."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from subprocess import CompletedProcess


def which(name: str) -> str | None:
    """Return the path of a program, or None; a name with a slash is a path that is used as it is.

    Equivalent to shutil.which, whose import takes as long as the discovery of a tool.
    """
    for directory in ("",) if "/" in name else os.get_exec_path():
        path = os.path.join(directory, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def answer_of(
    argv: Sequence[str | Path],
    seconds: float,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    check: bool = False,
) -> CompletedProcess[str]:
    """Run a program to its end, without input; return its status and its output.

    Raises:
        OSError: the program cannot be started.
        subprocess.SubprocessError: it took longer than ``seconds``, or failed and ``check``.
    """
    import subprocess  # lazily, as the import would delay the tool's start

    return subprocess.run(
        argv,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=check,
    )


def way_out(error: Exception, otherwise: str) -> str:
    """Return what to do where a program could not be started: ``otherwise``, or a higher limit."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "raise the limit of open files (ulimit -n)"
    return otherwise
