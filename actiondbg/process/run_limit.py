"""The limit of a run: its wall time, and the processor time of its process."""

from __future__ import annotations

import time

from actiondbg.process.process_status import processor_seconds


class RunLimit:
    """The limit of a run that begins now. Processor time does not depend on the load.

    Args:
        pid: the process.
        seconds: of wall time; None for no limit.
        processor: seconds of processor time, of the process and its children that have ended; None
            for no limit.
    """

    def __init__(self, pid: int, seconds: float | None, processor: float | None) -> None:
        self._pid = pid
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._processor = None if processor is None else processor_seconds(pid) + processor

    def left(self) -> float | None:
        """Return the seconds until the limit can be exceeded, 0 if it is; None for no limit."""
        left: list[float] = []
        if self._deadline is not None:
            left.append(self._deadline - time.monotonic())
        if self._processor is not None:
            left.append(self._processor - processor_seconds(self._pid))
        return max(0.0, min(left)) if left else None
