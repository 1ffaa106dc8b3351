"""The timeline of the Session without a tool: it notes what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actiondbg.errors import UsageError
from actiondbg.process.branches import Branch, Edited, Skipped, Timeline
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.process.stop import Stop

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


class FakeCheckpoints:
    """The checkpoints of a made-up run."""

    def __init__(
        self, calls: list[tuple[Any, ...]], need_stop: Callable[[], None], back: Callable[..., Stop]
    ) -> None:
        self.frozen: list[Checkpoint] = []
        self.made_by_tool = Automatic(count=0, bytes=0)
        self.calls = calls
        self._need_stop = need_stop
        self._back = back

    def add(self) -> Checkpoint:
        self._need_stop()
        self.frozen.append(made(len(self.frozen) + 1))
        return self.frozen[-1]

    def all(self) -> list[Checkpoint]:
        return self.frozen

    def automatic(self) -> Automatic:
        return self.made_by_tool

    def delete(self, number: int) -> None:
        if number not in [one.number for one in self.frozen]:
            raise UsageError(f"There is no checkpoint {number}: there are none.")
        self.frozen = [one for one in self.frozen if one.number != number]

    def restore(self, number: int) -> Stop:
        return self._back("restore", number)


class FakeTimeline:
    """Movement along a made-up timeline; notes what it is asked for."""

    def __init__(
        self,
        calls: list[tuple[Any, ...]],
        need_stop: Callable[[], None],
        stop: Callable[[str], Stop],
    ) -> None:
        self.calls = calls
        self._need_stop = need_stop
        self._stop = stop
        self.shown = TIMELINE
        self.checkpoints = FakeCheckpoints(calls, need_stop, self._back)

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

    def branches(self) -> Timeline:
        return self.shown


class FakeSkips:
    """What is skipped in each run; notes what it is asked for."""

    def __init__(self, calls: list[tuple[Any, ...]]) -> None:
        self.calls = calls

    def save(self, path: str) -> int:
        self.calls.append(("save_skips", path))
        return 1

    def load(self, path: str) -> int:
        self.calls.append(("load_skips", path))
        return 2


class FakeEdits:
    """The edits of a session: none was loaded."""

    def report_located(self) -> list[Edited]:
        return []
