"""The lineage between dumps: by overlapping source ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.lineage.dumps.dump_lineage import DumpLineage, read_dumps
from actiondbg.lineage.lineage import Evidence, LineageStep, Loss
from actiondbg.lineage.opened_lineage import open_lineage

INPUT = """func.func @f(%a: i32) -> i32 {
  %0 = t.add %a, %a : i32
  %1 = t.mul %0, %a : i32
  %2 = t.dead %0 : i32
  return %1 : i32
}
"""
LOWERED = """func.func @f(%a: i32) -> i32 {
  %0 = l.loop %a : i32 {
    l.yield %a : i32 loc("in.mlir":2:8)
  } loc(fused["in.mlir":2:8, "in.mlir":3:8])
  return %0 : i32 loc("dir/in.mlir":5:3)
} loc("in.mlir":1:1)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mlir").write_text(INPUT)
    (tmp_path / "low.mlir").write_text(LOWERED)
    return tmp_path


def lineage(*files: str) -> DumpLineage:
    return read_dumps(files).lineage


def test_operations_are_tracked_there_and_back(folder: Path) -> None:
    found = lineage("in.mlir", "low.mlir")
    source, target = found.stages
    add, mul = source.with_result("%0")[0], source.with_result("%1")[0]
    there = found.track([add, mul], target)
    assert [operation.name for operation in there.operations] == ["l.loop", "l.yield"]
    loop = there.traces[0]
    assert loop.steps == (
        LineageStep(Evidence.LOCATION, add.node, loop.operation.node),
        LineageStep(Evidence.LOCATION, mul.node, loop.operation.node),
    )
    assert not loop.is_exact
    back = found.track([loop.operation], source)
    assert [operation.name for operation in back.operations] == ["t.add", "t.mul"]
    assert back.traces[1].steps == (LineageStep(Evidence.LOCATION, mul.node, loop.operation.node),)
    assert found.track([add], target, exact=True).traces == ()


def test_losses_say_why(folder: Path) -> None:
    found = lineage("in.mlir", "low.mlir")
    source, target = found.stages
    dead = source.with_result("%2")[0]
    assert found.track([dead], target).losses == (Loss(dead.node, "unmatched"),)
    unlocated = read_dumps(["low.mlir", "in.mlir"]).lineage
    assert unlocated.track(unlocated.stages[0].named("l.loop"), unlocated.stages[1]).losses == ()


def test_nested_operations_are_tracked_on_request(folder: Path) -> None:
    found = lineage("in.mlir", "low.mlir")
    source, target = found.stages
    function = source.with_symbol("f")
    alone = found.track(function, target).operations
    assert [operation.name for operation in alone] == ["func.func"]
    nested = found.track(function, target, nested=True).operations
    assert [operation.name for operation in nested] == [
        "func.func",
        "l.loop",
        "l.yield",
        "func.return",
    ]


def test_relations_hold_each_pair_once(folder: Path) -> None:
    found = lineage("in.mlir", "low.mlir")
    source, target = found.stages
    relation = found.relate(source, target)
    pairs = {
        (source.names[at], target.names[to])
        for at, to in zip(relation.sources, relation.targets, strict=True)
    }
    assert pairs == {
        ("func.func", "func.func"),
        ("t.add", "l.loop"),
        ("t.add", "l.yield"),
        ("t.mul", "l.loop"),
        ("func.return", "func.return"),
    }
    assert len(relation.sources) == len(pairs)
    assert not any(relation.exact)
    assert {(step.source, step.target) for step in found.steps()} == {
        (source.nodes[at], target.nodes[to])
        for at, to in zip(relation.sources, relation.targets, strict=True)
    }
    assert list(found.steps(exact=True)) == []


def test_each_stage_is_tracked_directly_to_the_one_asked_for(folder: Path) -> None:
    (folder / "last.mlir").write_text('t.final loc("in.mlir":4:8)\n')
    found = lineage("in.mlir", "low.mlir", "last.mlir")
    source, _, last = found.stages
    dead = source.with_result("%2")
    # The stage between has nothing of it.
    assert [operation.name for operation in found.track(dead, last).operations] == ["t.final"]
    assert found.track(last, source).operations == dead


def test_nodes_are_numbered_over_all_stages(folder: Path) -> None:
    found = lineage("in.mlir", "low.mlir")
    loop = found.stages[1].named("l.loop")[0]
    assert found.node(loop.node).name == "l.loop"
    assert found.node(loop.node).function == "f"
    assert found.node(0).location == '"in.mlir":1:1'
    for number in (-1, 1000):
        with pytest.raises(KeyError):
            found.node(number)


def test_remap_and_its_placeholders(folder: Path) -> None:
    (folder / "low.mlir").write_text('l.op loc("<stdin>":2:8)\n')
    found = lineage("in.mlir", "low.mlir")
    with pytest.raises(UsageError, match=r"'<stdin>', those of in.mlir in 'in.mlir'"):
        found.check_order()
    found = read_dumps(["in.mlir", "low.mlir"], remap=["<stdin>=%i"]).lineage
    found.check_order()
    source, target = found.stages
    assert found.track(source.with_result("%0"), target).operations == [target[0]]


@pytest.mark.parametrize(
    ("files", "remap", "message"),
    [
        (["none.mlir"], (), "'none.mlir' cannot be read: No such file or directory."),
        (["."], (), "'.' cannot be read: Is a directory."),
        (["empty"], (), "empty has no operations: is it the text of an IR?"),
        (["code"], (), "'code' is bytecode: print it as text with mlir-opt."),
        (
            ["in.mlir", "low.mlir"],
            ("x.mlir=y.mlir",),
            "The remap of 'x.mlir' matches no location: the locations are in 'in.mlir', ",
        ),
        (["in.mlir"], ("x.mlir",), "Invalid remap 'x.mlir': write OLD=NEW, two names of files."),
        (["in.mlir"], ("%t=x.mlir",), "Invalid remap '=x.mlir': write OLD=NEW"),
    ],
)
def test_unusable_dumps(
    folder: Path, files: list[str], remap: tuple[str, ...], message: str
) -> None:
    (folder / "empty").write_text("// nothing\n")
    (folder / "code").write_bytes(b"ML\xefR\x06")
    with pytest.raises(UsageError) as raised:
        read_dumps(files, remap=remap)
    assert str(raised.value).startswith(message)


def test_dumps_without_locations(folder: Path) -> None:
    (folder / "low.mlir").write_text("t.op loc(unknown)\n")
    with pytest.raises(UsageError, match=r"low.mlir has no source locations: print it with"):
        lineage("in.mlir", "low.mlir").check_order()
    # A dump without any location has its own lines, which are none of the input.
    (folder / "low.mlir").write_text("t.op\n")
    with pytest.raises(UsageError, match=r"low.mlir has no source locations: print it with"):
        lineage("in.mlir", "low.mlir").check_order()
    (folder / "low.mlir").write_text('t.op loc("in.mlir":40:1)\n')
    with pytest.raises(UsageError, match=r"No location of low.mlir overlaps one of in.mlir"):
        lineage("in.mlir", "low.mlir").check_order()


def test_stages_in_the_wrong_order(folder: Path) -> None:
    lineage("in.mlir", "low.mlir").check_order()
    with pytest.raises(UsageError) as raised:
        lineage("low.mlir", "in.mlir").check_order()
    assert str(raised.value) == (
        "The stages are in the wrong order: the locations of low.mlir are in in.mlir, from which "
        "it was made. Give in.mlir first."
    )


def test_files_of_one_name_in_two_folders_are_distinct(folder: Path) -> None:
    (folder / "made").mkdir()
    (folder / "made" / "in.mlir").write_text(INPUT)
    with pytest.raises(UsageError, match=r"made/in.mlir has no source locations"):
        lineage("in.mlir", "made/in.mlir").check_order()
    (folder / "made" / "in.mlir").write_text(LOWERED)
    lineage("in.mlir", "made/in.mlir").check_order()


def test_dumps_are_a_source_of_lineages(folder: Path) -> None:
    (folder / "cut.mlir").write_text(INPUT[:-2])
    opened = open_lineage(dumps=["cut.mlir", "low.mlir"], remap=["in.mlir=cut.mlir"], partial=True)
    assert [stage.name for stage in opened.lineage.stages] == ["cut.mlir", "low.mlir"]
    assert opened.notes == (
        "1 place of cut.mlir could not be read, on line 1: the '{' is not closed.",
    )
    with pytest.raises(UsageError, match=r"No location of low.mlir overlaps one of cut.mlir"):
        open_lineage(dumps=["cut.mlir", "low.mlir"], partial=True)
    with pytest.raises(UsageError, match=r"The source of the lineage is missing"):
        open_lineage()


# --- locations that many operations share ---------------------------------------------------------


def _on_one_line(names: list[str], inner: int = 0) -> str:
    """Return a function whose operations, and some in a region of the first, are on one line."""
    place = 'loc("model.py":7:0)'
    body = "".join(f"    t.inner{at} %a : i32 {place}\n" for at in range(inner))
    first, *others = names
    lines = [f"  {first} %a : i32 {{\n{body}  }} {place}\n" if inner else f"  {first} %a {place}\n"]
    lines += [f"  {name} %a : i32 {place}\n" for name in others]
    return f"func.func @f(%a: i32) {{\n{''.join(lines)}  return {place}\n}} {place}\n"


def _tracked(source: str, target: str, name: str) -> tuple[list[str], list[str]]:
    """Return what an operation became, and why it became nothing."""
    Path("a.mlir").write_text(source)
    Path("b.mlir").write_text(target)
    found = DumpLineage(lineage("a.mlir", "b.mlir").stages, by_text=False)
    first, last = found.stages
    there = found.track(first.named(name), last)
    pairs = found.relate(first, last)
    back = found.track(there.operations, first)
    asked = first.named(name)[0].index
    related = [at for one, at in zip(pairs.sources, pairs.targets, strict=True) if one == asked]
    assert sorted(one.index for one in there.operations) == sorted(related)
    assert not related or asked in {one.index for one in back.operations}
    return [one.name for one in there.operations], [loss.why for loss in there.losses]


def test_a_location_that_many_share_shows_nothing(folder: Path) -> None:
    late = _on_one_line(["u.x", "u.y"])
    # The function and what returns from it count, too.
    few = _on_one_line(["t.a", "t.b"])
    assert _tracked(few, late, "t.a")[0] == ["func.func", "u.x", "u.y", "func.return"]
    many = _on_one_line(["t.a", "t.b", "t.c", "t.d"])
    assert _tracked(many, late, "t.a") == ([], ["shared"])


def test_a_name_tells_an_operation_of_many(folder: Path) -> None:
    many = _on_one_line(["t.a", "t.b", "t.b", "t.c", "t.d"])
    late = _on_one_line(["t.a", "t.b"])
    assert _tracked(many, late, "t.a")[0] == ["t.a"]
    assert _tracked(many, late, "t.b") == ([], ["shared", "shared"])


def test_operations_in_the_region_of_one_are_not_others(folder: Path) -> None:
    late = _on_one_line(["u.x"])
    assert "u.x" in _tracked(_on_one_line(["t.a"], inner=9), late, "t.a")[0]
