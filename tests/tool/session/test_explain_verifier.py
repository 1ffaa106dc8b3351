"""Why the verifier refuses IR, in real tools."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import actiondbg
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.paths import COMMAND

Launch = Callable[..., actiondbg.Session]


def test_a_verifier_failure_is_explained(debian: Callable[[str], str], folds: str) -> None:
    passes = "cse,test-pass-create-invalid-ir,canonicalize"
    tool = [debian("mlir-opt"), folds, f"--pass-pipeline=builtin.module(func.func({passes}))"]
    done = command_line.run("explain", "--", *tool)
    assert done.returncode == 0, done.stderr
    first, hint = done.stdout.splitlines()
    assert first.startswith("No dialect conversion failed. The verifier failed after #")
    assert "pass-execution (test-pass-create-invalid-ir), on func.func: " in first
    assert "'bisect --verify' finds the action" in hint and "'catch verify' stops at" in hint
    with actiondbg.launch(tool) as session:
        session.breakpoints.catch("verify")
        caught = session.run()
        while session.state == "stopped":
            session.continue_()
        failure = session.past.explain().other
        assert failure is not None and failure.kind == "verifier"
        assert failure.message == caught.message
        assert caught.culprit is not None and failure.culprit == caught.culprit


def test_an_input_that_the_verifier_refuses_is_explained(launch: Launch, mlir_opt: str) -> None:
    source = "func.func @f() -> i32 {\n  return\n}\n"
    session = launch("--canonicalize", source=stock.write("bad.mlir", source))
    assert session.run().status == 1
    failure = session.past.explain().other
    assert failure is not None and failure.culprit is None and failure.kind == "verifier"
    assert "'func.return' op has 0 operands" in failure.message
    done = command_line.run("explain", "--", mlir_opt, "bad.mlir", "--canonicalize")
    hint = done.stdout.splitlines()[-1]
    assert "bisect" not in hint and "'catch verify' stops there" in hint


def test_a_tool_that_fails_before_its_first_pass_is_said_to_have_failed(
    debian: Callable[[str], str], tmp_path: Path
) -> None:
    source = stock.write(str(tmp_path / "bad.mlir"), "func.func @f() {\n  return %0\n}\n")
    tool = [debian("mlir-opt"), source, "--canonicalize"]
    done = command_line.run("explain", "--", *tool)
    assert done.returncode == 1 and "expected ':'" in done.stderr
    first, hint = done.stdout.splitlines()
    assert first == "No dialect conversion failed. The tool ended with status 1."
    assert "the tool's own errors say why" in hint


def test_the_first_of_several_parts(debian: Callable[[str], str], tmp_path: Path) -> None:
    head, body = "func.func @f{0}(%a: {1}) -> {1} {{\n", "  %0 = arith.addf %a, %a : {1}\n"
    add = f"{head}{body}  return %0 : {{1}}\n}}}}\n"
    parts = [add.format(size, f"vector<{size}xf32>") for size in (4, 5, 6)]
    source = stock.write(str(tmp_path / "parts.mlir"), "// -----\n".join(parts))
    tool = [debian("mlir-opt"), source, "--convert-arith-to-spirv"]
    for words, is_told in ((["--split-input-file"], True), ([], False)):
        done = command_line.run("explain", "--", *tool, *words)
        assert done.returncode == 0, done.stderr
        assert "vector<5xf32>" in done.stdout and "vector<6xf32>" not in done.stdout
        assert ("--split-input-file" in done.stdout) == is_told


def test_a_recording_does_not_hold_a_failure(debian: Callable[[str], str], tmp_path: Path) -> None:
    add = "func.func @f(%a: {0}) -> {0} {{\n  %0 = arith.addi %a, %a : {0}\n  return %0 : {0}\n}}\n"
    recording = str(tmp_path / "run.adbrec")
    # The conversion makes an array, on which spirv.IAdd is no operation.
    for kind, is_told in (("tensor<2xi32>", True), ("i32", False)):
        source = stock.write(str(tmp_path / "in.mlir"), add.format(kind))
        tool = [debian("mlir-opt"), source, "--convert-arith-to-spirv"]
        run = [COMMAND, "record", "-o", recording, "--", *tool]
        assert subprocess.run(run, capture_output=True).returncode == is_told
        done = command_line.run("explain", recording)
        assert done.returncode == 1 and done.stderr == ""
        said = "The tool ended with status 1.\nA recording does not hold failures" in done.stdout
        assert done.stdout.startswith("No dialect conversion failed") and said == is_told


def test_a_stop_at_an_error_has_what_was_tried_before_it(mlir_opt: str, tmp_path: Path) -> None:
    """The stop is inside the conversion, behind the actions nested in it."""
    source = tmp_path / "vector.mlir"
    source.write_text(
        "func.func @f(%a: i32, %b: vector<7xf32>) -> (i32, vector<7xf32>) {\n"
        "  %0 = arith.addi %a, %a : i32\n"
        "  %1 = arith.addf %b, %b : vector<7xf32>\n"
        "  return %0, %1 : i32, vector<7xf32>\n"
        "}\n"
    )
    with actiondbg.launch([mlir_opt, str(source), "--convert-arith-to-spirv"]) as session:
        session.breakpoints.catch("diagnostic")
        stop = session.run()
        assert (stop.when, stop.tag) == ("during", "apply-conversion")
        found = session.past.explain()
        assert found.failed is not None and found.failed.failed is None
        assert [one.op for one in found.failed.legalizations] == ["arith.addf"]
        tried = [one.outcome.result for one in session.past.why_not("*Add*").attempts]
        assert tried == ["succeeded", "failed"]
        assert [row.succeeded for row in session.past.statistics("pattern")] == [1, 0]


HALF_CONVERTED = """\
func.func @f(%a: f32, %b: vector<4xf32>) -> f32 {
  return %a : f32
}
"""


def test_what_the_pass_before_left(mlir_opt: str, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / "half.mlir"), HALF_CONVERTED)
    tool = [mlir_opt, source, "--convert-to-emitc"]
    done = command_line.run("explain", "--", *tool)
    assert done.returncode == 0, done.stderr
    failed, left, cause, *_ = done.stdout.splitlines()
    assert "'emitc.return' op expects parent op 'emitc.func'" in failed
    assert "func.func at " in left and left.endswith(" of convert-to-emitc")
    assert cause == (
        "  pattern FuncOpConversion needs type vector<4xf32>, which its type converter does not "
        "convert"
    )
    Path(source).write_text(HALF_CONVERTED.replace("vector<4xf32>", "f32"))
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, "the type is not the reason"
