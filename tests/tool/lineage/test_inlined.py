"""Calls that are inlined, compared with the call sites in the locations that the inliner writes."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import symbol_around
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.conftest import LIBRARY
from tests.elements import some

BUILDS = LIBRARY

PIPELINE = "--pass-pipeline=builtin.module(inline{default-pipeline=})"
_PLACE = re.compile(r'"in\.mlir":(\d+):\d+')


def _program(chosen: random.Random) -> str:
    """Return functions that call earlier ones: some never, some once, some often, in blocks."""
    lines: list[str] = []
    count = chosen.randint(2, 6)
    for number in range(count):
        access = "" if number > 1 and chosen.random() < 0.3 else "private "
        lines.append(f"func.func {access}@f{number}(%v0: i32, %c: i1) -> i32 {{")
        values = 1
        for _ in range(chosen.randint(0, 4)):
            one, other = (f"%v{chosen.randrange(values)}" for _ in range(2))
            if number and chosen.random() < 0.5:
                callee = chosen.randrange(number)
                lines.append(f"  %v{values} = call @f{callee}({one}, %c) : (i32, i1) -> i32")
            else:
                lines.append(f"  %v{values} = arith.addi {one}, {other} : i32")
            values += 1
            if chosen.random() < 0.2:
                lines += [f"  cf.cond_br %c, ^b{values}, ^b{values}", f"^b{values}:"]
        lines += [f"  return %v{values - 1} : i32", "}"]
    lines.append("func.func @main(%v0: i32, %c: i1) -> i32 {")
    lines += [
        f"  %r{index} = call @f{chosen.randrange(count)}(%v0, %c) : (i32, i1) -> i32"
        for index in range(chosen.randint(1, 3))
    ]
    return "\n".join([*lines, "  return %r0 : i32", "}", ""])


EXPRESSIONS = """\
emitc.func @sum(%a: i32) -> i32 {
  %0 = emitc.add %a, %a : (i32, i32) -> i32
  emitc.return %0 : i32
}
emitc.func @twice(%a: i32) -> i32 {
  %0 = emitc.call @sum(%a) : (i32) -> i32
  %1 = emitc.call @sum(%0) : (i32) -> i32
  emitc.return %1 : i32
}
"""

NESTED = """\
func.func @f(%a: i32) {
  %t = async.execute {
    "t.first"(%a) : (i32) -> ()
    async.yield
  }
  async.await %t : !async.token
  return
}
func.func @main(%a: i32) {
  %t = async.execute {
    %u = async.execute {
      "t.second"(%a) : (i32) -> ()
      async.yield
    }
    async.yield
  }
  async.await %t : !async.token
  return
}
"""


@pytest.mark.parametrize("seed", range(6))
def test_what_is_inlined_comes_from_its_calls(seed: int, mlir_opt: str, tmp_path: Path) -> None:
    source, run = tmp_path / "in.mlir", tmp_path / "run.adbrec"
    source.write_text(_program(random.Random(seed)))
    argv = [mlir_opt, "in.mlir", PIPELINE]
    with_locations = [*argv, "--mlir-print-debuginfo", "--mlir-print-local-scope"]
    printed = subprocess.run(
        with_locations, capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout
    expected = [
        {int(place) for place in _PLACE.findall(line)}
        for line in printed.splitlines()
        if " loc(" in line and not line.strip().startswith(("}", "^", "func.func"))
    ]
    argv += ["-o", "out.mlir"]
    assert record(argv, run, cwd=tmp_path, lineage=True).status == 0
    lineage = RecordedLineage(open_recording(run))
    first, last = lineage.stages
    inside = [one for one in last if one.name not in ("builtin.module", "func.func")]
    assert len(inside) == len(expected)
    for operation, places in some(zip(inside, expected, strict=True)):
        origins = lineage.track([operation], first, exact=True).operations
        found = {int(line) for one in origins for line in _PLACE.findall(one.location.text)}
        # A branch in the place of a return of a copy may have lost its origin.
        missing = places - found if operation.name == "cf.br" else set[int]()
        assert found | missing == places, (operation, printed)


def _recorded(source: str, folder: Path, *argv: str) -> RecordedLineage:
    (folder / "in.mlir").write_text(source)
    run = folder / "run.adbrec"
    argv = (*argv, "in.mlir", "-o", "out.mlir")
    assert record(argv, run, cwd=folder, lineage=True).status == 0
    return RecordedLineage(open_recording(run))


def test_a_call_that_a_pass_copies_is_not_inlined(mlir_opt: str, tmp_path: Path) -> None:
    lineage = _recorded(EXPRESSIONS, tmp_path, mlir_opt, "--form-expressions")
    first, last = lineage.stages
    found = lineage.track(first.named("emitc.call"), last, exact=True).operations
    assert [one.name for one in found] == ["emitc.call", "emitc.call"]
    assert {symbol_around(one) for one in found} == {"twice"}


def test_an_outlined_body_is_not_inlined_elsewhere(mlir_opt: str, tmp_path: Path) -> None:
    flags = ("--allow-unregistered-dialect", "--async-to-async-runtime")
    lineage = _recorded(NESTED, tmp_path, mlir_opt, *flags)
    first, last = lineage.stages
    outer, inner = first.named("async.execute")[1:]
    for one in (outer, inner):
        found = {each.name for each in lineage.track([one], last, exact=True).operations}
        assert "t.second" in found
        assert "t.first" not in found


NAMESAKES = """\
module {{
  func.func {0}@callee(%a: i32) -> i32 {{
    %c = arith.constant {1} : i32
    %0 = arith.muli %a, %c : i32
    return %0 : i32
  }}
  func.func @main(%x: i32) -> i32 {{
    %0 = call @callee(%x) : (i32) -> i32
    return %0 : i32
  }}
}}
"""
KERNEL = """\
func.func @main(%m: memref<8xf32>, %n: index) {{
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {{
    %c = arith.constant {}.0 : f32
    memref.store %c, %m[%tx] : memref<8xf32>
    gpu.terminator
  }}
  return
}}
"""


@pytest.mark.parametrize(
    "flags",
    [
        ["--split-input-file", "--inline"],
        ["--pass-pipeline=builtin.module(builtin.module(inline))"],
        ["--inline"],
    ],
    ids=["split", "nested", "outer"],
)
def test_functions_of_one_name_in_several_modules_are_told_apart(
    mlir_opt: str, tmp_path: Path, flags: list[str]
) -> None:
    parts = [NAMESAKES.format("private ", 41), NAMESAKES.format("", 42)]
    is_split = len(flags) > 1
    source = "// -----\n".join(parts) if is_split else f"module {{\n{''.join(parts)}}}\n"
    lineage = _recorded(source, tmp_path, mlir_opt, *flags)
    first, last = lineage.stages
    for call, value in some(zip(first.named("func.call"), (41, 42), strict=True)):
        found = lineage.track([call], last, exact=True).operations
        assert [one.name for one in found] == ["arith.constant", "arith.muli"]
        assert f" {value} : i32" in found[0].text
        assert {symbol_around(one) for one in found} == {"main"}


@pytest.mark.parametrize("is_split", [True, False])
def test_kernels_of_one_name_in_several_modules_are_told_apart(
    mlir_opt: str, tmp_path: Path, is_split: bool
) -> None:
    source = "// -----\n".join(KERNEL.format(number) for number in (41, 42))
    flags = ["--split-input-file", "--gpu-kernel-outlining"]
    if not is_split:  # two kernels of one function: @main_kernel_0::@main_kernel is the other
        flags, source = flags[1:], re.sub(r"  return\n\}\n// -+\n.*\n", "", source)
    lineage = _recorded(source, tmp_path, mlir_opt, *flags)
    first, last = lineage.stages
    for at, launch in some(enumerate(first.named("gpu.launch"))):
        found = lineage.track([launch], last, exact=True).operations
        kernels = [one.node for one in found if one.name == "gpu.func"]
        assert kernels == [last.named("gpu.func")[at].node]
