"""The lineage between dumps where locations are lost: by the texts of operations."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.cli import main
from actiondbg.lineage.dumps.dump_lineage import DumpLineage
from actiondbg.lineage.lineage import Evidence, Loss
from actiondbg.lineage.stage import Stage, scanned_stage

INPUT = """func.func @f(%a: f32) -> f32 {
  %0 = arith.constant 2.5 : f32 loc("a.mlir":2:3)
  %1 = arith.constant 3.5 : f32 loc("a.mlir":3:3)
  %2 = arith.mulf %a, %0 : f32 loc("a.mlir":4:3)
  return %2 : f32 loc("a.mlir":6:3)
} loc("a.mlir":1:1)
"""
HOISTED = """func.func @f(%a: f32) -> f32 {
  %cst = arith.constant 3.5 : f32 loc(unknown)
  %cst_0 = arith.constant 2.5 : f32 loc(callsite(unknown at "a.mlir":9:9))
  %2 = arith.mulf %a, %cst_0 : f32 loc("a.mlir":4:3)
  return %2 : f32 loc("a.mlir":6:3)
} loc("a.mlir":1:1)
"""
LOWERED = """func.func @f(%a: f32) -> f32 {
  %2 = llvm.fmul %a, %0 : f32 loc("a.mlir":4:3)
  return %2 : f32 loc("a.mlir":6:3)
} loc("a.mlir":1:1)
func.func @outlined() -> f32 {
  %c = llvm.mlir.constant(4.5 : f32) : f32 loc(unknown)
  %0 = llvm.mlir.constant(2.5 : f32) : f32 loc(unknown)
  return %0 : f32 loc(unknown)
}
"""


def lineage(*texts: str, by_text: bool = True) -> DumpLineage:
    first = 0
    stages: list[Stage] = []
    for number, text in enumerate(texts):
        stages.append(scanned_stage(text, f"{number}.mlir", first_node=first).stage)
        first += len(stages[-1])
    return DumpLineage(stages, by_text=by_text)


def pairs(found: DumpLineage, name: str) -> list[tuple[str, str]]:
    """Return the lines of operations of a kind, and of what they became."""
    source, target = found.stages[0], found.stages[-1]
    relation = found.relate(source, target)
    return [
        (
            source.text_lines[source.lines[at] - 1].partition(" loc(")[0].strip(),
            target.text_lines[target.lines[to] - 1].partition(" loc(")[0].strip(),
        )
        for at, to in zip(relation.sources, relation.targets, strict=True)
        if source.names[at].endswith(name)
    ]


def body(*lines: str) -> str:
    """Return a function whose location is known, and of others unknown."""
    inside = "".join(f"  {line}\n" for line in lines)
    return f'func.func @f() {{\n{inside}  return loc("a.mlir":9:9)\n}} loc("a.mlir":1:1)\n'


def test_a_hoisted_constant_is_the_one_with_its_value() -> None:
    found = lineage(INPUT, HOISTED)
    assert pairs(found, "constant") == [
        ("%0 = arith.constant 2.5 : f32", "%cst_0 = arith.constant 2.5 : f32"),
        ("%1 = arith.constant 3.5 : f32", "%cst = arith.constant 3.5 : f32"),
    ]
    assert pairs(lineage(INPUT, HOISTED, by_text=False), "constant") == []
    source, target = found.stages
    [trace] = found.track(source.with_result("%1"), target).traces
    assert [step.evidence for step in trace.steps] == [Evidence.TEXT]
    assert not trace.is_exact
    [back] = found.track([trace.operation], source).traces
    assert (back.operation.result, back.steps) == ("%1", trace.steps)
    assert found.track(source.with_result("%1"), target, exact=True).traces == ()
    assert [step.evidence for step in found.steps()].count(Evidence.TEXT) == 2


def test_a_chain_leads_through_the_stages_between() -> None:
    found = lineage(INPUT, INPUT, HOISTED, LOWERED)
    source, target = found.stages[0], found.stages[-1]
    [trace] = found.track(source.with_result("%0"), target).traces
    assert trace.operation.result == "%0"
    assert [step.evidence for step in trace.steps] == [Evidence.LOCATION, Evidence.TEXT]
    assert trace.steps[0].source == source.with_result("%0")[0].node
    assert trace.steps[0].target == trace.steps[1].source == found.stages[1].nodes[1]
    assert trace.steps[1].target == trace.operation.node
    [back] = found.track([trace.operation], source).traces
    assert back.steps == trace.steps
    [gone] = source.with_result("%1")
    assert found.track([gone], target).losses == (Loss(gone.node, "unmatched"),)


def test_operations_with_the_same_text_are_paired_in_order() -> None:
    olds = (
        't.fence {a = 1} loc("a.mlir":2:1)',
        't.fence {a = 1} loc("a.mlir":3:1)',
        't.fence {a = 2} loc("a.mlir":4:1)',
    )
    news = (
        "t.fence {a = 2} loc(unknown)",
        't.fence {a = 1} loc("a.mlir":2:1)',
        "t.fence {a = 1} loc(unknown)",
    )
    found = lineage(body(*olds), body(*news))
    relation = found.relate(*found.stages)
    assert list(zip(relation.sources, relation.targets, strict=True)) == [
        (0, 0),
        (1, 2),
        (2, 3),
        (3, 1),
        (4, 4),
    ]
    # Which of the two it is cannot be known.
    assert pairs(lineage(body(*olds[:2]), body(news[2])), "fence") == []


def test_names_of_values_and_numbers_of_aliases_do_not_count() -> None:
    old = body('%0:2 = t.two %x#1, %y {m = #map3} : f32 loc("a.mlir":2:1)')
    new = body("%7, %8 = t.two %1, %2#0 {m = #map} : f32 loc(unknown)")
    assert len(pairs(lineage(old, new), "two")) == 1
    other = body("%7, %8 = t.two %1, %2 {m = #map} : f64 loc(unknown)")
    assert pairs(lineage(old, other), "two") == []


def test_numbers_are_compared_as_such() -> None:
    old = body('%0 = arith.constant dense<[2.5, 3.14159265]> : vector<2xf32> loc("a.mlir":2:1)')
    new = body("%0 = arith.constant dense<[2.500000e+00, 3.14159274]> : vector<2xf32> loc(unknown)")
    assert len(pairs(lineage(old, new), "constant")) == 1


def test_locations_that_are_known_and_differ_are_believed() -> None:
    old = body('%0 = arith.constant 2.5 : f32 loc("a.mlir":2:1)')
    new = body('%0 = arith.constant 2.5 : f32 loc("a.mlir":3:1)')
    assert pairs(lineage(old, new), "constant") == []


def test_a_constant_and_the_globals_that_have_its_value() -> None:
    old = body('%0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("a.mlir":2:1)')
    new = (
        "util.global private @w = dense<[1.0, 2.0]> : tensor<2xf32> loc(unknown)\n"
        "util.global private @other = dense<[1.0, 3.0]> : tensor<2xf32> loc(unknown)\n"
    )
    [(_, reached)] = pairs(lineage(old, new + body()), "constant")
    assert reached.startswith("util.global private @w")
    memref = "memref.global constant @w : memref<2xf32> = dense<[1.0, 2.0]> loc(unknown)\n"
    assert len(pairs(lineage(old, memref + body()), "constant")) == 1
    renamed = "llvm.mlir.global private @w() : f32 loc(unknown)\n"
    assert len(pairs(lineage(new + body(), renamed + body()), "global")) == 1


@pytest.mark.parametrize(
    ("value", "copies"),
    [
        ("2.5 : f32", 2),
        ("dense<2.5> : tensor<2xf32>", 2),
        ("5 : index", 0),
        ("true", 0),
        ("0.0 : f32", 0),
        ("dense<1.0> : tensor<2xf32>", 0),
    ],
)
def test_copies_of_constants_are_found_but_not_of_sizes_flags_and_neutral_elements(
    value: str, copies: int
) -> None:
    old = body(f'%0 = arith.constant {value} loc("a.mlir":2:1)')
    new = body(*[f"%{number} = arith.constant {value} loc(unknown)" for number in range(2)])
    assert len(pairs(lineage(old, new), "constant")) == copies
    assert len(pairs(lineage(new, old), "constant")) == copies  # merged


def test_an_operation_moves_only_with_the_one_around_it() -> None:
    old = body("t.loop {", 't.fence loc("a.mlir":3:1)', '} loc("a.mlir":2:1)')
    outlined = (
        "func.func @g() {\n  t.loop {\n    t.fence loc(unknown)\n"
        '  } loc("a.mlir":2:1)\n} loc("a.mlir":2:1)\n'
    )
    assert len(pairs(lineage(old, body() + outlined), "fence")) == 1
    elsewhere = outlined.replace("2:1", "7:1")
    assert pairs(lineage(old, body() + elsewhere), "fence") == []


def test_the_command_says_that_the_text_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mlir").write_text(INPUT)
    (tmp_path / "out.mlir").write_text(HOISTED)
    assert main(["track", "--input", "in.mlir", "--then", "out.mlir", "--from", "%1"]) == 0
    assert capsys.readouterr().out == (
        "in.mlir:3: %1 = arith.constant 3.5 : f32\n"
        "  became 1 operation of out.mlir, by text:\n"
        "  out.mlir:2: %cst = arith.constant 3.5 : f32\n"
    )
