"""Ways along the edges of a lineage keep to the order of time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.lineage import EVIDENCES, Evidence
from actiondbg.lineage.questions.reasons import Ways
from tests.elements import some
from tests.fakes.lineage.lineage import FakeLineage, written_stage

# @1 is cloned to @3; then @2 is merged into @1, which is replaced by @4.
EDGES = (
    (Evidence.CLONED, 1, 3, 34, 10),
    (Evidence.MERGED, 2, 1, 50, 20),
    (Evidence.REPLACED, 1, 4, 60, 30),
)
KINDS = (Evidence.CLONED, Evidence.MERGED, Evidence.REPLACED, Evidence.INLINED)


def graph() -> LineageGraph:
    codes, sources, targets, ordinals, times = zip(
        *((EVIDENCES.index(one[0]), *one[1:]) for one in EDGES), strict=True
    )
    columns = (np.array(column, np.int64) for column in (sources, targets, codes, ordinals, times))
    return LineageGraph(Edges(*columns), 5)


def reached(start: int, *, back: bool) -> set[int]:
    found = graph()
    return set(found.nodes(found.reach(start, back=back)))


def test_what_was_made_of_an_operation_before_a_merge_is_not_made_of_both() -> None:
    assert reached(1, back=False) == {1, 3, 4}
    assert reached(2, back=False) == {2, 1, 4}
    assert reached(3, back=True) == {3, 1}
    assert reached(4, back=True) == {4, 1, 2}
    assert reached(1, back=True) == {1, 2}


def test_all_pairs_are_those_that_are_reached() -> None:
    found = graph()
    rows, nodes = found.pairs(np.array([1, 2, 3]))
    pairs = {(row + 1, node) for row, node in zip(rows.tolist(), nodes.tolist(), strict=True)}
    assert pairs == {(at, to) for at in (1, 2, 3) for to in reached(at, back=False)}
    assert np.flatnonzero(found.derived(np.array([2]))).tolist() == [1, 2, 4]


@pytest.mark.parametrize("back", [False, True])
def test_ways_from_several_operations_are_the_shortest_of_each(back: bool) -> None:
    chance = random.Random(17)
    for _ in range(50):
        ends = np.sort(np.array([chance.sample(range(30), 2) for _ in range(40)]), axis=1)
        merges = np.array([EVIDENCES.index(chance.choice(KINDS)) for _ in ends])
        times = np.arange(1, len(ends) + 1)
        found = LineageGraph(Edges(ends[:, 0], ends[:, 1], merges, times, times), 30)
        starts, to = chance.sample(range(30), 6), chance.sample(range(30), 4)
        single = {start: found.reach(start, back=back) for start in starts}
        several = found.reach(*starts, back=back)
        for node, point in some(found.nodes(several).items()):
            alone = [one for one in single.values() if node in found.nodes(one)]
            ways = [found.way(one, found.nodes(one)[node]) for one in alone]
            assert found.way(several, point) == min(ways, key=len)
        leading = found.leading(to, back=back)
        for start, one in some(single.items()):
            assert (start in leading) == bool(found.nodes(one).keys() & set(to))


def test_a_way_names_the_steps_over_a_merge() -> None:
    found = graph()
    onward = found.reach(2, back=False)
    way = found.way(onward, found.nodes(onward)[4])
    assert [(step.source, step.target) for step in way] == [(2, 1), (1, 4)]
    assert found.ends(onward) == {4}
    back = found.reach(4, back=True)
    assert found.way(back, found.nodes(back)[2]) == way


def test_the_ways_of_questions_are_the_same() -> None:
    stage = written_stage("input", "1 a.one\n2 a.two\n3 a.three\n4 a.four")
    ways = Ways(FakeLineage([stage, stage], list(graph().steps())))
    for start in (1, 2, 3, 4):
        assert set(ways.forward(start).nodes) == reached(start, back=False)
        assert set(ways.back(start).nodes) == reached(start, back=True)
