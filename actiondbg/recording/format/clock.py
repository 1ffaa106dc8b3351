"""From the ticks of a recording to nanoseconds."""

from __future__ import annotations

import numpy as np

from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.file import RecordingFile


class Clock:
    """Both clocks were read whenever a chunk was written: the first and the last give the rate."""

    def __init__(self, file: RecordingFile) -> None:
        readings = sorted(chunk.flushed for chunk in file.chunks)
        (first, first_ns), (last, last_ns) = readings[0], readings[-1]
        # Of one reading nothing is known: as if a tick were a nanosecond.
        self._rate = (last_ns - first_ns) / (last - first) if last > first else 1.0

    def nanoseconds(self, ticks: Ints) -> Ints:
        """Translate lengths of time."""
        if self._rate == 1:
            return ticks
        return np.rint(ticks * self._rate).astype(np.int64)
