"""Modules with the origins of their operations, over dumps."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.commands.cli import annotate
from actiondbg.errors import UsageError
from actiondbg.ir.written_locations import split_location
from actiondbg.lineage.annotation import Annotation, resource_without_data
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.opened_lineage import open_lineage

INPUT = """\
func.func @main(%a: f32, %b: f32) -> f32 {
  %0 = arith.mulf %a, %b : f32
  %1 = arith.addf %0, %b : f32
  return %1 : f32
}
"""
MIDDLE = """\
module {
  func.func @main(%a: f32, %b: f32) -> f32 {
    %0 = math.fma %a, %b, %b : f32 loc(fused["in.mlir":2:8, "in.mlir":3:8])
    return %0 : f32 loc("in.mlir":4:3)
  } loc("in.mlir":1:1)
} loc("in.mlir":0:0)
"""
FINAL = """\
#loc2 = loc("in.mlir":1:17)
module {
  llvm.func @main(%a: f32 loc(#loc2), %b: f32 loc("x (y)":1:2)) -> f32 {
    %0 = llvm.mlir.constant(1.0 : f32) : f32 loc(unknown)
    %1 = llvm.intr.fma(%a, %b, %b) : (f32, f32, f32) -> f32 loc(#loc3)
    llvm.cond_br %c, ^bb1, ^bb1 loc("in.mlir":3:8)
  ^bb1:  // 2 preds: ^bb0, ^bb0
    llvm.return %1 : f32 loc("in.mlir":4:3)
  } loc("in.mlir":1:1)
} loc("in.mlir":0:0)
#loc3 = loc(fused["in.mlir":2:8, "in.mlir":3:8])
"""


@pytest.fixture
def lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lineage:
    monkeypatch.chdir(tmp_path)
    for name, text in (("in.mlir", INPUT), ("middle.mlir", MIDDLE), ("final.mlir", FINAL)):
        Path(name).write_text(text)
    return open_lineage(dumps=["in.mlir", "middle.mlir", "final.mlir"]).lineage


def test_operations_carry_their_origins_and_stay_on_their_lines(lineage: Lineage) -> None:
    text = Annotation(lineage, lineage.stages[-1], lineage.stages[0]).text()
    assert text == (
        """\
#loc2 = loc("in.mlir":1:17)
module {
  llvm.func @main(%a: f32 loc(#loc2), %b: f32 loc("x (y)":1:2)) -> f32 {
    %0 = llvm.mlir.constant(1.0 : f32) : f32 loc("in.mlir":0:0)  // no origin
    %1 = llvm.intr.fma(%a, %b, %b) : (f32, f32, f32) -> f32 \
loc(fused["in.mlir":2:8, "in.mlir":3:8])  \
// from arith.mulf %0 in.mlir:2:8 (by location or text), \
arith.addf %1 in.mlir:3:8 (by location or text)
    llvm.cond_br %c, ^bb1, ^bb1 loc("in.mlir":3:8)  \
// from arith.addf %1 in.mlir:3:8 (by location or text)
  ^bb1:  // 2 preds: ^bb0, ^bb0
    llvm.return %1 : f32 loc("in.mlir":4:3)  // from func.return in.mlir:4:3 (by location or text)
  } loc("in.mlir":1:1)  // from func.func @main in.mlir:1:1 (by location or text)
} loc("in.mlir":0:0)  // no origin
#loc3 = loc(fused["in.mlir":2:8, "in.mlir":3:8])
"""
    )


def test_locations_can_point_into_a_snapshot_of_any_stage(
    lineage: Lineage, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--input", "in.mlir", "--then", "middle.mlir", "--then", "final.mlir", "--loc-only"]
    assert annotate.run([*words, "--origin", "middle.mlir", "--snapshot", "shot.mlir"]) == 0
    text = capsys.readouterr().out
    assert '-> f32 loc("shot.mlir":3:10)\n' in text
    assert '    llvm.return %1 : f32 loc("shot.mlir":4:5)\n' in text
    assert Path("shot.mlir").read_text() == MIDDLE
    assert annotate.run([*words, "--origin", "final.mlir", "-o", "own.mlir"]) == 0
    lines = Path("own.mlir").read_text().splitlines()
    assert lines[4].endswith('-> f32 loc("own.mlir":5:10)')
    assert lines[7] == '    llvm.return %1 : f32 loc("own.mlir":8:5)'


def test_an_earlier_module_can_be_annotated_at_a_coarser_level(
    lineage: Lineage, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--input", "in.mlir", "--then", "middle.mlir", "--then", "final.mlir"]
    assert annotate.run([*words, "--at", "middle.mlir", "--level", "function"]) == 0
    line = '%0 = math.fma %a, %b, %b : f32 loc("in.mlir":1:1)  // from func.func @main in.mlir:1:1'
    assert f"    {line} (by location or text)\n" in capsys.readouterr().out
    assert annotate.run([*words, "--at", "middle.mlir", "--comments-only"]) == 0
    text = capsys.readouterr().out
    assert '%0 = math.fma %a, %b, %b : f32 loc(fused["in.mlir":2:8, "in.mlir":3:8])  //' in text


def test_exact_leaves_out_what_only_locations_show(
    lineage: Lineage, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--input", "in.mlir", "--then", "final.mlir", "--exact", "--comments-only"]
    assert annotate.run(words) == 0
    assert capsys.readouterr().out.count("// no origin") == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "cse"], "There is no stage 'cse' in this lineage: choose one of in.mlir, "),
        (["--at", "in.mlir", "--origin", "final.mlir"], "is later than 'in.mlir'"),
        (["--origin", "final.mlir"], "name a file with -o"),
    ],
)
def test_what_cannot_be_annotated_is_refused(
    lineage: Lineage, words: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        annotate.run(["--input", "in.mlir", "--then", "final.mlir", *words])


def test_options_that_exclude_each_other(
    lineage: Lineage, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        annotate.run(
            ["--input", "in.mlir", "--then", "final.mlir", "--loc-only", "--comments-only"]
        )
    assert caught.value.code == 2
    assert "exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "location"),
    [
        ("  llvm.return", ""),
        ("  llvm.return loc(#loc)", "#loc"),
        ('  f(%a: i32 loc("a b)"), %b: i32 loc(#l)) loc("c(":1:2)', '"c(":1:2'),
        ('  "a.b"() {x = loc("f":1:2)} : () -> ()', ""),
        (r'  a.b loc("a\"b)":1:2)', r'"a\"b)":1:2'),
    ],
)
def test_the_location_of_an_operation_is_the_last_one(line: str, location: str) -> None:
    rest, found = split_location(line)
    assert found == location
    assert rest + (f" loc({found})" if found else "") == line


RESOURCES = """\
func.func @weights() -> tensor<2xi32> {{
  %0 = arith.constant dense_resource<{0}> : tensor<2xi32>
  return %0 : tensor<2xi32>
}}
"""
SECTION = """\

{{-#
  dialect_resources: {{
    builtin: {{
      {0}: "0x04000000{1}",
      "a \\22#-}}: b": "0x04000000"
    }}
  }}
#-}}
"""


@pytest.mark.parametrize("between", ["", "// -----\n"])
def test_modules_with_the_data_of_their_resources_lack_none(between: str) -> None:
    text = "".join(
        f"{between}{RESOURCES.format(name)}{SECTION.format(name, '00')}" for name in ("one", "two")
    )
    assert resource_without_data(text) is None
    assert resource_without_data(RESOURCES.format("one")) == "one"
    assert resource_without_data(text + between + RESOURCES.format("three")) == "three"
    other = RESOURCES.format('"a \\22#-}: b"')
    assert resource_without_data(other + SECTION.format("one", "00")) is None


def test_a_module_lacks_data_that_another_module_has() -> None:
    text = f"{RESOURCES.format('one')}{SECTION.format('one', '00')}// -----\n"
    assert resource_without_data(text + RESOURCES.format("one")) == "one"


def test_data_of_megabytes_is_passed_over() -> None:
    digits = "0123456789ABCDEF" * (1 << 16)
    text = RESOURCES.format("two") + SECTION.format("one", digits)
    assert resource_without_data(text) == "two"
    assert resource_without_data(text + SECTION.format("two", digits)) is None
