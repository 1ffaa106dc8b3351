"""The traced program: the process whose actions a trace shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TracedProgram:
    """The recorded run of a tool.

    Args:
        pid: the process; 1 if unknown.
        arguments: the command line.
        llvm: the tool's LLVM version.
        started: the start time, in ns of Unix time.
    """

    pid: int
    arguments: Sequence[str]
    llvm: str
    started: int

    @property
    def name(self) -> str:
        """Return the tool's name."""
        return Path(self.arguments[0]).name if self.arguments else "tool"

    def thread_id(self, thread: int) -> int:
        """Return a thread id: the real one for the main thread, made up for the others."""
        return self.pid + thread

    def thread_name(self, thread: int) -> str:
        """Return the name of a thread: 0 made the context, the others are its workers."""
        return "main" if thread == 0 else f"worker {thread}"
