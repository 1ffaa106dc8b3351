"""Stops as events, and the threads and places of actions."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from actiondbg.commands.dap.protocol import StoppedEvent

if TYPE_CHECKING:
    from actiondbg.commands.dap.debuggee import Debuggee
    from actiondbg.process.stop import Stop

_LOCATION = re.compile(r"(.+):(\d+):(\d+)")
_REASONS = {
    "start": "entry",
    "breakpoint": "breakpoint",
    "step": "step",
    "next": "step",
    "finish": "step",
    "until": "goto",
    "interrupt": "pause",
    "watch": "data breakpoint",
    "catch": "exception",
    "verify": "exception",
    "crash": "exception",
}


def thread_number(stop: Stop | None) -> int:
    """Return the number of the thread of a stop, from 1."""
    name = "t0" if stop is None or stop.thread is None else stop.thread
    return int(name[1:]) + 1


def stopped_event(debuggee: Debuggee, stop: Stop, by: str) -> StoppedEvent:
    """Return the event of a stop.

    Args:
        stop: before, after or inside an action, or the end of a process of a program that runs on.
        by: the command line that led there; empty if it is unknown.
    """
    reason = _REASONS.get(stop.reason, "pause")
    if by == "pause":
        reason = by
    elif stop.reason == "until" and by.partition(" ")[0] != "goto":
        reason = "step"
    first, _, rest = str(stop).partition("\n")
    return StoppedEvent(
        reason=reason,
        description=first,
        text=rest.strip() or None,
        thread_id=thread_number(stop),
        all_threads_stopped=True,
        hit_breakpoint_ids=stop.breakpoints or None,
    )


def place_of(location: str | None) -> tuple[str, int, int] | None:
    """Return the path, line and column of a location; None if it names no line of a file."""
    match = _LOCATION.fullmatch(location or "")
    if match is None or match[2] == "0":
        return None
    path = os.path.abspath(match[1])
    return (path, int(match[2]), max(int(match[3]), 1)) if os.path.isfile(path) else None
