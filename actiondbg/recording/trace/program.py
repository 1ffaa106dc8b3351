"""The traced program: the process whose actions a trace shows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from actiondbg.recording.format.header import Header


class TracedProgram(NamedTuple):
    """The recorded run of a tool."""

    header: Header

    @property
    def pid(self) -> int:
        """The process; 1 if unknown."""
        return self.header.pid or 1

    @property
    def name(self) -> str:
        """The tool's name."""
        return Path(self.header.argv[0]).name if self.header.argv else "tool"

    def thread_id(self, thread: int) -> int:
        """Return a thread id: the real one for the main thread, made up for the others."""
        return self.pid + thread

    def thread_name(self, thread: int) -> str:
        """Return the name of a thread: 0 made the context, the others are its workers."""
        return "main" if thread == 0 else f"worker {thread}"
