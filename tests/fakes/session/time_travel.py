"""Going to and fro in the Session without a tool: it notes what it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from actiondbg.errors import UsageError
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branch, Skipped, Timeline

SKIPPED = Skipped(ordinal=4, event=7, tag="apply-pattern", name="Fold", op="arith.addi")
TIMELINE = Timeline(
    branches=[
        Branch(number=1, reached=30, actions=20, ended=True),
        Branch(number=2, parent=1, event=7, ordinal=4, skips=[SKIPPED], reached=11, actions=6),
    ],
    current=2,
    when="before",
    ordinal=6,
    event=11,
)


def made(number: int, branch: int = 1) -> Checkpoint:
    """Make a checkpoint."""
    return Checkpoint(
        number=number,
        branch=branch,
        event=3,
        when="before",
        ordinal=2,
        tag="apply-pattern",
        name="Fold",
        op="arith.addi",
        location="in.mlir:3:10",
        function="main",
        pid=1000 + number,
    )


class FakeTravel:
    """The part of FakeSession that goes to and fro."""

    calls: list[tuple[Any, ...]]

    def __init__(self) -> None:
        self.checkpoint_spacing = 50
        self.checkpoint_memory = 1024
        self.frozen: list[Checkpoint] = []
        self.automatic = Automatic(count=0, bytes=0)

    @abstractmethod
    def _stop(self, reason: str, breakpoints: list[int] | None = None) -> Stop:
        """Make a stop of a reason."""

    @abstractmethod
    def _need_stop(self) -> None:
        """Raise NotStopped unless there is one."""

    def checkpoint(self) -> Checkpoint:
        self._need_stop()
        self.frozen.append(made(len(self.frozen) + 1))
        return self.frozen[-1]

    def checkpoints(self) -> list[Checkpoint]:
        return self.frozen

    def automatic_checkpoints(self) -> Automatic:
        return self.automatic

    def delete_checkpoint(self, number: int) -> None:
        if number not in [one.number for one in self.frozen]:
            raise UsageError(f"There is no checkpoint {number}: there are none.")
        self.frozen = [one for one in self.frozen if one.number != number]

    def restart_from(self, number: int) -> Stop:
        return self._back("restart_from", number)

    def goto(self, ordinal: int, when: str = "before") -> Stop:
        return self._back("goto", ordinal, when)

    def reverse_step(self, count: int = 1) -> Stop:
        return self._back("reverse_step", count)

    def reverse_next(self, count: int = 1) -> Stop:
        return self._back("reverse_next", count)

    def reverse_finish(self, count: int = 1) -> Stop:
        return self._back("reverse_finish", count)

    def reverse_continue(self, count: int = 1) -> Stop:
        return self._back("reverse_continue", count)

    def _back(self, *call: Any) -> Stop:
        self._need_stop()
        self.calls.append(call)
        return self._stop("until")

    def timeline(self) -> Timeline:
        return TIMELINE

    def save_skips(self, path: str) -> int:
        self.calls.append(("save_skips", path))
        return 1

    def load_skips(self, path: str) -> int:
        self.calls.append(("load_skips", path))
        return 2
