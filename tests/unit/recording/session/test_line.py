"""The line of events, compared with one that is walked action by action."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from actiondbg.recording.session.table_columns import EventLine, depths_of, is_line, order_of
from tests.fakes import strategies


def _walk(depths: list[int]) -> tuple[list[tuple[int, str]], list[int]]:
    """Return the events that came, and the actions that are still open, outermost first."""
    events: list[tuple[int, str]] = []
    stack: list[int] = []
    for place, depth in enumerate(depths):
        while len(stack) > depth:
            events.append((stack.pop(), "after"))
        events.append((place, "before"))
        stack.append(place)
    return events, stack


def _parents(depths: list[int]) -> list[int]:
    parents: list[int] = []
    for place, depth in enumerate(depths):
        outer = [at for at in range(place) if depths[at] == depth - 1]
        parents.append(outer[-1] if depth else -1)
    return parents


@given(depths=strategies.depths())
def test_events_equal_those_of_a_walk(depths: list[int]) -> None:
    events, still_open = _walk(depths)
    line = EventLine(np.array(depths), np.array(still_open))
    whole = [*events, *((place, "after") for place in reversed(still_open))]
    for event, (place, when) in enumerate(whole, 1):
        assert line.at(event) == (place, when)
        assert line.event(place, when) == event  # pyright: ignore[reportArgumentType]
        assert line.begun(event) == sum(side == "before" for _, side in whole[:event])
    assert line.last == len(events)
    over = {place for place, when in events if when == "after"}
    assert np.flatnonzero(line.over(line.last)).tolist() == sorted(over)
    assert [line.is_over(place, line.last) for place in range(len(depths))] == [
        place in over for place in range(len(depths))
    ]


@given(depths=strategies.depths())
def test_nesting_equals_that_of_a_walk(depths: list[int]) -> None:
    parents = _parents(depths)
    line = EventLine(np.array(depths), np.array([], dtype=np.int64))
    for place in range(len(depths)):
        stack = [place]
        while parents[stack[-1]] >= 0:
            stack.append(parents[stack[-1]])
        assert line.stack(place) == stack
        inside = [at for at in range(len(depths)) if place in _chain(parents, at)]
        assert line.last_inside(place) == inside[-1]


def _chain(parents: list[int], place: int) -> list[int]:
    chain = [place]
    while parents[chain[-1]] >= 0:
        chain.append(parents[chain[-1]])
    return chain


@given(shape=strategies.depths(), dice=st.randoms(use_true_random=False))
def test_actions_of_threads_are_in_the_order_of_the_tree(
    shape: list[int], dice: random.Random
) -> None:
    tree = _parents(shape)
    # Begin them in another order, in which each is behind the one around it.
    waiting, begun = [place for place, parent in enumerate(tree) if parent < 0], list[int]()
    while waiting:
        place = waiting.pop(dice.randrange(len(waiting)))
        begun.append(place)
        waiting += [inner for inner, parent in enumerate(tree) if parent == place]
    ordinal = {place: at for at, place in enumerate(begun)}
    parents = [ordinal.get(tree[place], -1) for place in begun]

    visited: list[int] = []

    def visit(at: int) -> None:
        visited.append(at)
        for inner, parent in enumerate(parents):
            if parent == at:
                visit(inner)

    for at, parent in enumerate(parents):
        if parent < 0:
            visit(at)
    depths = depths_of(np.array(parents))
    assert depths.tolist() == [len(_chain(parents, at)) - 1 for at in range(len(parents))]
    places = order_of(np.array(parents), depths)
    assert [visited[place] for place in places] == list(range(len(parents)))


def test_missing_actions_are_ignored() -> None:
    # Two threads were in #2 and #3 when the tool was killed; #4 is over.
    line = EventLine(np.array([0, 1, 1, 1]), np.array([0, 1, 2]))
    assert line.onwards(3) == 4  # the end of #2 did not come
    assert line.backwards(3) == 2
    assert line.last == 7
    assert line.onwards(8) is None


def test_actions_without_their_parents_are_refused() -> None:
    assert is_line(np.array([0, 1, 2, 1]))
    assert not is_line(np.array([0, 2]))
    assert not is_line(np.array([1, 1]))
    assert is_line(np.array([], dtype=np.int32))


def test_line_without_actions() -> None:
    line = EventLine(np.array([], dtype=np.int32), np.array([], dtype=np.int64))
    assert line.last == 0
    assert line.onwards(1) is None
