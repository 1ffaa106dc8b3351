"""Bisections of the real tool: what it reads and writes, each oracle, the folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Crash, Diagnostic, Execute, FileCheck, Progress, Verify
from actiondbg.commands.render.bisection import bisection_text
from actiondbg.errors import OracleError
from actiondbg.tool.discovery import find_tool
from tests.conftest import LIBRARY
from tests.fakes.folds import folded, write_folds

BUILDS = LIBRARY

COUNT = 50


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), COUNT)


# --- what the tool writes -----------------------------------------------------------------


def test_the_output_file_of_the_user_is_not_touched(mlir_opt: str, source: str) -> None:
    Path("out.mlir").write_text("mine")
    argv = [mlir_opt, source, "--canonicalize", "-o", "out.mlir"]
    result = actiondbg.bisect(argv, lambda output: 24 not in folded(output), jobs=2)
    assert result.culprit is not None and result.culprit.function == "f24"
    assert Path("out.mlir").read_text() == "mine"
    assert sorted(os.listdir()) == ["folds.mlir", "out.mlir"]


def test_output_equals_that_of_the_stock_tool(mlir_opt: str, source: str) -> None:
    seen: list[bytes] = []

    def judge(output: Path) -> bool:
        seen.append(output.read_bytes())
        return 24 not in folded(output)

    assert actiondbg.bisect([mlir_opt, source, "--canonicalize"], judge).found
    alone = subprocess.run([mlir_opt, source, "--canonicalize"], capture_output=True, check=True)
    assert seen[0] == alone.stdout
    start = subprocess.run([mlir_opt, source], capture_output=True, check=True)
    assert start.stdout.split(b"func.func")[1:] == seen[1].split(b"func.func")[1:]


def test_standard_input_is_read_again(mlir_opt: str, source: str) -> None:
    result = actiondbg.bisect(
        [mlir_opt, "--canonicalize"], lambda output: 24 not in folded(output), stdin=source
    )
    assert result.culprit is not None and result.culprit.function == "f24"


# --- the other oracles --------------------------------------------------------------------


def test_filecheck(mlir_opt: str, source: str) -> None:
    Path("in.check").write_text("CHECK-LABEL: @f24(\nCHECK: arith.addi\nCHECK-LABEL: @f25(\n")
    result = actiondbg.bisect([mlir_opt, source, "--canonicalize"], FileCheck(Path("in.check")))
    assert result.culprit is not None and result.culprit.function == "f24"


CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
"""


def test_a_crash(debian: Callable[[str], str], source: str) -> None:
    argv = [debian("mlir-opt"), source, "--canonicalize", "--test-pass-crash", "--cse"]
    result = actiondbg.bisect(argv, Crash())
    assert result.culprit is not None and result.confirmed == "good"
    assert (result.culprit.tag, result.culprit.name) == ("pass-execution", "test-pass-crash")
    assert result.culprit.outcome is None


def test_a_crash_in_a_pattern_of_a_conversion(source: str) -> None:
    Path("crash.mlir").write_text(CRASHING)
    argv = ["mlir-opt", "crash.mlir", "--canonicalize", "--finalize-memref-to-llvm"]
    result = actiondbg.bisect(argv, Crash())
    assert result.culprit is not None
    assert (result.culprit.name, result.culprit.location) == ("StoreOpLowering", "crash.mlir:4:3")
    assert result.culprit.pass_name == "finalize-memref-to-llvm"


# A constant stride that is the sentinel of a dynamic one: the folder drops the operand.
BROKEN = """\
func.func @sum(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %y = arith.addi %x, %c0 : i32
  return %y : i32
}
func.func @slice(%t: tensor<8xi32>) -> tensor<?xi32> {
  %n = arith.constant -9223372036854775808 : index
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %t[0] [%c2] [%n] : tensor<8xi32> to tensor<?xi32>
  return %s : tensor<?xi32>
}
"""


def test_a_crash_in_ir_that_an_earlier_action_broke(source: str) -> None:
    Path("broken.mlir").write_text(BROKEN)
    result = actiondbg.bisect(["mlir-opt", "broken.mlir", "--canonicalize"], Crash())
    culprit, why = result.culprit, "'strides' to match the number of dynamic entries"
    assert culprit is not None and result.crash is not None and result.broken is not None
    assert why in result.broken and "leaves IR that is not valid" in result.message
    assert result.confirmed == "good"
    assert "in mlir::getMixedValues at " in result.crash
    assert f"#{culprit.ordinal} " not in result.crash  # it crashes in a later one
    assert bisection_text(result).splitlines()[1] == f"Crash: {result.crash}"
    # The tool's own verifier says the same.
    for count, is_valid in ((culprit.nth, False), (culprit.nth - 1, True)):
        counter = f"--mlir-debug-counter=apply-pattern-skip=0,apply-pattern-count={count}"
        words = [find_tool("mlir-opt").path, "broken.mlir", "--canonicalize", counter]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode == 0, why in done.stderr) == (is_valid, not is_valid)


def test_a_crash_in_broken_ir_that_happens_elsewhere_too(source: str) -> None:
    slices = BROKEN[BROKEN.index("func.func @slice") :]
    Path("broken.mlir").write_text(slices + slices.replace("@slice", "@other"))
    result = actiondbg.bisect(["mlir-opt", "broken.mlir", "--canonicalize"], Crash())
    assert result.culprit is not None and result.culprit.function == "slice"
    assert result.broken is not None and result.confirmed == "bad"


def test_an_event_that_a_crash_prevents(source: str) -> None:
    Path("broken.mlir").write_text(BROKEN)
    result = actiondbg.bisect(["mlir-opt", "broken.mlir", "--canonicalize"], Verify())
    assert result.verdict == "not-bad" and "use --crash, which also names" in result.message


def test_a_crash_in_a_conversion_that_is_the_culprit_as_a_whole(source: str) -> None:
    Path("narrow.mlir").write_text(
        "func.func @narrow(%x: tensor<4xi32>) -> tensor<4xi8> {\n"
        "  %y = arith.trunci %x : tensor<4xi32> to tensor<4xi8>\n"
        "  return %y : tensor<4xi8>\n"
        "}\n"
    )
    result = actiondbg.bisect(["mlir-opt", "narrow.mlir", "--convert-arith-to-spirv"], Crash())
    assert result.culprit is not None and result.culprit.name == "convert-arith-to-spirv"
    assert "The tool crashes in its #7 apply-pattern (TruncIPattern) on arith.trunci." in (
        result.message
    )
    assert result.crash is not None and "SIGSEGV in #7 apply-pattern TruncIPattern" in result.crash
    assert ", in mlir::" in result.crash
    assert "changed the IR" not in " ".join(result.notes)


def test_verifier_errors(debian: Callable[[str], str], source: str) -> None:
    flags = "builtin.module(func.func(cse,test-pass-create-invalid-ir,canonicalize))"
    argv = [debian("mlir-opt"), source, f"--pass-pipeline={flags}"]
    result = actiondbg.bisect(argv, Verify())
    assert result.culprit is not None
    assert (result.culprit.name, result.culprit.function) == ("test-pass-create-invalid-ir", "f0")
    assert result.confirmed == "bad"  # it does so in every function


def test_a_diagnostic(mlir_opt: str, source: str) -> None:
    Path("t.mlir").write_text(
        "func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %0 = "test.foo"(%t) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>\n}\n"
    )
    flags = ("--cse", "--allow-unregistered-dialect", "--one-shot-bufferize", "--canonicalize")
    result = actiondbg.bisect([mlir_opt, "t.mlir", *flags], Diagnostic("*not bufferized*"))
    assert result.culprit is not None and result.culprit.name == "one-shot-bufferize"
    result = actiondbg.bisect([mlir_opt, "t.mlir", *flags], Diagnostic("no such text"))
    assert (result.verdict, result.trials) == ("not-bad", 1 + 8)


RUN = """\
func.func private @low(%x: index) -> index {
  %a = arith.index_cast %x : index to i8
  %b = arith.index_cast %a : i8 to index
  return %b : index
}
func.func @main() {
  %c = arith.constant 300 : index
  %z = arith.constant 0 : index
  %y = func.call @low(%c) : (index) -> index
  %s = arith.addi %y, %z : index
  vector.print %s : index
  return
}
"""


def test_programs_are_compared(source: str) -> None:
    """Casting to i8 and back is no identity (llvm-project issue 90238 was of this kind)."""
    Path("run.mlir").write_text(RUN)
    argv = ["mlir-opt", "run.mlir", "--cse", "--canonicalize"]
    why = "The whole run is bad: line 1: expected '44', printed '300'."
    result = actiondbg.bisect(argv, Execute())
    assert result.culprit is not None and result.culprit.name == "IndexCastOfIndexCast"
    assert result.message.endswith(f"The whole run without it is good. {why}")
    result = actiondbg.bisect([*argv, "-o", "x"], Execute(), mode="skip")
    assert result.culprit is not None and result.culprit.name == "IndexCastOfIndexCast"
    assert result.message.endswith(why)


def test_a_program_that_cannot_be_compared(source: str) -> None:
    argv = ["mlir-opt", source, "--canonicalize"]
    with pytest.raises(OracleError, match=r"cannot be executed.*--entry"):
        actiondbg.bisect(argv, Execute())
    with pytest.raises(OracleError, match=r"cannot be lowered.*--lower"):
        actiondbg.bisect(argv, Execute(lower="builtin.module(no-such-pass)"))
    with pytest.raises(OracleError, match="returns 'f64'"):
        Execute(entry_result="f64")  # pyright: ignore[reportArgumentType]


# --- limits and progress ------------------------------------------------------------------


def test_a_trial_that_takes_too_long_is_untestable(mlir_opt: str, source: str) -> None:
    result = actiondbg.bisect([mlir_opt, source, "--canonicalize"], "sleep 600", timeout=0.5)
    assert result.verdict == "untestable" and "did not end in 0.5 s" in result.message


def test_progress_is_reported(mlir_opt: str, source: str) -> None:
    seen: list[Progress] = []
    argv = [mlir_opt, source, "--canonicalize"]
    assert actiondbg.bisect(argv, lambda out: 24 not in folded(out), progress=seen.append).found
    assert [one.trials for one in seen] == sorted(one.trials for one in seen)
    searching = [one for one in seen if one.phase == "the search" and one.range is not None]
    widths = [one.range[1] - one.range[0] for one in searching if one.range]
    assert widths == sorted(widths, reverse=True) and len(widths) >= 5
    assert all(one.to_go is not None for one in searching)
    assert searching[-1].left is not None


# --- the folder ---------------------------------------------------------------------------


def test_the_folder_holds_a_report_and_a_reproducer(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    result = actiondbg.bisect(argv, "! grep -q c7_i32 {}", output="found")
    assert result.found and result.reproducer == str(Path("found").absolute())
    assert result.reproducer_verified
    names = set(os.listdir("found"))
    assert {"report.md", "report.html", "before.mlir", "after.mlir", "repro.sh", "session.adb"} <= (
        names
    )
    assert "state.json" not in names
    assert "AddIAddConstant" in Path("found/report.md").read_text()


def test_no_folder_is_left_where_nothing_was_found(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    assert not actiondbg.bisect(argv, "true", output="nothing").found
    with pytest.raises(OracleError):
        actiondbg.bisect(argv, "no-such-command", output="nothing")
    assert not Path("nothing").exists()


def test_the_input_is_made_small(mlir_opt: str, source: str) -> None:
    argv = [mlir_opt, source, "--canonicalize"]
    result = actiondbg.bisect(
        argv, "grep -A2 @f24 {} | grep -q addi || ! grep -q @f24 {}", output="small", reduce=True
    )
    assert result.culprit is not None and result.culprit.function == "f24"
    assert any("reduced from" in note for note in result.notes)
    text = (Path("small") / "input.mlir").read_text()
    assert text.count("func.func") == 1 and result.candidates == 1
