"""Make a set as small as it can be, by a predicate over sets; nothing here knows of a tool.

Items that are needed are found by binary search, one after the other: that takes few steps if
supersets of a set that has the verdict have it too. Then ddmin spares what was not needed after
all.

Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
on Software Engineering 28 (2002).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

from actiondbg.bisection.verdict import Verdict

Test = Callable[[Sequence[int]], Verdict]


class Minimized:
    """A set made smaller, and what was learnt on the way.

    Args:
        test: judges a set of items, given in order.
        keep: the verdict that has to stay.
        verdicts: of sets that were judged before; it grows.
        reduced: called with each smaller set that keeps the verdict.
        ahead: called with the sets that may be judged next, in order.

    Attributes:
        tests: how many sets were judged.
    """

    def __init__(
        self,
        test: Test,
        keep: Literal["good", "bad"],
        verdicts: dict[frozenset[int], Verdict] | None = None,
        reduced: Callable[[list[int]], None] | None = None,
        ahead: Callable[[list[list[int]]], None] | None = None,
    ) -> None:
        self.tests = 0
        self._test = test
        self._keep = keep
        self._verdicts = {} if verdicts is None else verdicts
        self._reduced = reduced
        self._ahead = ahead
        self._told = 0  # how many items were in the newest set that was told

    def keeps(self, items: Sequence[int]) -> bool:
        """Tell whether a set has the verdict; an untestable one has not."""
        key = frozenset(items)
        if key not in self._verdicts:
            self.tests += 1
            self._verdicts[key] = self._test(items)
        return self._verdicts[key] == self._keep

    def minimize(self, items: Sequence[int]) -> list[int]:
        """Return a subset that keeps the verdict, and of which no single item can be spared.

        Args:
            items: a set that has the verdict, in order.
        """
        current = list(items)
        if current and self.keeps([]):
            return []
        self._told = len(current)
        current = self._needed(current)
        parts = 2
        while len(current) > 1:
            smaller = self._smaller(current, parts)
            if smaller is not None:
                current, parts = smaller
                self._tell(current)
            elif parts < len(current):
                parts = min(2 * parts, len(current))
            else:
                break
        return current

    def _needed(self, items: list[int]) -> list[int]:
        """Return the last item of the shortest prefix that keeps the verdict, and so on."""
        needed: list[int] = []
        rest = items
        while rest and not (needed and self.keeps(needed)):
            length = self._shortest(rest, needed)
            needed = [rest[length - 1], *needed]
            rest = rest[: length - 1]
            self._tell([*rest, *needed])
        self._tell(needed)
        return needed

    def _tell(self, items: list[int]) -> None:
        if self._reduced and len(items) < self._told:
            self._reduced(items)
        self._told = len(items)

    def _shortest(self, rest: list[int], needed: list[int]) -> int:
        """Return the length of the shortest prefix that keeps the verdict with what is needed."""
        low, high = 0, len(rest)
        while high - low > 1:
            middle = (low + high) // 2
            if self._ahead:
                nexts = (middle, (low + middle) // 2, (middle + high) // 2)
                sets = ([*rest[:length], *needed] for length in dict.fromkeys(nexts) if length)
                self._ahead([one for one in sets if frozenset(one) not in self._verdicts])
            if self.keeps([*rest[:middle], *needed]):
                high = middle
            else:
                low = middle
        return high

    def _smaller(self, current: list[int], parts: int) -> tuple[list[int], int] | None:
        """Return a smaller set that keeps the verdict and the parts to split it in, or None."""
        chunks = _split(current, parts)
        # Of two parts each is the complement of the other.
        rests = [_without(current, chunk) for chunk in chunks] if parts > 2 else []
        if self._ahead:
            unknown = [one for one in (*chunks, *rests) if frozenset(one) not in self._verdicts]
            self._ahead(unknown)
        for chunk in chunks:
            if self.keeps(chunk):
                return chunk, 2
        for rest in rests:
            if self.keeps(rest):
                return rest, max(parts - 1, 2)
        return None


def _without(items: list[int], chunk: list[int]) -> list[int]:
    left_out = set(chunk)
    return [item for item in items if item not in left_out]


def _split(items: list[int], parts: int) -> list[list[int]]:
    """Split into so many parts of about the same length, none of them empty."""
    ends = [len(items) * number // parts for number in range(parts + 1)]
    return [items[a:b] for a, b in itertools.pairwise(ends) if a < b]
