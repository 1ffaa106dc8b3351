"""Invalid accesses of a kernel, located before the signal ends the process."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_SA_SIGINFO = 4
_SA_RESETHAND = 0x80000000
_ADDRESS_OFFSET = 16  # of si_addr in siginfo_t, with pointers of 64 bits
_STDERR = 2

_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_installed: list[object] = []  # keeps the C function of the handler alive


class _SigAction(ctypes.Structure):
    _fields_ = [
        ("handler", _Handler),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


def report_faults(locate: Callable[[int], str]) -> None:
    """Write the place of an invalid access to standard error, for loaders that use ctypes.

    The handler is Python: it needs the interpreter's lock, which ctypes releases during a call. It
    returns, and the access, made again, ends the process by the signal.

    Args:
        locate: returns where an address is, in words, or "".
    """
    if _installed:
        return

    def handle(number: int, info: int, _: int) -> None:
        address = ctypes.c_uint64.from_address(info + _ADDRESS_OFFSET).value
        place = locate(address) or f"address {address:#x}"
        os.write(_STDERR, f"Invalid access: {place}.\n".encode())

    libc = ctypes.CDLL(None, use_errno=True)
    action = _SigAction(_Handler(handle), flags=_SA_SIGINFO | _SA_RESETHAND - (1 << 32))
    for number in (signal.SIGSEGV, signal.SIGBUS):
        libc.sigaction(int(number), ctypes.byref(action), None)
    _installed.append(action)
