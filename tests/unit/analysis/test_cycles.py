"""Cycles are found; ordinary runs of one pattern are not taken for them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import overload

import pytest

from actiondbg.analysis.cycles import Applied, Cycle, find_cycle

Step = tuple[str, str, int | None, str | None]  # name, op, id, location


def stream(*steps: Step) -> list[Applied]:
    return [
        Applied(ordinal=at, tag="apply-pattern", name=name, op=op, id=id, location=location)
        for at, (name, op, id, location) in enumerate(steps, 1)
    ]


def commuting(rounds: int, place: str | None = "in.mlir:4:8", first: int = 20) -> list[Step]:
    """Two patterns, each of which replaces what the other made."""
    return [
        step
        for at in range(rounds)
        for step in (
            ("SubToAddNeg", "arith.subi", first + 3 * at, place),
            ("AddNegToSub", "arith.addi", first + 3 * at + 2, place),
        )
    ]


PRELUDE: list[Step] = [
    ("FoldConstant", "arith.addi", 3, "in.mlir:2:8"),
    ("AddNegToSub", "arith.addi", 7, "in.mlir:3:8"),
]


def names(cycle: Cycle | None) -> list[str] | None:
    return None if cycle is None else [each.name for each in cycle.round]


def test_two_patterns_undo_each_other() -> None:
    actions = stream(*PRELUDE, *commuting(5))
    cycle = find_cycle(actions)
    assert cycle == Cycle(round=actions[-2:], times=5)
    assert names(cycle) == ["SubToAddNeg", "AddNegToSub"]


def test_the_last_round_may_be_cut() -> None:
    actions = stream(*PRELUDE, *commuting(5)[:-1])
    assert find_cycle(actions) == Cycle(round=actions[-3:-1], times=4)


def test_rounds_before_a_stream_that_was_cut() -> None:
    whole, part = stream(*commuting(9)), stream(*PRELUDE, *commuting(9))
    assert find_cycle(whole, cut=True) == Cycle(round=whole[-2:], times=9, more=True)
    assert find_cycle(part, cut=True) == Cycle(round=part[-2:], times=9)


@pytest.mark.parametrize(("rounds", "found"), [(2, False), (3, True)])
def test_three_rounds_are_a_cycle(rounds: int, found: bool) -> None:
    assert (find_cycle(stream(*PRELUDE, *commuting(rounds))) is not None) == found


def test_later_action_ends_a_cycle() -> None:
    actions = stream(*commuting(9), ("Other", "arith.muli", 60, "in.mlir:9:1"))
    assert find_cycle(actions) is None
    assert find_cycle([]) is None


def test_the_shortest_period_and_a_long_one() -> None:
    assert names(find_cycle(stream(*commuting(40)))) == ["SubToAddNeg", "AddNegToSub"]
    for length, found in ((64, True), (65, False)):
        steps: list[Step] = [
            (f"P{at % length}", "t.a", 5, f"in.mlir:{at % length}:1") for at in range(length * 4)
        ]
        cycle = find_cycle(stream(*steps))
        assert (cycle is not None and len(cycle.round) == length) == found


def test_a_pattern_that_changes_one_operation_for_ever() -> None:
    step: Step = ("SwapOperands", "arith.addi", 7, None)
    assert find_cycle(stream(*[step] * 7)) is None
    assert find_cycle(stream(*PRELUDE, *[step] * 8)) == Cycle(
        round=stream(*PRELUDE, *[step] * 8)[-1:], times=8
    )


@pytest.mark.parametrize("rounds", [7, 8])
def test_pattern_that_replaces_its_own_result(rounds: int) -> None:
    steps: list[Step] = [("Expand", "t.a", 20 + 2 * at, "in.mlir:4:8") for at in range(rounds)]
    assert (find_cycle(stream(*PRELUDE, *steps)) is not None) == (rounds == 8)


@pytest.mark.parametrize(
    "steps",
    [
        # Operations of their own lines, in the order of the text and against it.
        [("Fold", "arith.addi", at, f"in.mlir:{at}:8") for at in range(1, 1000)],
        [("Fold", "arith.addi", 1000 - at, f"in.mlir:{at}:8") for at in range(1, 1000)],
        # Pairs of operations, such as a cast and what uses it.
        [
            ("A" if at % 2 else "B", "t.a" if at % 2 else "t.b", at, f"in.mlir:{at}:8")
            for at in range(1, 1000)
        ],
        # Copies that share a location, such as those of an unrolled loop: they were there before.
        [("Fold", "arith.addi", 1000 - at, "in.mlir:4:8") for at in range(1, 1000)],
        [
            ("Erase", "t.last", 2000, "in.mlir:9:1"),
            *[("Fold", "arith.addi", at, "in.mlir:4:8") for at in range(1, 1000)],
        ],
        # Without locations, at operations that were not made in equal steps.
        [("Fold", "arith.addi", at * at, None) for at in range(1, 1000)],
        [("Fold", "arith.addi", None, None) for _ in range(1, 1000)],
        # An unknown place does not make one of those around it.
        [("Fold", "t.a", None, f"in.mlir:{at}:8" if at % 2 else None) for at in range(1, 999)],
        [("Fold", "t.a", None, "in.mlir:9:8" if at == 997 else None) for at in range(1, 1000)],
        # One pattern, which is of many operations, in one place.
        [("Fold", f"t.op{at}", at, "in.mlir:4:8") for at in range(1, 1000)],
    ],
    ids=["down", "up", "pairs", "copies", "earlier", "uneven", "unknown", "joined", "once", "ops"],
)
def test_an_ordinary_run_is_no_cycle(steps: list[Step]) -> None:
    assert find_cycle(stream(*steps)) is None


def test_an_unknown_location_agrees_with_any() -> None:
    steps = commuting(6)
    steps[5] = (*steps[5][:3], None)
    steps[8] = (*steps[8][:3], None)
    cycle = find_cycle(stream(*steps))
    assert cycle is not None and cycle.times == 6


@pytest.mark.parametrize(("rounds", "found"), [(7, False), (8, True)])
def test_without_locations_equal_steps_are_a_cycle(rounds: int, found: bool) -> None:
    assert (find_cycle(stream(*commuting(rounds, None))) is not None) == found


def test_one_known_location_in_a_round_suffices() -> None:
    steps: list[Step] = []
    for at in range(3):
        steps.append(("Grow", "t.a", 30 + at * at, None))
        steps.append(("Shrink", "t.user", 4, None))
    assert names(find_cycle(stream(*steps))) == ["Grow", "Shrink"]


def test_two_operations_that_change_by_turns() -> None:
    steps: list[Step] = [("Swap", "t.a", 5 + at % 2, "in.mlir:4:8") for at in range(20)]
    cycle = find_cycle(stream(*steps))
    assert cycle is not None
    assert [each.id for each in cycle.round] == [5, 6]


class Reads(Sequence[Applied]):
    """A stream that counts how many of its actions are read."""

    def __init__(self, stream: Sequence[Applied]) -> None:
        self.number = 0
        self._stream = stream

    def __len__(self) -> int:
        return len(self._stream)

    @overload
    def __getitem__(self, at: int) -> Applied: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Applied]: ...

    def __getitem__(self, at: int | slice) -> Applied | Sequence[Applied]:
        self.number += len(range(len(self))[at]) if isinstance(at, slice) else 1
        return self._stream[at]


@pytest.mark.parametrize("place", ["in.mlir:4:8", None])
def test_a_long_stream_is_read_a_few_times(place: str | None) -> None:
    choice = random.Random(1)
    steps: list[Step] = [("P", "t.a", at * 7 + choice.randrange(5), place) for at in range(20_000)]
    reads = Reads(stream(*steps))
    find_cycle(reads)
    # To try all periods to the end of the stream reads each action a hundred times.
    assert len(steps) <= reads.number < 5 * len(steps)
