"""What insertions show of the operations that they were made for: fusions and expansions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from actiondbg.lineage.recorded.expansions import Expansion, Expansions, Fusion, Fusions, OwnChange

ARGUMENT = 0
LEFT, RIGHT, INNER, ROOT, NEW, OTHER = 1, 2, 3, 4, 5, 6


def fused(
    operands: Mapping[int, Sequence[int]], replaced: dict[int, int] | None = None, pattern: int = 7
) -> set[int]:
    """Return what a pattern applied to ROOT fused into NEW."""
    known = {one: (by, 6) for one, by in (replaced or {}).items()}
    fusions = Fusions(lambda one: operands.get(one, ()), known)
    found = list(fusions.of([(ROOT, NEW, pattern)]))
    assert all(one == Fusion(one.old, NEW, pattern) for one in found)
    return {one.old for one in found}


def test_a_product_is_fused_with_a_sum() -> None:
    assert fused({INNER: (LEFT, RIGHT), ROOT: (INNER, OTHER), NEW: (LEFT, RIGHT, OTHER)}) == {INNER}


def test_an_operation_behind_another_is_fused_too() -> None:
    operands = {INNER: (LEFT, RIGHT), OTHER: (INNER, ARGUMENT), ROOT: (OTHER,), NEW: (LEFT, RIGHT)}
    assert fused(operands) == {INNER}


@pytest.mark.parametrize(
    "operands",
    [
        # It takes one operand of two.
        {INNER: (LEFT, RIGHT), ROOT: (INNER, OTHER), NEW: (LEFT, OTHER)},
        # The root has both operands itself.
        {INNER: (LEFT, RIGHT), ROOT: (INNER, LEFT, RIGHT), NEW: (LEFT, RIGHT)},
        # A single operand is what the operation hands through.
        {INNER: (LEFT,), ROOT: (INNER, OTHER), NEW: (LEFT, OTHER)},
        # The operation itself is an operand, as before.
        {INNER: (LEFT, RIGHT), ROOT: (INNER, OTHER), NEW: (INNER, LEFT, RIGHT)},
        # The argument may be another one, and the constant is used by two.
        {
            INNER: (ARGUMENT, LEFT),
            OTHER: (ARGUMENT, LEFT),
            ROOT: (INNER, OTHER),
            NEW: (ARGUMENT, LEFT),
        },
    ],
)
def test_what_could_be_otherwise_is_not_fused(operands: Mapping[int, Sequence[int]]) -> None:
    assert fused(operands) == set()


def test_arguments_are_taken_of_the_only_operation_that_has_some() -> None:
    both = (ARGUMENT, ARGUMENT)
    assert fused({INNER: both, ROOT: (INNER, OTHER), NEW: (*both, OTHER)}) == {INNER}
    assert fused({INNER: both, ROOT: (INNER, ARGUMENT), NEW: (*both, ARGUMENT)}) == set()


def test_operands_that_were_replaced_are_those_that_replaced_them() -> None:
    operands = {INNER: (8, RIGHT), ROOT: (9, OTHER), NEW: (LEFT, RIGHT, OTHER)}
    assert fused(operands, {8: LEFT, 9: INNER}) == {INNER}
    assert fused(operands, {8: LEFT, 9: INNER}, pattern=5) == set()  # later, by action #6
    assert fused(operands) == set()


def expanded(*changes: tuple[str, int], places: dict[int, int]) -> list[Expansion]:
    """Return the expansions of a pass; those from 10 are at another location."""
    locations = np.array([number // 10 for number in range(30)], np.int64)
    found = Expansions(places, locations).of(OwnChange(1, one, kind) for kind, one in changes)
    return list(found)


def test_what_is_inserted_in_front_of_the_next_that_is_erased_is_for_it() -> None:
    changes = (("inserted", 4), ("inserted", 5), ("replaced", 2), ("erased", 2), ("erased", 3))
    assert expanded(*changes, places={4: 2, 5: 2}) == [Expansion(1, 2, [4, 5], [2, 3])]


def test_what_is_inserted_elsewhere_or_earlier_is_not_for_it() -> None:
    changes = (("inserted", 4), ("erased", 3), ("inserted", 5), ("inserted", 6), ("erased", 2))
    assert expanded(*changes, places={4: 2, 5: 3, 6: 2}) == [Expansion(1, 2, [6], [])]


def test_another_location_is_that_of_another_operation() -> None:
    changes = (("inserted", 11), ("inserted", 4), ("erased", 2))
    assert expanded(*changes, places={11: 2, 4: 2}) == [Expansion(1, 2, [4], [])]
    within = (("inserted", 11), ("erased", 2), ("erased", 12))
    assert expanded(*within, places={11: 2}) == [Expansion(1, 2, [11], [12])]


def test_what_the_pass_inserted_itself_ends_nothing() -> None:
    changes = (("inserted", 4), ("inserted", 5), ("erased", 5), ("erased", 2))
    assert expanded(*changes, places={4: 2, 5: 2}) == [Expansion(1, 2, [4, 5], [])]
