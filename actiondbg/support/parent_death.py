"""The end of a process with its parent, and the parent of what an ended process started."""

from __future__ import annotations

import ctypes
import os
import signal

# prctl(2)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends; it survives an exec.

    Args:
        parent: the number of the parent's process: it may have ended already.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)


def adopt_orphans() -> None:
    """Let this process be the parent of what its children started, once these have ended."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
