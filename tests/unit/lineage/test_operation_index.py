"""The words of the Python shell over dumps."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.lineage.dumps.dump_lineage import read_dumps
from actiondbg.lineage.dumps.operation_index import (
    OperationIndex,
    SourceLocation,
    SourceRanges,
    described_ops,
    shown_ops,
    shown_source,
    shrink_to_children,
    shrink_to_parents,
    track_ops,
)

INPUT = """module {
  func.func @f(%arg0: i32, %arg1: i1) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32 loc(#loc)
    %1 = scf.if %arg1 -> (i32) {
      %2 = arith.muli %0, %0 : i32 loc("src.py":12:3)
      scf.yield %2 : i32 loc("src.py":12:1 to :9)
    } else {
      %2 = arith.subi %0, %0 : i32 loc(fused["src.py":1:1, "src.py":20:1])
      scf.yield %2 : i32 loc(unknown)
    } loc("src.py":11:1)
    return %1 : i32 loc("src.py":0:0)
  } loc("src.py":9:1)
}
#loc = loc("src.py":10:5)
"""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OperationIndex:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mlir").write_text(INPUT)
    (tmp_path / "src.py").write_text("".join(f"line {n}\n" for n in range(1, 21)))
    lineage = read_dumps(["in.mlir"]).lineage
    return OperationIndex(lineage, lineage.stages[0])


def test_operations_are_found_by_name_type_and_source(index: OperationIndex) -> None:
    assert len(index) == 9
    assert [op.op_name for op in index.get_ops_by_name("%2")] == ["arith.muli", "arith.subi"]
    assert [op.ssa_name for op in index.get_ops_by_type("scf.if")] == ["%1"]
    assert [op.op_name for op in index.get_ops_by_src_loc("src.py:12:3")] == [
        "arith.muli",
        "scf.yield",
    ]
    assert [op.op_name for op in index.get_ops_by_src_range("src.py:10:1-12:2")] == [
        "arith.addi",
        "scf.if",
        "scf.yield",
    ]
    # Between the ranges of the fused location, and where the lines are unknown, is nothing.
    assert index.get_ops_by_src_loc("src.py:5:1") == []
    assert index.get_ops_by_name("%none") == index.get_ops_by_type("no.op") == []


def test_ids_are_unique_in_sibling_regions(index: OperationIndex) -> None:
    ids = [unique for unique, _ in index]
    assert len(set(ids)) == len(ids) == 9
    path = "builtin.module[0]/func.func[1]"
    assert ids[:5] == [
        "builtin.module[0]",
        path,
        f"{path}/%0",
        f"{path}/%1",
        f"{path}/%1/%2",
    ]
    assert ids[6] == f"{path}/%1/%2[6]"
    for unique, op in index:
        found = index.get_op(unique)
        assert found == op
        assert found is not None
        assert found.unique_id == unique
    assert index.get_op("none") is None


def test_parents_children_and_combined_source(index: OperationIndex) -> None:
    (branch,) = index.get_ops_by_type("scf.if")
    assert [child.op_name for child in branch.children] == [
        "arith.muli",
        "scf.yield",
        "arith.subi",
        "scf.yield",
    ]
    assert branch.children[0].parent == branch
    assert str(branch.src_rng) == "src.py:11:1"
    assert str(branch.get_combined_src()) == (
        "src.py:1:1, src.py:11:1, src.py:12:1-12:9, src.py:12:3, src.py:20:1"
    )
    everything = [op for _, op in index]
    assert shrink_to_parents(everything) == everything[:1]
    assert shrink_to_parents(branch.children) == branch.children
    assert [op.op_name for op in shrink_to_children(everything)] == [
        "arith.addi",
        "arith.muli",
        "scf.yield",
        "arith.subi",
        "scf.yield",
        "func.return",
    ]


def test_operations_are_tracked_once(index: OperationIndex) -> None:
    (branch,) = index.get_ops_by_type("scf.if")
    twice = [*branch.children, *branch.children]
    assert [op.op_name for op in track_ops(twice, index)] == [
        "arith.muli",
        "scf.yield",
        "arith.subi",
    ]
    assert len(track_ops(branch, index)) == 1
    assert len(track_ops(branch, index, use_combined_src=True)) == 4
    assert track_ops(None, index) == track_ops([], index) == []
    assert len(track_ops(SourceRanges.from_str("src.py:1:1-9:9"), index)) == 2


def test_operations_are_shown_without_their_indentation(index: OperationIndex) -> None:
    add, (branch,) = index.get_ops_by_name("%0"), index.get_ops_by_type("scf.if")
    assert shown_ops(add) == "%0 = arith.addi %arg0, %arg0 : i32"
    assert "\n  %2 = arith.muli %0, %0 : i32\n" in shown_ops(branch)
    assert "loc(" not in shown_ops(branch)
    assert shown_ops([branch, *add, *branch.children]).splitlines()[:3] == [
        '%0 = arith.addi %arg0, %arg0 : i32 loc("src.py":10:5)',
        "-" * 40,
        "%1 = scf.if %arg1 -> (i32) {",
    ]
    assert (shown_ops(None), shown_ops([])) == ("None", "[]")


def test_sources_are_shown_once(index: OperationIndex) -> None:
    (branch,) = index.get_ops_by_type("scf.if")
    assert shown_source(branch) == "line 11"
    assert shown_source([branch, branch, *branch.children]) == f"\n{'-' * 40}\n".join(
        ["line 1\nline 20", "line 11", "line 12", "line 12"]
    )
    assert shown_source("src.py:2:3-4:2") == "ne 2\nline 3\nli"
    assert shown_source(index.get_ops_by_type("func.return")) == ""
    assert "  | line 11" in described_ops(branch, content=True)
    for text in ("other.py:1:1", "src.py:99:1"):
        with pytest.raises(UsageError, match=r"The source '.*'"):
            shown_source(text)


def test_ranges_overlap_as_sets(index: OperationIndex) -> None:
    (sub,) = index.get_ops_by_type("arith.subi")
    assert sub.src_rng.overlaps(SourceRanges.from_str("/w/src.py:20:1"))
    assert not sub.src_rng.overlaps(SourceRanges.from_str("src.py:5:1"))
    unknown = index.get_ops_by_type("func.return")[0].src_rng
    assert unknown.is_unknown
    assert not unknown.overlaps(unknown)
    with pytest.raises(UsageError, match=r"Invalid source range 'src.py:5'"):
        SourceRanges.from_str("src.py:5")


def test_ranges_are_merged_from_the_first_position_to_the_last(index: OperationIndex) -> None:
    (sub,) = index.get_ops_by_type("arith.subi")  # src.py:1:1 and src.py:20:1, nothing between
    source = sub.src_rng
    assert (str(source.start), str(source.end)) == ("src.py:1:1", "src.py:20:1")
    assert source.contains("src.py:20:1")
    assert not source.contains("src.py:5:1")
    hull = source.merge(source)
    assert str(hull) == "src.py:1:1-20:1"
    assert hull.contains(SourceLocation.from_str("w/src.py:5:1"))
    assert not hull.contains("other.py:5:1")
    unknown = SourceRanges.unknown()
    assert unknown.start.is_unknown
    assert not hull.contains(unknown)
    assert not unknown.contains(hull)
    assert (unknown.merge(hull), hull.merge(unknown)) == (hull, hull)
    other = SourceRanges.from_str("other.py:1:1")
    assert hull.try_merge(other) == hull
    with pytest.raises(
        UsageError, match=r"Source ranges of 'src.py' and 'other.py' cannot be merged"
    ):
        hull.merge(other)
    with pytest.raises(UsageError, match=r"Invalid source position 'src.py:1:1-2:2'"):
        SourceLocation.from_str("src.py:1:1-2:2")
    places = SourceLocation.from_strs(["src.py:10:5", "src.py:2:15", "src.py:10:3"])
    assert [str(one) for one in sorted(places)] == ["src.py:2:15", "src.py:10:3", "src.py:10:5"]


def test_operations_without_bindings_are_those_of_the_text(index: OperationIndex) -> None:
    (add,) = index.get_ops_by_name("%0")
    index.parsed.__dict__["_parsed"] = None
    assert add.op == add.operation
    assert str(add.op).strip().startswith("%0 = arith.addi")
    assert index.get_info_by_op(add.op.parent) == add.parent
