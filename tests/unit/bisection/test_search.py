"""The search and the minimization, against what trying everything finds."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actiondbg.bisection.minimizer import Interval, Minimizer, SearchEnd, search
from actiondbg.bisection.verdict import Verdict
from tests.elements import some
from tests.fakes import strategies


class Counting:
    """Answers from a list; the order in which answers come is shuffled."""

    def __init__(self, verdicts: Sequence[Verdict], seed: int = 0) -> None:
        self.asked: list[int] = []
        self.most = 0
        self._random = random.Random(seed)
        self._verdicts = verdicts
        self._queue: list[int] = []

    @property
    def idle(self) -> bool:
        return not self._queue

    def submit(self, length: int) -> None:
        self._queue.append(length)
        self.most = max(self.most, len(self._queue))

    def wait(self) -> tuple[int, Verdict]:
        self._random.shuffle(self._queue)
        prefix = self._queue.pop(0)
        self.asked.append(prefix)
        return prefix, self._verdicts[prefix]

    def cancel(self, length: int) -> None:
        self._queue.remove(length)


def monotone(count: int, first_bad: int) -> list[Verdict]:
    return ["good" if prefix < first_bad else "bad" for prefix in range(count + 1)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 64, 100])
def test_every_culprit_is_found_within_the_bound(count: int) -> None:
    for culprit in some(range(1, count + 1)):
        judge = Counting(monotone(count, culprit))
        found = search(Interval(0, count), judge)
        assert (found.interval.good, found.interval.bad) == (culprit - 1, culprit)
        # The end, the start and the confirmation are three more.
        assert len(judge.asked) <= math.ceil(math.log2(count))
        assert len(set(judge.asked)) == len(judge.asked)


@settings(max_examples=500)
@given(verdicts=strategies.verdicts(40))
def test_found_bounds_were_judged_for_any_verdicts(verdicts: list[Verdict]) -> None:
    found = search(Interval(0, len(verdicts) - 1), Counting(verdicts)).interval
    assert (verdicts[found.good], verdicts[found.bad]) == ("good", "bad")
    assert {verdicts[one] for one in found.untestable} <= {"untestable"}
    if not found.untestable:
        assert found.is_narrow


@settings(max_examples=300)
@given(count=st.integers(2, 2000), data=st.data())
def test_block_of_untestable_candidates_is_avoided(count: int, data: st.DataObject) -> None:
    some = st.integers(1, count)
    first, last = sorted(data.draw(st.tuples(some, some)))
    culprit = data.draw(some)
    verdicts = monotone(count, culprit)
    for prefix in range(first, last):
        verdicts[prefix] = "untestable"
    verdicts[0], verdicts[count] = "good", "bad"
    judge = Counting(verdicts)
    found = search(Interval(0, count), judge).interval
    good = max(one for one in range(culprit) if verdicts[one] == "good")
    bad = min(one for one in range(culprit, count + 1) if verdicts[one] == "bad")
    assert (found.good, found.bad) == (good, bad)
    assert len(judge.asked) <= 3 * math.ceil(math.log2(count)) + 10


@pytest.mark.parametrize("jobs", [2, 3, 8])
@settings(max_examples=200)
@given(verdicts=strategies.verdicts(60), seed=st.integers(0, 1000))
def test_parallel_trials_find_the_same_culprit(
    jobs: int, verdicts: list[Verdict], seed: int
) -> None:
    interval = Interval(0, len(verdicts) - 1)
    judge = Counting(verdicts, seed)
    assert search(interval, judge, jobs).interval == search(interval, Counting(verdicts)).interval
    assert judge.most <= jobs
    assert len(set(judge.asked)) == len(judge.asked)


@pytest.mark.parametrize("jobs", [1, 2, 5])
@settings(max_examples=100)
@given(verdicts=strategies.verdicts(40), seed=st.integers(0, 1000))
def test_confirmation_does_not_change_the_search(
    jobs: int, verdicts: list[Verdict], seed: int
) -> None:
    _search_and_confirm(verdicts, seed, jobs)


@pytest.mark.parametrize("jobs", [2, 5])
def test_idle_workers_judge_the_confirmation_ahead(jobs: int) -> None:
    verdicts = monotone(40, 17)
    assert any(_search_and_confirm(verdicts, seed, jobs) for seed in range(10))


def _search_and_confirm(verdicts: list[Verdict], seed: int, jobs: int) -> bool:
    """Search; return whether the confirmation was judged ahead."""
    count = len(verdicts) - 1
    # A negative index counts from the end: any verdict will do there.
    judge = Counting([*verdicts, *verdicts], seed)
    found = search(Interval(0, count), judge, jobs, confirms=True)
    assert found.interval == search(Interval(0, count), Counting(verdicts)).interval
    assert len(set(judge.asked)) == len(judge.asked)
    assert judge.idle
    assert all(prefix >= 0 for prefix in found.verdicts)
    assert jobs > 1 or min(judge.asked, default=0) >= 0
    return -found.interval.bad in judge.asked


def test_inconsistent_verdicts_are_reported() -> None:
    found = SearchEnd(Interval(79, 80), {20: "bad"})
    assert found.surprises == [20]


def test_interval_is_reported_as_it_narrows() -> None:
    seen: list[int] = []
    search(
        Interval(0, 1024),
        Counting(monotone(1024, 700)),
        on_narrowed=lambda interval: seen.append(interval.bad - interval.good),
    )
    assert seen == [2**power for power in range(9, -1, -1)]


# --- sets -------------------------------------------------------------------------


def needs(*groups: set[int]) -> Minimizer:
    """Bad is what holds all of one of the groups."""
    return Minimizer(
        lambda items: "bad" if any(group <= set(items) for group in groups) else "good", "bad"
    )


def test_one_of_many_is_found_in_few_steps() -> None:
    for culprit in (0, 511, 1023):
        minimized = needs({culprit})
        assert minimized.minimize(range(1024)) == [culprit]
        assert len(minimized._verdicts) <= 2 * 10 + 1


@given(count=st.integers(1, 40), members=st.sets(st.integers(0, 39), max_size=5))
def test_the_smallest_set_is_found_where_it_is_the_only_one(count: int, members: set[int]) -> None:
    group = {number % count for number in members}
    assert needs(group).minimize(range(count)) == sorted(group)


def _is_minimal(minimized: Minimizer, items: list[int]) -> bool:
    smaller = (items[:i] + items[i + 1 :] for i in range(len(items)))
    return not any(minimized.has_verdict(rest) for rest in smaller)


@pytest.mark.parametrize("keep", ["good", "bad"])
@given(count=st.integers(1, 7), dice=st.randoms(use_true_random=False))
def test_set_is_minimal_for_any_verdicts(keep: Verdict, count: int, dice: random.Random) -> None:
    """Random verdicts over all subsets: not monotone, and some untestable."""
    table: dict[frozenset[int], Verdict] = {}
    for length in range(count + 1):
        for items in itertools.combinations(range(count), length):
            table[frozenset(items)] = dice.choice(["good", "bad", "untestable"])
    everything = frozenset(range(count))
    table[everything] = keep
    asked: list[frozenset[int]] = []

    def judge(items: Sequence[int]) -> Verdict:
        asked.append(frozenset(items))
        return table[frozenset(items)]

    minimized = Minimizer(judge, "good" if keep == "good" else "bad")
    result = minimized.minimize(range(count))
    assert minimized.has_verdict(result)
    assert len(asked) == len(set(asked)) == len(minimized._verdicts)
    assert _is_minimal(minimized, result)


def test_each_smaller_set_is_reported() -> None:
    seen: list[list[int]] = []
    minimized = Minimizer(
        lambda items: "bad" if {1, 6} <= set(items) else "good",
        "bad",
        on_reduced=lambda items, _: seen.append(items),
    )
    assert minimized.minimize(range(8)) == seen[-1] == [1, 6]
    assert all(set(b) < set(a) for a, b in some(itertools.pairwise(seen)))


@given(count=st.integers(1, 200), members=st.sets(st.integers(0, 199), min_size=1, max_size=5))
def test_at_least_as_many_sets_are_judged_as_was_reported(count: int, members: set[int]) -> None:
    group = {number % count for number in members}
    ends: list[int] = []

    def note(items: list[int], to_go: int) -> None:
        assert group <= set(items)
        ends.append(len(minimized._verdicts) + to_go)

    minimized = Minimizer(
        lambda items: "bad" if group <= set(items) else "good", "bad", on_reduced=note
    )
    assert minimized.minimize(range(count)) == sorted(group)
    assert max(ends, default=0) <= len(minimized._verdicts)
