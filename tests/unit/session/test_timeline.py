"""Branches of a timeline, which checkpoints are kept, and where hits are looked for."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actiondbg import protocol
from actiondbg.process.branches import Branches, actions_at, event_before
from actiondbg.process.checkpoints import least_useful, memory_of
from actiondbg.process.stop import Stop
from actiondbg.session.time_travel import Hit, Segment, newest_hits


def before(ordinal: int, depth: int = 0, name: str = "X") -> Stop:
    event = event_before(ordinal, depth)
    return Stop(
        when="before",
        reason="step",
        ordinal=ordinal,
        event=event,
        depth=depth,
        tag="apply-pattern",
        name=name,
    )


def reached(*stops: Stop) -> Branches:
    branches = Branches()
    for stop in stops:
        branches.reach(stop)
    return branches


# --- events -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ordinal", "depth", "event"),
    [(1, 0, 1), (2, 1, 2), (3, 1, 4), (4, 2, 5), (5, 0, 9)],  # 1( 2() 3( 4() ) ) 5
)
def test_the_event_of_an_action_follows_from_its_ordinal_and_depth(
    ordinal: int, depth: int, event: int
) -> None:
    assert event_before(ordinal, depth) == event
    assert actions_at(before(ordinal, depth)) == ordinal


def test_number_of_actions_after_one_and_at_the_end() -> None:
    after = Stop(when="after", reason="step", ordinal=3, event=7, depth=1)
    assert actions_at(after) == 4
    assert actions_at(Stop(when="during", reason="catch", ordinal=4, event=5, depth=2)) == 4
    assert actions_at(Stop(when="exit", reason="exited", event=10, actions=5)) == 5
    crashed = Stop(when="exit", reason="crashed", ordinal=4, event=5, depth=2)
    assert actions_at(crashed) == 4


# --- branches ----------------------------------------------------------------------------------


def test_controls_at_the_newest_event_make_no_branch() -> None:
    branches = reached(before(1))
    assert not branches.decide(before(1), skip=False)
    assert branches.decide(before(1), skip=True)
    assert branches.decide(before(1), skip=False)
    assert branches.ordinals() == []
    branches.decide(before(1), skip=True)
    branches.reach(before(2))
    assert branches.ordinals() == [1]
    assert [one.number for one in branches.all()] == [1]


def test_another_control_makes_a_branch() -> None:
    branches = reached(before(1), before(3), before(9))
    branches.plan([])
    assert branches.decide(before(9), skip=True)
    branches.reach(before(12))
    assert not branches.decide(before(9), skip=True)  # as before
    assert branches.decide(before(3), skip=True)
    first, second = branches.all()
    assert [one.ordinal for one in first.skips] == [9]
    assert (second.parent, second.ordinal, second.event) == (1, 3, 5)
    assert branches.ordinals() == [3]  # not 9, which came after it on the old branch
    branches.reach(before(5))
    assert branches.decide(before(3), skip=False)
    assert branches.current.parent == 1
    assert branches.ordinals() == []
    branches.switch(1)
    assert branches.ordinals() == [9]


def test_branch_of_a_shared_part_leaves_the_older_branch() -> None:
    branches = reached(before(9))
    branches.decide(before(5), skip=True)
    branches.reach(before(7))
    branches.decide(before(2), skip=True)
    assert [(one.number, one.parent, one.ordinal) for one in branches.all()] == [
        (1, None, 0),
        (2, 1, 5),
        (3, 1, 2),
    ]
    branches.switch(2)
    branches.decide(before(6), skip=True)
    assert branches.current.parent == 2
    assert branches.ordinals() == [5, 6]


def test_events_of_the_timeline() -> None:
    branches = reached(before(9))
    branches.decide(before(5), skip=True)  # at event 9
    branches.reach(before(8))
    assert branches.holds(1, 8, at_event=False)
    assert branches.holds(1, 9, at_event=True)
    assert not branches.holds(1, 9, at_event=False)  # the action was carried out by then
    assert not branches.holds(1, 12, at_event=True)
    assert branches.holds(2, 12, at_event=True)
    assert branches.owner(9, at_event=True).number == 1
    assert branches.owner(9, at_event=False).number == 2
    branches.switch(1)
    assert branches.holds(1, 12, at_event=True)
    assert not branches.holds(2, 12, at_event=True)


def test_plans_concern_later_events() -> None:
    branches = reached(before(2))
    branches.decide(before(2), skip=True)
    planned = Branches()
    planned.decide(before(8), skip=True)
    branches.plan(planned.current.skips)
    assert branches.ordinals() == [2, 8]
    branches.plan([])
    assert branches.ordinals() == [2]
    branches.plan(planned.current.skips)
    saved = branches.save()
    branches.reach(before(4))
    branches.decide(before(4), skip=True)  # what was planned has to be planned anew
    assert branches.ordinals() == [2, 4]
    assert saved.ordinals() == [2, 8]


# --- checkpoints ---------------------------------------------------------------------------------


def test_checkpoints_are_kept_the_further_back_the_further_apart() -> None:
    kept = list(range(0, 10_001, 10))
    while len(kept) > 20:
        kept.pop(least_useful(kept, 10_000))
    ways = [(10_000 - first, second - first) for first, second in itertools.pairwise(kept)]
    assert kept[-1] == 10_000
    assert all(gap <= max(way, 20) for way, gap in ways)
    assert sum(way < 1000 for way, _ in ways) > len(kept) // 2


def test_memory_of_a_process_is_measured() -> None:
    ballast = bytearray(os.urandom(1)) * (32 << 20)
    assert memory_of(os.getpid()) >= len(ballast)
    assert memory_of(1 << 30) == 0


# --- hits ----------------------------------------------------------------------------------------


class Recorded:
    """A replica of a recorded run: hits at events, and inside of actions after events."""

    def __init__(self, hits: list[Hit], event: int, last: int) -> None:
        self.event = event
        self._hits, self._last = hits, last
        self._passed: list[Hit] = []
        self._inside = 0

    def go(self, event: int, keep: int) -> Stop:
        assert self.event < event <= self._last
        before = [one for one in self._hits if one.event < event]
        self._passed, self.event = before[-keep:], event
        hit = Hit(event, 0) in self._hits
        return Stop(
            when="before", reason="until", ordinal=1, event=event, breakpoints=[1] if hit else []
        )

    def check_same(self) -> None:
        """The replay is the run itself."""

    def request(self, _: object) -> Any:
        passed = [protocol.Passed(event=one.event, during=one.inside or 0) for one in self._passed]
        return protocol.Status(
            ordinal=0,
            contexts=1,
            threading=False,
            tracked=0,
            event=self.event,
            written=(0, 0),
            passed=passed,
        )

    def complete(self) -> Stop:
        self._inside += 1
        if Hit(self.event, self._inside) in self._hits:
            return Stop(when="during", reason="catch", event=self.event, breakpoints=[1])
        return Stop(when="exit", reason="exited", event=self._last)


LAST = 12
EVENTS = st.integers(1, LAST)
# By event: whether there is a hit at it, and how many are inside of the action after it.
HITS = st.dictionaries(EVENTS, st.tuples(st.booleans(), st.integers(0, 2)), max_size=6)
BOUNDS = st.one_of(st.just(Hit(LAST, None)), st.builds(Hit, EVENTS, st.integers(0, 2)))


@given(
    by_event=HITS,
    frozen=st.sets(st.tuples(st.integers(1, LAST - 1), st.booleans()), max_size=3),
    bound=BOUNDS,
    count=st.integers(1, 7),
)
def test_newest_hits_are_found_with_any_checkpoints(
    by_event: dict[int, tuple[bool, int]], frozen: set[tuple[int, bool]], bound: Hit, count: int
) -> None:
    hits = sorted(
        Hit(event, at)
        for event, (is_hit, inside) in by_event.items()
        for at in range(0 if is_hit and event < LAST else 1, inside + 1)
    )

    def segment(event: int, at_event: bool) -> Segment:
        @contextlib.contextmanager
        def start() -> Generator[Recorded]:
            here = (event, 0 if at_event else 99)
            yield Recorded([one for one in hits if one > here], event, LAST)

        make: Any = start
        return Segment(event, at_event, make)

    segments = [segment(*one) for one in sorted(frozen, reverse=True)] + [segment(0, False)]
    limit = (bound.event, 99 if bound.inside is None else bound.inside)
    wanted = [one for one in hits if one < limit][::-1][:count]
    assert newest_hits(segments, bound, count) == wanted
