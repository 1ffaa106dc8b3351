"""The address space layout of the tools that are started: fixed, or random in each run.

MLIR keeps tables by pointer, so with random addresses two runs of a tool may differ.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import warnings
from collections.abc import Generator

from actiondbg.errors import RandomizationWarning

_QUERY = 0xFFFFFFFF
_ADDR_NO_RANDOMIZE = 0x0040000  # of personality(2)


@contextlib.contextmanager
def address_layout(randomize: bool) -> Generator[None]:
    """Choose the layout of the processes that this thread starts in the block.

    A process inherits the choice from the thread that starts it, and it takes effect when the
    process executes a program; so this process keeps its own layout. Where the kernel refuses the
    choice, as in a container that forbids personality(2), a warning is issued and the processes
    get the layout that they would have without it.

    Args:
        randomize: whether the layout is random; else it is the same in each run.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.personality.argtypes = [ctypes.c_ulong]
    before: int = libc.personality(_QUERY)
    wanted = before & ~_ADDR_NO_RANDOMIZE if randomize else before | _ADDR_NO_RANDOMIZE
    is_chosen = before >= 0 and (wanted == before or libc.personality(wanted) >= 0)
    if not is_chosen:
        _warn(randomize, os.strerror(ctypes.get_errno()))
    try:
        yield
    finally:
        if is_chosen and wanted != before:
            libc.personality(before)


@functools.cache  # once in a process
def _warn(randomize: bool, reason: str) -> None:
    if randomize:
        sentence = f"Address randomisation could not be turned on ({reason}): runs may be alike."
    else:
        sentence = (
            f"Address randomisation could not be turned off ({reason}), so runs may differ: allow "
            "the system call personality to this process."
        )
    warnings.warn(sentence, RandomizationWarning, stacklevel=2)
