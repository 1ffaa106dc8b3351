"""What was recorded: the process whose actions a trace shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TracedProgram:
    """A tool that ran.

    Args:
        pid: its process; 1 if it is not known.
        arguments: its command line.
        llvm: its version of LLVM.
        started: ns since 1970.
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
        """Return what stands for a thread's id; only the main thread's is its own."""
        return self.pid + thread

    def thread_name(self, thread: int) -> str:
        """Return what a thread is called: 0 made the context, the others are its workers."""
        return "main" if thread == 0 else f"worker {thread}"
