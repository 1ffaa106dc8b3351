"""Groups, kinds, flows, the matrix and lost locations over a lineage made by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("duckdb")

from actiondbg.errors import UsageError
from actiondbg.lineage.lineage import Evidence, LineageStep
from actiondbg.lineage.questions.flows import flows
from actiondbg.lineage.questions.groups import groups
from actiondbg.lineage.questions.kinds import kind_rows
from actiondbg.lineage.questions.matrix import matrix, unexplained
from actiondbg.lineage.questions.parting import Sign, ways_part
from tests.fakes.lineage.lineage import FakeLineage, convolutions, written_stage


def test_groups_by_what_they_became() -> None:
    found = groups(convolutions(), "tosa.conv2d", "linalg.matmul")
    assert [one.node for one in found.became] == [1, 2, 3]
    assert [(fate.kinds, fate.why, len(fate.operations)) for fate in found.fates] == [
        (("linalg.conv_2d",), "", 4),
        ((), "folded", 1),
    ]
    assert [one.node for one in found.others] == [4, 5, 6, 7, 8]


def test_a_kind_between_the_stages_counts() -> None:
    found = groups(convolutions(), "tosa.*", "tosa.matmul")
    assert [one.node for one in found.became] == [1, 2, 3]


def test_ways_part_at_the_first_difference() -> None:
    parting = groups(convolutions(), "tosa.conv2d", "linalg.matmul").fates[0].parting
    assert parting is not None
    assert parting.sign == Sign("pass:decompose", "pattern:ConvIsMatmul")
    assert (parting.ordinal, parting.pass_ordinal) == (11, 10)
    assert (parting.count_a, parting.size_a, parting.count_b, parting.size_b) == (3, 3, 0, 4)
    assert parting.is_complete
    assert [example.operation.node for example in parting.examples] == [1, 2, 3]
    assert parting.examples[0].step == LineageStep(Evidence.REPLACED, 1, 30001, 11)


def test_ways_of_stages_part_at_a_stage() -> None:
    text = "1 a.x\n2 a.x\n3 a.x"
    stages = [
        written_stage("A.mlir", text),
        written_stage("B.mlir", "11 a.x\n12 b.y\n13 b.y"),
        written_stage("C.mlir", "21 c.z\n22 c.w\n23 c.w"),
    ]
    pairs = [(1, 11), (2, 12), (3, 13), (11, 21), (12, 22), (13, 23)]
    steps = [LineageStep(Evidence.LOCATION, source, target) for source, target in pairs]
    lineage = FakeLineage(stages, steps)
    first = list(stages[0])
    parting = ways_part(lineage, first[:1], first[1:])
    assert parting is not None
    assert parting.sign.where == "B.mlir"
    assert parting.ordinal is None
    assert ways_part(lineage, first[1:2], first[2:]) is None
    assert ways_part(lineage, [], first) is None


def test_an_unknown_kind_names_the_frequent_ones() -> None:
    with pytest.raises(UsageError, match=r"of the input matches 'tosa.conv'.*conv2d \(8\)"):
        groups(convolutions(), "tosa.conv", "linalg.matmul")


def test_kinds() -> None:
    rows = {row.kind: row for row in kind_rows(convolutions())}
    assert rows["tosa.conv2d"].count == 8
    assert rows["tosa.conv2d"].became == {"linalg.conv_2d": 4, "linalg.matmul": 3}
    assert rows["tosa.conv2d"].lost == {"folded": 1}
    assert rows["func.func"].became == {"func.func": 1}


def test_flows_are_conserved() -> None:
    found = flows(convolutions(), "tosa.conv2d", after=["decompose"])
    assert found.columns == ("input", "after decompose", "output")
    kinds = [(kind.column, kind.name, kind.value, kind.is_lost) for kind in found.kinds]
    assert kinds == [
        (0, "tosa.conv2d", 8, False),
        (1, "tosa.conv2d", 4, False),
        (1, "tosa.matmul", 3, False),
        (1, "folded", 1, True),
        (2, "linalg.conv_2d", 4, False),
        (2, "linalg.matmul", 3, False),
    ]
    assert sorted(found.flows) == [(0, 1, 4), (0, 2, 3), (0, 3, 1), (1, 4, 4), (2, 5, 3)]


def test_small_kinds_are_added_up() -> None:
    found = flows(convolutions(), most=2)
    assert [kind.name for kind in found.kinds if kind.column == 0] == [
        "tosa.conv2d",
        "2 other kinds",
    ]


def test_flows_after_an_unknown_pass() -> None:
    with pytest.raises(UsageError, match="matches 'cse': there are decompose, tosa-to-linalg"):
        flows(convolutions(), after=["cse"])
    with pytest.raises(UsageError, match="is not closed"):
        flows(convolutions(), after=["pass:["])


def test_matrix() -> None:
    found = matrix(convolutions())
    assert found.labels == ["", "@main"]
    assert found.unit_sizes.tolist() == [1, 9]
    cells = zip(found.sources, found.cell_units, found.counts, found.exact, strict=True)
    assert [tuple(map(int, cell)) for cell in cells] == [
        (0, 0, 1, 1),
        *((at, 1, 1, 1) for at in range(1, 9)),
    ]
    assert [(one.operation.node, one.reason.why, one.action) for one in found.orphans] == [
        (8, "folded", "pattern:FoldConv"),
        (90000, "inserted", "pattern:ConvConverter"),
    ]
    assert unexplained(found) == []


def test_unexplained_orphans_and_allowed_ones() -> None:
    first = written_stage("input", "1 a.x\n2 a.y")
    last = written_stage("output", "1 a.x\n3 a.z")
    found = matrix(FakeLineage([first, last], []))
    assert [one.operation.node for one in unexplained(found)] == [2, 3]
    assert [one.operation.node for one in unexplained(found, ["*.z"])] == [2]
    with pytest.raises(UsageError, match="not closed"):
        unexplained(found, ["a.[z"])
