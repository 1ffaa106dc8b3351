"""Search over a predicate, without a tool: a binary search over prefixes, and delta debugging.

``Minimizer`` finds the needed items of a set one after the other by binary search. This takes few
steps if all supersets of a set that has the verdict have it too; ddmin then removes items that are
not needed after all.

Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
on Software Engineering 28 (2002).
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from actiondbg.bisection.verdict import Verdict

_INTERIOR = 8  # attempts inside an untestable range, once both of its ends are known


class Judge(Protocol):
    """Judges prefixes, several at a time if it can.

    A negative length ``-n`` stands for the confirmation that the n-th candidate is the culprit.
    """

    def submit(self, length: int) -> None:
        """Start to judge the first ``length`` candidates."""

    def wait(self) -> tuple[int, Verdict]:
        """Wait for any of the submitted prefixes; return its length and verdict."""
        ...

    def cancel(self, length: int) -> None:
        """Cancel a submitted prefix: its verdict is not needed."""


@dataclass
class Interval:
    """The lengths of the longest good and the shortest bad prefix so far.

    Attributes:
        good: the length of the longest good prefix.
        bad: the length of the shortest bad prefix that is longer.
        untestable: lengths between them that could not be judged, sorted.
        interior: how many of these were tried between two untestable ones.
    """

    good: int
    bad: int
    untestable: list[int] = field(default_factory=list[int])
    interior: int = 0

    @property
    def is_narrow(self) -> bool:
        """Whether ``bad`` is one more than ``good``."""
        return self.bad - self.good == 1

    def next(self) -> int | None:
        """Return the length to judge next; None if the search is over.

        If some are untestable, halve the wider of the gaps between them and ``good`` or ``bad``:
        untestable prefixes are mostly adjacent, so this finds both ends of their range. Then try
        a few lengths inside of it.
        """
        if not self.untestable:
            return None if self.is_narrow else (self.good + self.bad) // 2
        first, last = self.untestable[0], self.untestable[-1]
        gaps = [(first - self.good, self.good, first), (self.bad - last, last, self.bad)]
        width, low, high = max(gaps, key=lambda gap: gap[0])
        if width == 1:
            if self.interior >= _INTERIOR:
                return None
            inner = ((b - a, a, b) for a, b in itertools.pairwise(self.untestable))
            width, low, high = max(inner, default=(1, 0, 0))
        return (low + high) // 2 if width > 1 else None

    def add(self, length: int, verdict: Verdict) -> None:
        """Narrow the interval by the verdict on a length between ``good`` and ``bad``."""
        if verdict == "good":
            self.good = length
        elif verdict == "bad":
            self.bad = length
        else:
            inside = bool(self.untestable) and self.untestable[0] < length < self.untestable[-1]
            self.interior += inside
            self.untestable = sorted({*self.untestable, length})
        self.untestable = [one for one in self.untestable if self.good < one < self.bad]

    def with_verdict(self, length: int, verdict: Verdict) -> Interval:
        """Return a copy that is narrowed by a verdict."""
        result = copy.copy(self)
        result.add(length, verdict)
        return result


@dataclass
class SearchEnd:
    """The end of a search.

    Attributes:
        interval: narrow if the search succeeded; else the lengths between are untestable.
        verdicts: of all lengths that were judged.
    """

    interval: Interval
    verdicts: dict[int, Verdict]

    @property
    def surprises(self) -> list[int]:
        """Lengths whose verdicts are not monotone: bad before ``good``, or good after ``bad``."""
        good, bad = self.interval.good, self.interval.bad
        return sorted(
            length
            for length, verdict in self.verdicts.items()
            if (verdict == "bad" and length < good) or (verdict == "good" and length > bad)
        )


def search(
    interval: Interval,
    judge: Judge,
    jobs: int = 1,
    on_narrowed: Callable[[Interval], None] | None = None,
    confirms: bool = False,
) -> SearchEnd:
    """Narrow an interval until ``bad`` is one more than ``good``.

    The result does not depend on ``jobs``: the verdicts narrow the interval in the same order.
    With several jobs, the prefixes that may be needed next are judged in parallel.

    Args:
        interval: a good and a bad length; it is changed.
        on_narrowed: called with the interval after each verdict that narrows it.
        confirms: judge the confirmation of the culprit ahead too.
    """
    ahead = functools.partial(_ahead, confirms=confirms)
    verdicts: dict[int, Verdict] = {}
    running: set[int] = set()
    while (length := interval.next()) is not None:
        if length in verdicts:
            interval.add(length, verdicts[length])
            if on_narrowed:
                on_narrowed(interval)
            continue
        _submit(ahead(interval, verdicts), judge, jobs, running)
        done, verdict = judge.wait()
        running.discard(done)
        verdicts[done] = verdict
    for one in running - {-interval.bad}:
        judge.cancel(one)
    if -interval.bad in running:
        judge.wait()
    return SearchEnd(interval, {length: verdicts[length] for length in verdicts if length >= 0})


def _submit(ahead: Iterator[int], judge: Judge, jobs: int, running: set[int]) -> None:
    """Submit the first ``jobs`` lengths of ``ahead``, and cancel all others that are running."""
    wanted = list(itertools.islice(ahead, jobs))
    for one in running.difference(wanted):
        judge.cancel(one)
        running.discard(one)
    for one in wanted:
        if one not in running:
            judge.submit(one)
            running.add(one)


def _ahead(interval: Interval, verdicts: dict[int, Verdict], confirms: bool) -> Iterator[int]:
    """Yield the length that is needed next, then the lengths that may be needed later.

    Assume a bad verdict first: it leads to a shorter prefix, whose trial is cheaper.
    """
    queue = deque([interval])
    seen = set(verdicts)
    while queue:
        current = queue.popleft()
        length = current.next()
        if length is None:
            if confirms and current.is_narrow and -current.bad not in seen:
                seen.add(-current.bad)
                yield -current.bad
        elif length in verdicts:
            queue.appendleft(current.with_verdict(length, verdicts[length]))
        else:
            if length not in seen:
                seen.add(length)
                yield length
            queue.append(current.with_verdict(length, "bad"))
            queue.append(current.with_verdict(length, "good"))


# --- sets ---


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
