"""Random pipelines: the same for a seed, and spread over operations."""

from __future__ import annotations

from actiondbg.kernels.bisection.random_pipelines import random_dispatches, random_pipelines
from actiondbg.kernels.operations.matmul import Matmul


def test_a_seed_decides_the_pipelines() -> None:
    assert random_pipelines(20, 1) == random_pipelines(20, 1)
    assert random_pipelines(20, 1) != random_pipelines(20, 2)


def test_a_longer_list_begins_with_a_shorter_one() -> None:
    assert random_pipelines(50, 3)[:20] == random_pipelines(20, 3)


def test_pipelines_are_distinct_and_begin_with_loops() -> None:
    pipelines = random_pipelines(200)
    assert len(set(pipelines)) == 200
    assert all(each.startswith("func.func(convert-linalg-to-affine-loops,") for each in pipelines)


def test_dispatches_take_the_operations_in_turn() -> None:
    operations = [Matmul(8, 8, size) for size in (4, 8, 16)]
    dispatches = random_dispatches(operations, 7)
    assert [each.operation for each in dispatches] == [*operations, *operations, operations[0]]
    assert [each.configuration.parameters["pipeline"] for each in dispatches] == random_pipelines(7)
    assert len({each.configuration.name for each in dispatches}) == 7
