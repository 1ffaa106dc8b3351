"""The agent as a library of this process."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from actiondbg.errors import LaunchError, UsageError

_loaded: list[AgentLibrary] = []


class AgentLibrary:
    """The functions of the agent that a program calls; see ``agent/interpose/Interpose.cpp``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._prepare = library.adbg_prepare
        self._prepare.restype = ctypes.c_bool
        self._begin = library.adbg_begin
        self._begin.argtypes = [ctypes.c_char_p] * 3
        self._begin.restype = ctypes.c_bool
        self._connect = library.adbg_connect
        self._connect.argtypes = [ctypes.c_char_p]
        self._flush = library.adbg_flush
        self._flush.restype = ctypes.c_bool
        self._end = library.adbg_end

    def prepare(self) -> None:
        """Prepare this process for recordings.

        Raises:
            UsageError: the process is debugged or recorded as a whole.
        """
        if not self._prepare():
            raise UsageError(
                "This process was started by actiondbg, and has the one agent that it can have: "
                "run the program by itself to use actiondbg.attach()."
            )

    def begin(self, path: Path, ir: str, skips: str) -> None:
        """Record what this process does from now on.

        Args:
            ir: the IR to record, as ``IRDetail``.
            skips: skip rules as JSON, or nothing.

        Raises:
            LaunchError: the file cannot be written.
        """
        if not self._begin(os.fsencode(path), ir.encode(), skips.encode()):
            raise LaunchError(
                f"{str(path)!r} cannot be written: free disk space, or name another file (TMPDIR "
                "for temporary ones)."
            )

    def connect(self, path: str) -> None:
        """Connect to the front end at a socket when the next MLIR context is made."""
        self._connect(os.fsencode(path))

    def flush(self) -> bool:
        """Write what is recorded so far to the file; return whether all of it could be written."""
        return self._flush()

    def end(self) -> None:
        """Complete the recording."""
        self._end()


def load_agent() -> AgentLibrary:
    """Return the agent of this process, loaded at the first call.

    Raises:
        LaunchError: it is missing, or cannot be loaded.
    """
    if not _loaded:
        _loaded.append(_load())
    return _loaded[0]


def _load() -> AgentLibrary:
    process = ctypes.CDLL(None)
    if hasattr(process, "adbg_prepare"):
        return AgentLibrary(process)  # preloaded
    from actiondbg.tool.agent_environment import capabilities_without
    from actiondbg.tool.shipped import shipped_agent

    capabilities_without((), os.environ)  # which the agent reads itself

    path = shipped_agent()
    _keep_users_preload()
    try:
        return AgentLibrary(ctypes.CDLL(os.fspath(path), mode=os.RTLD_LAZY | os.RTLD_LOCAL))
    except OSError as error:
        raise LaunchError(
            f"The agent cannot be loaded into this process ({error}): remove {str(path)!r}, and "
            "try again."
        ) from error


def _keep_users_preload() -> None:
    """Have the agent keep LD_PRELOAD, which it otherwise takes out: it came in by another way."""
    if preloaded := os.environ.get("LD_PRELOAD"):
        os.putenv("ACTIONDBG_PRELOAD", preloaded)
