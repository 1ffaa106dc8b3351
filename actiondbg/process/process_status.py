"""The status of a process, as the system reports it."""

from __future__ import annotations

from pathlib import Path

import msgspec

# Of the letters in proc(5), those of a process that cannot run on by itself.
_HALTED = {
    "T": "stopped by a signal",
    "t": "stopped by a debugger",
    "Z": "ended",
    "X": "ended",
}


class ProcessStatus(msgspec.Struct, kw_only=True, frozen=True):
    """The status of a process.

    Attributes:
        pid: of the process.
        halted: why the process cannot run, such as "stopped by a signal"; None if it can.
        threads: the number of its threads.
        tracer: the pid of the debugger that is attached, or 0.
    """

    pid: int
    halted: str | None
    threads: int
    tracer: int


def process_status(pid: int) -> ProcessStatus | None:
    """Return the status of a process; None if there is none."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return None
    lines = (line.partition(":\t") for line in text.splitlines())
    fields = {name: value for name, _, value in lines}
    return ProcessStatus(
        pid=pid,
        halted=_HALTED.get(fields["State"][0]),
        threads=int(fields.get("Threads", 0)),  # none of a process that has ended
        tracer=int(fields["TracerPid"]),
    )
