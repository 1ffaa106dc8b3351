"""Processes: file descriptors of them, and their end with their parent."""

from __future__ import annotations

import ctypes
import errno
import os
import signal

from actiondbg.errors import LaunchError

# prctl(2)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, or has ended; it survives an exec."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)


def adopt_orphans() -> None:
    """Let this process be the parent of what its children started, once these have ended."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)


def open_pidfd(pid: int) -> int:
    """Return a file descriptor of a process.

    Raises:
        ProcessLookupError: there is no such process.
        LaunchError: the kernel lacks the system call, or refuses it.
    """
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
        raise LaunchError(
            f"The kernel refuses pidfd_open ({error.strerror}), by which actiondbg watches the "
            "tool: use Linux 5.3 or newer; in a container, a seccomp profile that allows it, such "
            "as --security-opt seccomp=unconfined."
        ) from error
