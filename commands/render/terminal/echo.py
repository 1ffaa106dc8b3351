"""The terminal's echo of keys, which is off while a line about a wait is shown."""

from __future__ import annotations

import os
import termios
from collections.abc import Callable

_FLAGS = 3  # the local flags in the attributes of a terminal


def stop_echo(descriptor: int) -> Callable[[], None]:
    """Stop the echo of what is typed ahead, which the prompt shows again; return its restoration.

    Nothing changes unless the descriptor is a terminal with this process in the foreground.
    """
    if not _is_ours(descriptor):
        return lambda: None
    before = termios.tcgetattr(descriptor)
    silent = [*before]
    silent[_FLAGS] = before[_FLAGS] & ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSANOW, silent)

    def restore() -> None:
        if _is_ours(descriptor):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)

    return restore


def _is_ours(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
