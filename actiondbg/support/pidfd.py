"""File descriptors of processes (pidfd_open(2)), which stay those of the same process."""

from __future__ import annotations

import errno
import os

from actiondbg.errors import LaunchError

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
