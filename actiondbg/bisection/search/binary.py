"""Binary search for the shortest bad prefix, over a judge that may be untestable in places."""

from __future__ import annotations

import copy
import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

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
class SearchResult:
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
) -> SearchResult:
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
    return SearchResult(interval, {length: verdicts[length] for length in verdicts if length >= 0})


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
