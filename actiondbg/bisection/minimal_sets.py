"""The smallest set of applied candidates that is bad, or of skipped ones that is good."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal

from actiondbg.bisection.bounds import Searched
from actiondbg.bisection.candidates import Row, Scheme
from actiondbg.bisection.messages import Ended
from actiondbg.bisection.search.ddmin import Minimized
from actiondbg.bisection.trials.evaluator import Asking
from actiondbg.bisection.trials.runner import Outcome, Pool, digest_of, forget
from actiondbg.bisection.trials.trials import Task
from actiondbg.bisection.verdict import Verdict

_MOST_KEYS = 60_000  # in a message of the protocol, which is of 16 MiB


class Sets:
    """Judges sets of candidates, each told by its key.

    Args:
        asking: makes single trials.
        pool: makes several at a time.
        jobs: how many.
        scheme: what the candidates are.
        units: the candidates, by ordinal.
        skips: whether a set is of what is skipped; else of what alone is applied.
    """

    def __init__(
        self, asking: Asking, pool: Pool, jobs: int, scheme: Scheme, units: list[Row], skips: bool
    ) -> None:
        self._asking = asking
        self._pool = pool
        self._jobs = jobs
        self._scheme = scheme
        self._units = units
        self._skips = skips
        self._next: deque[tuple[int, ...]] = deque()
        self._numbers: dict[tuple[int, ...], int] = {}
        self._running: dict[int, tuple[int, ...]] = {}

    def ahead(self, sets: list[list[int]]) -> None:
        """Tell which sets may be asked next; others are not made any more."""
        wanted = [tuple(one) for one in sets]
        for number, items in list(self._running.items()):
            if items not in wanted:
                self._pool.cancel(number)
                del self._running[number]
        running = set(self._running.values())
        self._next = deque(one for one in wanted if one not in running)

    def judge(self, items: Sequence[int]) -> Verdict:
        """Judge a set; others are made meanwhile, if several may be."""
        wanted = tuple(items)
        while True:
            known = self._asking.known(self.task(wanted))
            if known is not None:
                return known.verdict
            self._fill(wanted)
            number, outcome = self._pool.wait()
            self._take(self._running.pop(number), outcome)

    def task(self, items: Sequence[int]) -> Task:
        """Return the trial of a set."""
        asking, units = self._asking, self._units
        if len(items) > _MOST_KEYS:
            raise Ended(
                "untestable",
                f"A set of {len(items):,} candidates is too large to be named to the tool: narrow "
                "them with --name, --func or --tag.",
            )
        keys = [units[item].key for item in items]
        if self._skips:
            place = units[items[0]].ordinal if items else 0
            return asking.task(asking.plan(self._scheme, skip=keys), place)
        chosen = set(items)
        left_out = (index for index in range(len(units)) if index not in chosen)
        first = next(left_out, None)
        place = 0 if first is None else units[first].ordinal
        return asking.task(asking.plan(self._scheme, apply=keys), place)

    def _fill(self, wanted: tuple[int, ...]) -> None:
        if wanted not in self._running.values():
            self._submit(wanted)
        while len(self._running) < self._jobs and self._next:
            items = self._next.popleft()
            is_known = self._asking.known(self.task(items)) is not None
            if not is_known and items not in self._running.values():
                self._submit(items)

    def _submit(self, items: tuple[int, ...]) -> None:
        number = self._numbers.setdefault(items, len(self._numbers))
        self._running[number] = items
        self._pool.submit(number, self.task(items))

    def _take(self, items: tuple[int, ...], outcome: Outcome) -> None:
        self._asking.state.add(digest_of(self.task(items)), outcome.judgement)
        self._asking.meter.judged()
        forget(outcome.evidence)

    def close(self) -> None:
        """End what is not needed any more."""
        self.ahead([])


def smallest(
    asking: Asking,
    pool: Pool,
    jobs: int,
    searched: Searched,
    mode: Literal["minimize", "skip"],
) -> list[int]:
    """Find the smallest set.

    Args:
        asking: makes single trials.
        pool: makes several at a time.
        jobs: how many.
        searched: where good turns to bad.
        mode: "minimize": of applied candidates, that is bad; "skip": of skipped ones, that is good.

    Returns:
        Their indices in ``searched.units``, of which none can be spared.

    Raises:
        Ended: not even the whole set is.
    """
    units, interval = searched.units, searched.interval
    sets = Sets(asking, pool, jobs, searched.scheme, units, skips=mode == "skip")
    keep: Literal["good", "bad"] = "good" if mode == "skip" else "bad"
    guilty = interval.bad - 1
    wholes = [range(interval.bad), range(len(units))]
    if mode == "skip":
        wholes = [range(guilty, interval.bad), range(guilty, len(units)), range(len(units))]

    def reduced(items: list[int]) -> None:
        first, last = units[items[0]].ordinal, units[items[-1]].ordinal
        asking.meter.narrowed(first, last, len(items), 0)

    minimized = Minimized(sets.judge, keep, reduced=reduced, ahead=sets.ahead)
    asking.meter.phase("the smallest set")
    try:
        for whole in wholes:
            if minimized.keeps(whole):
                return _shrunk(minimized, list(whole), mode)
    finally:
        sets.close()
    what = "skipped" if mode == "skip" else "applied alone"
    raise Ended(
        "untestable",
        f"The candidates cannot be told apart by their places: the output is not {keep} when all "
        f"of them are {what} by name and place. Use --mode first.",
        (units[0].ordinal, units[-1].ordinal),
    )


def _shrunk(minimized: Minimized, whole: list[int], mode: str) -> list[int]:
    # The run that skips nothing is bad, so of one skip none can be spared.
    return whole if mode == "skip" and len(whole) == 1 else minimized.minimize(whole)
