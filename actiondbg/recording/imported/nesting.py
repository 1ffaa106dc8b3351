"""The nesting of the passes of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actiondbg.recording.imported.passes import ImportedPass


class NestedPass(NamedTuple):
    """A pass, and the number of passes around it."""

    one: ImportedPass
    depth: int


class Nesting:
    """The passes of a log as a tree, as far as dumps before and after them show it.

    Args:
        passes: in the order of their beginnings.

    Attributes:
        overlaps: whether passes overlap without one being in the other: threads ran them.
    """

    def __init__(self, passes: Sequence[ImportedPass]) -> None:
        self.overlaps = False
        self._outermost: list[ImportedPass] = []
        self._inside: dict[ImportedPass, list[ImportedPass]] = {}
        running: list[ImportedPass] = []
        for one in passes:
            running = [each for each in running if each.end is None or each.end >= one.begin]
            around = next((each for each in reversed(running) if _holds(each, one)), None)
            self.overlaps = self.overlaps or around is not (running[-1] if running else None)
            siblings = self._outermost if around is None else self._inside.setdefault(around, [])
            siblings.append(one)
            running.append(one)

    def in_order(self) -> Iterator[NestedPass]:
        """Iterate over the passes in the order of their beginnings: a pass before its nested
        passes.

        Passes that overlap follow one another, as in a run of one thread.
        """
        waiting = [NestedPass(one, 0) for one in reversed(self._outermost)]
        while waiting:
            one, depth = waiting.pop()
            yield NestedPass(one, depth)
            waiting += (NestedPass(each, depth + 1) for each in reversed(self._inside.get(one, ())))


def _holds(outer: ImportedPass, inner: ImportedPass) -> bool:
    """Whether a pass that began earlier runs another: a pass on a function runs none on others."""
    ends_inside = outer.end is None or (inner.end is not None and inner.end <= outer.end)
    around, inside = outer.operation, inner.operation
    return ends_inside and (around is inside or around.name != inside.name or not around.symbol)
