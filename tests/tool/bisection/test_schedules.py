"""Programs in modules with a schedule of the transform dialect."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random
from typing import Literal

import pytest

import actiondbg
from actiondbg.bisection import Execute
from actiondbg.errors import OracleError
from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

LOOP = (ROOT / "examples" / "miscompiles" / "while-if.mlir").read_text()
# Schedules: another module, a declaration, a region, an attribute beside that of schedules.
MODULE = """\
module attributes {{test.kept, transform.with_named_sequence}} {{
{program}
  module @library attributes {{transform.with_named_sequence}} {{
    transform.named_sequence @declared(!transform.any_op {{transform.readonly}})
    transform.named_sequence @nothing(%each: !transform.any_op {{transform.readonly}}) {{
      transform.foreach %each : !transform.any_op {{
      ^bb0(%one: !transform.any_op):
        transform.yield
      }}
      transform.yield
    }}
  }}
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %f = transform.structured.match ops{{["func.func"]}} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.apply_cse to %f : !transform.any_op
    transform.apply_patterns to %f {{
      transform.apply_patterns.canonicalization
    }} : !transform.any_op
    transform.yield
  }}
}}
"""
SILENT = "func.func @main() {\n  return\n}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_program_with_a_schedule_is_compared(mlir_opt: str) -> None:
    Path("in.mlir").write_text(MODULE.format(program=LOOP))
    argv = [mlir_opt, "in.mlir", "--transform-interpreter"]
    result = actiondbg.bisect(argv, Execute(), output="out")
    assert (result.verdict, result.confirmed) == ("found", "good"), result.message
    assert result.culprit is not None
    assert (result.culprit.name, result.culprit.pass_name) == (
        "WhileMoveIfDown",
        "transform-interpreter",
    )
    assert result.reproducer_verified
    done = subprocess.run(
        ["out/repro.sh"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout
    assert "verdicts are as expected" in done.stdout


def test_a_program_that_prints_nothing_is_refused(mlir_opt: str) -> None:
    Path("in.mlir").write_text(SILENT)
    with pytest.raises(OracleError, match="prints nothing when 'main' is called, so no output can"):
        actiondbg.bisect([mlir_opt, "in.mlir", "--canonicalize"], Execute())


TILED = """\
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%b : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  transform.named_sequence @helper(%x: !transform.any_op {transform.readonly}) {
    transform.yield
  }
  transform.named_sequence @main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.foreach %0 : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.include @helper failures(propagate) (%x) : (!transform.any_op) -> ()
    }
    %1, %l:2 = transform.structured.tile_using_for %0 tile_sizes [4, 4, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.annotate %1 "tiled" : !transform.any_op
    %2 = transform.structured.generalize %1 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


@pytest.mark.parametrize(
    ("wrong", "number", "name"),
    [
        ("scf.for", 3, "structured.tile_using_for"),
        ("linalg.generic", 5, "structured.generalize"),
    ],
)
def test_the_operation_of_a_schedule_is_named(
    mlir_opt: str, wrong: str, number: int, name: str
) -> None:
    Path("in.mlir").write_text(TILED)
    passes = "transform-interpreter{entry-point=main},cse"
    result = actiondbg.bisect(
        [mlir_opt, "in.mlir", f"--pass-pipeline=builtin.module({passes})"],
        f"! sed -n '/@f(/,/named_sequence/p' {{}} | grep -q {wrong}",
        output="out",
    )
    assert result.culprit is not None
    assert (result.culprit.tag, result.culprit.name) == ("transform-op", f"transform.{name}")
    assert result.culprit.pass_name == "transform-interpreter"
    sentence = f"operation {number} of 5 turns good to bad: transform.{name}."
    assert any(note.endswith(sentence) for note in result.notes), result.notes
    assert sorted(file.name for file in Path("out").glob("schedule-*")) == [
        f"schedule-{number - 1}.mlir",
        f"schedule-{number}.mlir",
    ]
    done = subprocess.run(
        ["out/repro.sh"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout
    assert f"good, expected good: schedule-{number - 1}.mlir" in done.stdout
    assert f"bad, expected bad: schedule-{number}.mlir" in done.stdout


def test_a_library_with_the_name_of_a_beginning_is_kept(mlir_opt: str) -> None:
    start = "module attributes {transform.with_named_sequence} {\n"
    library = f"{start}  transform.named_sequence @__unused() {{\n    transform.yield\n  }}\n}}\n"
    Path("in.mlir").write_text(TILED)
    Path("schedule-1.mlir").write_text(library)
    result = actiondbg.bisect(
        [
            *(mlir_opt, "in.mlir"),
            "--transform-preload-library=transform-library-paths=schedule-1.mlir",
            "--transform-interpreter=entry-point=main",
        ],
        "! sed -n '/@f(/,/named_sequence/p' {} | grep -q linalg.generic",
        output="out",
    )
    assert result.culprit is not None and result.reproducer_verified, result.notes
    assert Path("out/schedule-1.mlir").read_text() == library
    assert sorted(file.name for file in Path("out").glob("*schedule-*")) == [
        *("cut-schedule-4.mlir", "cut-schedule-5.mlir", "schedule-1.mlir"),
    ]


HEAD = """\
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %f = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %1, %l:2 = transform.structured.tile_using_for %0 tile_sizes [4, 2, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %2 = transform.structured.generalize %1 : (!transform.any_op) -> !transform.any_op
"""
HARMLESS: tuple[str, ...] = (
    "transform.apply_cse to %f : !transform.any_op",
    "transform.apply_licm to %l#0 : !transform.any_op",
    'transform.annotate %2 "kept" : !transform.any_op',
    """transform.apply_patterns to %f {
      transform.apply_patterns.canonicalization
    } : !transform.any_op""",
    """transform.foreach %2 : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "each" : !transform.any_op
    }""",
)
WRONG = 'transform.annotate %2 "wrong" : !transform.any_op'


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", ["first", "minimize", "skip"])
def test_a_planted_operation_is_found(
    mlir_opt: str, seed: int, mode: Literal["first", "minimize", "skip"]
) -> None:
    random = Random(seed)
    operations = random.choices(HARMLESS, k=random.randint(3, 8))
    operations.insert(random.randint(0, len(operations)), WRONG)
    body = "".join(f"    {one}\n" for one in operations)
    # One half in a library: the schedule is in no input of the tool.
    schedule = f"{HEAD}{body}    transform.yield\n  }}\n}}\n"
    program, start = TILED[: TILED.index("  transform.")], "module"
    start += " attributes {transform.with_named_sequence} {\n"
    argv = [mlir_opt, "in.mlir"]
    if seed % 2:
        Path("in.mlir").write_text(f"{program}}}\n")
        Path("library.mlir").write_text(text := start + schedule)
        argv.append("--transform-preload-library=transform-library-paths=library.mlir")
    else:
        Path("in.mlir").write_text(text := program + schedule)
    argv.append("--transform-interpreter")
    result = actiondbg.bisect(argv, "! grep -q 'linalg.generic.*wrong' {}", mode=mode)
    place = (
        f"{'library' if seed % 2 else 'in'}.mlir:{text[: text.index(WRONG)].count(chr(10)) + 1}:5"
    )
    found = {"first": [result.culprit], "minimize": result.applied, "skip": result.skips}[mode]
    assert result.verdict == "found", result.message
    places = {(one.tag, one.name, one.location) for one in found if one is not None}
    planted = ("transform-op", "transform.annotate", place)
    if mode == "minimize":  # the operation that is annotated comes from another one
        assert planted in places and len(places) <= 4
    else:
        assert places == {planted}
