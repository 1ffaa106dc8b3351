"""What is told of a tool that is run for a command, and the exit code that it gives."""

from __future__ import annotations

import signal
import sys


def say_compiling() -> None:
    """Tell on stderr why nothing happens for some seconds."""
    print("Compiling the agent ...", file=sys.stderr, flush=True)


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def code_of(status: int) -> int:
    """Return the exit code of a tool as a shell gives it; ``status``: negative for a signal."""
    return status if status >= 0 else 128 - status
