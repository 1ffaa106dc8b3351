"""Find where good turns to bad, by a predicate over prefixes; nothing here knows of a tool."""

from __future__ import annotations

import copy
import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from actiondbg.bisection.verdict import Verdict

_INTERIOR = 8  # untestable prefixes that are tried where both ends of a gap are known


class Judge(Protocol):
    """Judges prefixes, several at a time if it can.

    ``-n`` stands for what is judged once the n-th candidate is found to be the one to blame.
    """

    def submit(self, prefix: int) -> None:
        """Begin to judge the first ``prefix`` candidates."""

    def wait(self) -> tuple[int, Verdict]:
        """Wait for one of those that were submitted."""
        ...

    def cancel(self, prefix: int) -> None:
        """Forget one that was submitted: its verdict is not needed any more."""


class Sequential:
    """A judge over a plain function, one at a time and in order."""

    def __init__(self, judge: Callable[[int], Verdict]) -> None:
        self._judge = judge
        self._queue: deque[int] = deque()

    def submit(self, prefix: int) -> None:
        self._queue.append(prefix)

    def wait(self) -> tuple[int, Verdict]:
        prefix = self._queue.popleft()
        return prefix, self._judge(prefix)

    def cancel(self, prefix: int) -> None:
        self._queue.remove(prefix)


@dataclass
class Interval:
    """What is known of the prefixes 0 to ``bad``.

    Attributes:
        good: the longest prefix that is known to be good.
        bad: the shortest, longer than ``good``, that is known to be bad.
        untestable: prefixes between them that could not be judged.
        interior: how many of these had an untestable one on either side.
    """

    good: int
    bad: int
    untestable: list[int] = field(default_factory=list[int])
    interior: int = 0

    @property
    def is_narrow(self) -> bool:
        """Whether they are next to each other."""
        return self.bad - self.good == 1

    def next(self) -> int | None:
        """Return the prefix to judge next; None if there is none, or none that may help.

        Beside an untestable one the longer of the gaps to ``good`` and to ``bad`` is halved: what
        is untestable mostly lies together, and both ends of it are found in this way. Then some
        are tried between them.
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

    def note(self, prefix: int, verdict: Verdict) -> None:
        """Take a verdict on a prefix between ``good`` and ``bad``."""
        if verdict == "good":
            self.good = prefix
        elif verdict == "bad":
            self.bad = prefix
        else:
            inside = bool(self.untestable) and self.untestable[0] < prefix < self.untestable[-1]
            self.interior += inside
            self.untestable = sorted({*self.untestable, prefix})
        self.untestable = [one for one in self.untestable if self.good < one < self.bad]

    def supposing(self, prefix: int, verdict: Verdict) -> Interval:
        """Return what would be known with one more verdict."""
        result = copy.copy(self)
        result.note(prefix, verdict)
        return result


@dataclass
class Found:
    """What the search came to.

    Attributes:
        interval: narrow if it succeeded; else what lies between is untestable.
        verdicts: of all the prefixes that were judged.
        surprises: prefixes whose verdicts do not fit: bad ones before ``good``, good ones after
            ``bad``.
    """

    interval: Interval
    verdicts: dict[int, Verdict]

    @property
    def surprises(self) -> list[int]:
        good, bad = self.interval.good, self.interval.bad
        return sorted(
            prefix
            for prefix, verdict in self.verdicts.items()
            if (verdict == "bad" and prefix < good) or (verdict == "good" and prefix > bad)
        )


def search(
    interval: Interval,
    judge: Judge,
    jobs: int = 1,
    known: dict[int, Verdict] | None = None,
    narrowed: Callable[[Interval], None] | None = None,
    confirms: bool = False,
) -> Found:
    """Narrow an interval until good and bad are neighbours.

    The prefixes that count are asked in the same order whatever ``jobs`` is, so the result is the
    same; with several jobs those that may be asked next are judged ahead.

    Args:
        interval: good and bad ends that are known; it is changed.
        judge: judges prefixes.
        jobs: how many may be judged at a time, from 1.
        known: verdicts from before; they are not judged again.
        narrowed: called with the interval after each verdict that counts.
        confirms: whether ``-n`` will be asked for after the search; it is judged ahead then, too.
    """
    ahead = functools.partial(_ahead, confirms=confirms)
    verdicts: dict[int, Verdict] = {**(known or {})}
    running: set[int] = set()
    while (prefix := interval.next()) is not None:
        if prefix in verdicts:
            interval.note(prefix, verdicts[prefix])
            if narrowed:
                narrowed(interval)
            continue
        _submit(ahead(interval, verdicts), judge, jobs, running)
        done, verdict = judge.wait()
        running.discard(done)
        verdicts[done] = verdict
    for one in running - {-interval.bad}:
        judge.cancel(one)
    if -interval.bad in running:
        judge.wait()
    return Found(interval, {prefix: verdicts[prefix] for prefix in verdicts if prefix >= 0})


def _submit(ahead: Iterator[int], judge: Judge, jobs: int, running: set[int]) -> None:
    """Begin what is wanted, and cancel what is not any more."""
    wanted = list(itertools.islice(ahead, jobs))
    for one in running.difference(wanted):
        judge.cancel(one)
        running.discard(one)
    for one in wanted:
        if one not in running:
            judge.submit(one)
            running.add(one)


def _ahead(interval: Interval, verdicts: dict[int, Verdict], confirms: bool) -> Iterator[int]:
    """Yield the prefix that is asked next, then those that may be asked after it.

    A bad verdict is supposed first: the trial of a shorter prefix is the cheaper one.
    """
    queue = deque([interval])
    seen = set(verdicts)
    while queue:
        current = queue.popleft()
        prefix = current.next()
        if prefix is None:
            if confirms and current.is_narrow and -current.bad not in seen:
                seen.add(-current.bad)
                yield -current.bad
        elif prefix in verdicts:
            queue.appendleft(current.supposing(prefix, verdicts[prefix]))
        else:
            if prefix not in seen:
                seen.add(prefix)
                yield prefix
            queue.append(current.supposing(prefix, "bad"))
            queue.append(current.supposing(prefix, "good"))
