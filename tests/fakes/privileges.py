"""Running commands where the kernel forbids to count, or to choose the address layout."""

from __future__ import annotations

import errno
import platform
import subprocess
import sys

import pytest

from actiondbg.statistics import event_probe as opening
from actiondbg.statistics.event_probe import PARANOID

_RUN = """
os.execv(sys.argv[1], sys.argv[1:])
"""
# Root without CAP_SYS_ADMIN and CAP_PERFMON, as in a container, may count what all others may.
_UNPRIVILEGED = (
    """\
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for capability in (21, 38) if os.geteuid() == 0 else ():
    assert libc.prctl(24, capability, 0, 0, 0) == 0, ctypes.get_errno()
"""
    + _RUN
)
# Makes a system call fail, as the seccomp profile of a container does.
_PERSONALITY = {"x86_64": 135, "aarch64": 92}
_FILTERED = (
    """\
import ctypes, os, struct, sys
number, code = int(sys.argv.pop(1)), int(sys.argv.pop(1))
program = b"".join(struct.pack("HBBI", *one) for one in (
    (0x20, 0, 0, 0),                   # load the number of the system call
    (0x15, 0, 1, number),              # unless it is this one, skip the next
    (0x06, 0, 0, 0x00050000 | code),   # return an error
    (0x06, 0, 0, 0x7FFF0000),          # allow
))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0, ctypes.get_errno()
assert libc.prctl(22, 2, ctypes.byref(Program(4, program)), 0, 0) == 0, ctypes.get_errno()
"""
    + _RUN
)


def unprivileged(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command that may not count what the kernel does."""
    if int(PARANOID.read_text()) < 2:
        pytest.skip(f"{PARANOID} lets everybody count")
    return _run(_UNPRIVILEGED, *command)


def filtered(code: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command for which perf_event_open fails with an errno."""
    number = opening._NUMBERS[platform.machine()]  # pyright: ignore[reportPrivateUsage]
    return _run(_FILTERED, str(number), str(code), *command)


def without_personality(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command for which personality(2) fails, as in containers."""
    number = _PERSONALITY[platform.machine()]
    return _run(_FILTERED, str(number), str(errno.EPERM), *command)


def without_pidfds(*command: str, code: int = errno.EPERM) -> subprocess.CompletedProcess[str]:
    """Run a command for which pidfd_open(2) fails, as in containers and with old kernels."""
    return _run(_FILTERED, "434", str(code), *command)


def _run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
