"""Minimize a set that has a verdict, by a predicate over sets.

Binary search finds the needed items one after the other. This takes few steps if all supersets of
a set that has the verdict have it too; ddmin then removes items that are not needed after all.

Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
on Software Engineering 28 (2002).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

from actiondbg.bisection.verdict import Verdict

Test = Callable[[Sequence[int]], Verdict]


class Minimizer:
    """Minimizes sets of items.

    Args:
        test: judges a set, whose items are in order.
        verdict: the verdict that the smaller sets must have.
        on_reduced: called with each smaller set that has the verdict, and how many sets have to be
            judged yet at least.
        on_next: called with the sets that may be judged next, in order.
    """

    def __init__(
        self,
        test: Test,
        verdict: Literal["good", "bad"],
        on_reduced: Callable[[list[int], int], None] | None = None,
        on_next: Callable[[list[list[int]]], None] | None = None,
    ) -> None:
        self._test = test
        self._verdict = verdict
        self._verdicts: dict[frozenset[int], Verdict] = {}
        self._on_reduced = on_reduced
        self._on_next = on_next
        self._reported = 0  # the size of the last set that on_reduced was called with

    def has_verdict(self, items: Sequence[int]) -> bool:
        """Return whether a set has the verdict."""
        key = frozenset(items)
        if key not in self._verdicts:
            self._verdicts[key] = self._test(items)
        return self._verdicts[key] == self._verdict

    def minimize(self, items: Sequence[int]) -> list[int]:
        """Return a subset that has the verdict; no single item can be left out of it.

        Args:
            items: a set that has the verdict, in order.
        """
        current = list(items)
        if current and self.has_verdict([]):
            return []
        self._reported = len(current)
        current = self._needed_items(current)
        parts = 2
        while len(current) > 1:
            smaller = self._smaller(current, parts)
            if smaller is not None:
                current, parts = smaller
                self._report(current)
            elif parts < len(current):
                parts = min(2 * parts, len(current))
            else:
                break
        return current

    def _needed_items(self, items: list[int]) -> list[int]:
        """Find needed items: each is the last one of the shortest prefix that has the verdict."""
        needed: list[int] = []
        rest = items
        while rest and not (needed and self.has_verdict(needed)):
            length = self._shortest(rest, needed)
            needed = [rest[length - 1], *needed]
            rest = rest[: length - 1]
            self._report([*rest, *needed])
        self._report(needed)
        return needed

    def _report(self, items: list[int], to_go: int = 0) -> None:
        if self._on_reduced and len(items) < self._reported:
            self._on_reduced(items, to_go)
            self._reported = len(items)

    def _shortest(self, rest: list[int], needed: list[int]) -> int:
        """Return the length of the shortest prefix that has the verdict if ``needed`` is added."""
        low, high = 0, len(rest)
        while high - low > 1:
            middle = (low + high) // 2
            if self._on_next:
                nexts = (middle, (low + middle) // 2, (middle + high) // 2)
                sets = ([*rest[:length], *needed] for length in dict.fromkeys(nexts) if length)
                self._on_next([one for one in sets if frozenset(one) not in self._verdicts])
            if self.has_verdict([*rest[:middle], *needed]):
                high = middle
                to_go = (high - low).bit_length() - 1  # at least so many halves
                self._report([*rest[:high], *needed], to_go)
            else:
                low = middle
        return high

    def _smaller(self, current: list[int], parts: int) -> tuple[list[int], int] | None:
        """Return a smaller set that has the verdict, and in how many parts to split it; or None."""
        chunks = _split(current, parts)
        # Of two parts each is the complement of the other.
        rests = [_without(current, chunk) for chunk in chunks] if parts > 2 else []
        if self._on_next:
            unknown = [one for one in (*chunks, *rests) if frozenset(one) not in self._verdicts]
            self._on_next(unknown)
        for chunk in chunks:
            if self.has_verdict(chunk):
                return chunk, 2
        for rest in rests:
            if self.has_verdict(rest):
                return rest, max(parts - 1, 2)
        return None


def _without(items: list[int], chunk: list[int]) -> list[int]:
    removed = set(chunk)
    return [item for item in items if item not in removed]


def _split(items: list[int], parts: int) -> list[list[int]]:
    """Split into a number of parts of about the same length, none of them empty."""
    ends = [len(items) * number // parts for number in range(parts + 1)]
    return [items[a:b] for a, b in itertools.pairwise(ends) if a < b]
