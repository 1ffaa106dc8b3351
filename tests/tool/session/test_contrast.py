"""Failures without a reason, compared with the successes of the pattern, in real tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import actiondbg
from actiondbg.errors import UsageError
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.fakes.near_misses import NEAR_MISSES
from tests.fakes.silent_patterns import CASES, Case
from tests.paths import COMMAND

BUILDS = LIBRARY

needs_gdb = pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
Launch = Callable[..., actiondbg.Session]

CONDITIONS = """\
func.func @f(%a: i1, %x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %true = arith.constant true
  %false = arith.constant false
  %0 = scf.if %true -> i32 {
    %k = arith.addi %x, %y : i32
    scf.yield %k : i32
  } else { scf.yield %y : i32 }
  %1 = scf.if %a -> i32 {
    %k = arith.muli %x, %y : i32
    scf.yield %k : i32
  } else { scf.yield %y : i32 }
  %2 = scf.if %false -> i32 {
    %k = arith.addi %x, %y : i32
    scf.yield %k : i32
  } else { scf.yield %x : i32 }
  %c = arith.cmpi slt, %x, %y : i32
  %3 = scf.if %c -> i32 {
    %k = arith.addi %x, %y : i32
    scf.yield %k : i32
  } else { scf.yield %x : i32 }
  return %0, %1, %2, %3 : i32, i32, i32, i32
}
"""
PATTERN = "RemoveStaticCondition"


@pytest.fixture
def over(launch: Launch) -> actiondbg.Session:
    """At the end of a canonicalization."""
    session = launch(source=stock.write("conditions.mlir", CONDITIONS))
    assert session.run().when == "exit"
    return session


def test_the_newest_failure_is_compared(over: actiondbg.Session) -> None:
    attempts = over.past.why_not(PATTERN)
    found = over.past.contrast(attempts)
    assert found is not None
    assert found.failure.location == "conditions.mlir:17:8"
    # The other failures are two: the same operation counts once, unless something changed.
    assert (found.successes, found.failures) == (2, 3)
    first = found.findings[0]
    assert (first.statement, first.successes, first.failures) == ("the operand is a constant", 2, 0)
    assert found.nearest is not None and found.nearest.location == "conditions.mlir:12:8"


def test_a_glob_of_several_patterns_compares_the_attempts_of_one(over: actiondbg.Session) -> None:
    """Several patterns find the same around an operation."""
    every = over.past.why_not("*", "conditions.mlir:17")
    assert len({one.name for one in every.attempts}) > 1
    found = over.past.contrast(every)
    assert found is not None and found.name == "RemoveDuplicateSuccessorInputUses"
    alone = over.past.contrast(over.past.why_not(found.name, "conditions.mlir:17"))
    assert alone is not None
    assert (found.successes, found.failures) == (alone.successes, alone.failures)


def test_a_failure_is_chosen_by_its_place_and_compared_with_all(over: actiondbg.Session) -> None:
    here = over.past.why_not(PATTERN, location="conditions.mlir:8")
    assert len(here.attempts) < len(over.past.why_not(PATTERN).attempts)
    found = over.past.contrast(here)
    assert found is not None
    assert found.failure.location == "conditions.mlir:8:8"
    assert (found.successes, found.failures) == (2, 3)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.pattern)
def test_the_precondition_is_among_the_first_three(case: Case, launch: Launch) -> None:
    session = launch(*case.passes, source=stock.write("case.mlir", case.source))
    assert session.run().status == 0
    found = session.past.contrast(session.past.why_not(case.pattern))
    assert found is not None and found.successes and found.failures > 1
    assert any(one.statement in case.statements for one in found.findings)


@pytest.mark.parametrize(
    "case", NEAR_MISSES, ids=lambda case: f"{case.pattern}: {case.precondition}"
)
def test_the_precondition_is_first_among_near_misses(case: Case, launch: Launch) -> None:
    session = launch(*case.passes, source=stock.write("case.mlir", case.source))
    assert session.run().status == 0
    [line] = (n for n, text in enumerate(case.source.splitlines(), 1) if text.endswith("// here"))
    found = session.past.contrast(session.past.why_not(case.pattern, f"case.mlir:{line}"))
    assert found is not None and found.failure.location is not None
    assert found.failure.location.startswith(f"case.mlir:{line}:")
    first = found.findings[0]
    assert first.statement in case.statements
    assert first.successes == found.successes


SIGNATURES = """\
func.func @two(%a: i32, %b: vector<4xi32>) -> (i32, i32) { // here
  return %a, %a : i32, i32
}
func.func @one(%a: i32, %b: vector<4xi32>) -> i32 {
  return %a : i32
}
func.func @none(%a: i32) {
  return
}
"""


def test_a_signature_with_too_many_results(launch: Launch) -> None:
    session = launch("--convert-func-to-spirv", source=stock.write("case.mlir", SIGNATURES))
    assert session.run().status == 0
    found = session.past.contrast(session.past.why_not("FuncOpConversion", "case.mlir:1"))
    assert found is not None
    statement = "the number of results in function_type of the operation is 1 or less"
    assert found.findings[0].statement == statement


def test_a_folder_of_recordings_shows_the_precondition_first(folds: str) -> None:
    waw = next(case for case in NEAR_MISSES if case.pattern == "FoldWaw")
    lines = waw.source.splitlines()
    [here] = (n for n, text in enumerate(lines, 1) if text.endswith("// here"))
    record("near.mlir", waw.source, "near.adbrec")
    tool = ["mlir-opt", "near.mlir", "--canonicalize", "-o", "mine"]
    words = ["-ex", "run", "-ex", f"why-not FoldWaw near.mlir:{here} --against near.adbrec"]
    done = command_line.run("--batch", "-nx", *words, "--", *tool)
    compared = done.stdout.partition(" compared with 2 successes and ")[2].splitlines()
    assert any(statement in compared[1] for statement in waw.statements), done.stdout


def test_failures_with_a_reason_need_no_contrast(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.run()
    attempts = session.past.why_not("AddIAddConstant")
    assert any(one.outcome.result == "failed" for one in attempts.attempts)
    assert session.past.contrast(attempts) is None


def test_only_the_past_is_compared(launch: Launch) -> None:
    session = launch(source=stock.write("conditions.mlir", CONDITIONS))
    session.breakpoints.add(f"pattern:{PATTERN}", after=True, condition="line == 8")
    session.run()
    found = session.past.contrast(session.past.why_not(PATTERN))
    assert found is not None and (found.successes, found.failures) == (1, 1)


def test_why_not_in_a_batch(folds: str) -> None:
    source = stock.write("conditions.mlir", CONDITIONS)
    words = ["-nx", "-ex", "run", "-ex", f"why-not {PATTERN}", "--", "mlir-opt", source]
    done = command_line.run("--batch", *words, "--canonicalize", check=True)
    assert "  the operand is a constant: in all 2 successes and 0 of 3 failures" in done.stdout
    done = command_line.run("--batch", "--json", *words, "--canonicalize", check=True)
    contrast = json.loads(done.stdout.splitlines()[-1])["result"]["contrast"]
    assert contrast["findings"][0]["statement"] == "the operand is a constant"


def test_a_recording_names_the_way(folds: str) -> None:
    source = stock.write("conditions.mlir", CONDITIONS)
    words = ["-o", "run.adbrec", "--", "mlir-opt", source, "--canonicalize"]
    command_line.run("record", *words, check=True)
    words = ["--batch", "-ex", "run", "-ex", f"why-not {PATTERN}", "run.adbrec"]
    done = command_line.run("open", *words)
    assert "failed, and the pattern gave no reason" in done.stdout
    assert "Comparing failures with successes needs a running tool" in done.stderr


# --- other runs ------------------------------------------------------------------------

UNKNOWN = """\
func.func @f(%p: i1, %x: i32, %y: i32) -> i32 {
  %0 = scf.if %p -> i32 {
    %k = arith.muli %x, %y : i32
    scf.yield %k : i32
  } else { scf.yield %y : i32 }
  return %0 : i32
}
"""


def why_not(*words: str) -> subprocess.CompletedProcess[str]:
    """Ask about the pattern in an input in which it never succeeds."""
    line = " ".join(["why-not", PATTERN, *words])
    tool = ["mlir-opt", stock.write("unknown.mlir", UNKNOWN), "--canonicalize", "-o", "mine"]
    return command_line.run("--batch", "-nx", "-ex", "run", "-ex", line, "--", *tool)


def record(source: str, text: str, to: str) -> None:
    """Record a canonicalization; its output has gone when it is run again."""
    tool = ["mlir-opt", stock.write(source, text), "--canonicalize", "-o", "theirs"]
    command_line.run("record", "-o", to, "--", *tool, check=True)
    Path("theirs").unlink()


def test_without_a_success_the_way_to_one_is_named(folds: str) -> None:
    done = why_not()
    assert "There is nothing to compare 1 failure without a reason with" in done.stdout
    assert "Name another run with --against." in done.stdout


def test_a_recording_is_run_again(folds: str) -> None:
    record("conditions.mlir", CONDITIONS, "other.adbrec")
    done = why_not("--against", "other.adbrec")
    assert "  the operand is a constant: in all 2 successes and 0 of " in done.stdout, done.stderr
    assert " in other; there" in done.stdout
    assert not Path("theirs").exists() and Path("mine").exists()


def test_a_folder_of_recordings(folds: str) -> None:
    Path("runs").mkdir()
    record("conditions.mlir", CONDITIONS, "runs/other.adbrec")
    record("unknown.mlir", UNKNOWN, "runs/unknown.adbrec")
    # A run without a success is not run again: its command would fail now.
    Path("unknown.mlir").unlink()
    done = why_not("--against", "runs")
    assert "  the operand is a constant: in all 2 successes and 0 of " in done.stdout, done.stderr


def test_another_input(folds: str) -> None:
    done = why_not("--against", stock.write("conditions.mlir", CONDITIONS))
    assert "  the operand is a constant: in all 2 successes and 0 of " in done.stdout, done.stderr
    assert " in conditions.mlir; there" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.mlir"], "There is no file 'nowhere.mlir' to compare with: name a recording"),
        (["."], "There is no recording in the folder '.'"),
        (["gone.adbrec"], "gone.adbrec"),
    ],
)
def test_a_run_that_is_not_there(folds: str, words: list[str], message: str) -> None:
    done = why_not("--against", *words)
    assert done.returncode == 1
    assert message in done.stderr and len(done.stderr.splitlines()) <= 2


def test_a_recorded_command_that_cannot_run_again(folds: str) -> None:
    Path("there").mkdir()
    stock.write("conditions.mlir", CONDITIONS)
    with Path("conditions.mlir").open() as source:
        subprocess.run(
            [COMMAND, "record", "-o", "piped.adbrec", "--", "mlir-opt", "--canonicalize"],
            stdin=source,
            capture_output=True,
            check=True,
        )
    done = why_not("--against", "piped.adbrec")
    assert "piped.adbrec cannot run again: it read its standard input" in done.stderr
    tool = ["mlir-opt", "../conditions.mlir", "--canonicalize"]
    record = ["record", "-o", "../moved.adbrec", "--", *tool]
    command_line.run(*record, cwd="there", check=True)
    Path("there").rmdir()
    done = why_not("--against", "moved.adbrec")
    assert "cannot run again: its working directory" in done.stderr


# --- the code that returned ------------------------------------------------------------

GUARDED = """\
func.func @f(%a: i32, %b: i32) -> (i64, i64, i64, i64) {
  %0 = builtin.unrealized_conversion_cast %a, %b : i32, i32 to i64
  %c = arith.constant 3 : i32
  %1 = builtin.unrealized_conversion_cast %c : i32 to i64 {open}
  %2 = builtin.unrealized_conversion_cast %c : i32 to i64
  %3 = builtin.unrealized_conversion_cast %a : i32 to i64 {open}
  return %0, %1, %2, %3 : i64, i64, i64, i64
}
"""


@needs_gdb
@pytest.mark.parametrize(
    ("line", "condition"),
    [
        (2, "if (op.getNumOperands() != 1)"),
        (5, 'if (!op->hasAttr("open"))'),
        (6, "if (!definer)"),
    ],
)
def test_the_last_condition_with_debug_information(
    launch: Launch, pattern_plugin: Path, line: int, condition: str
) -> None:
    flags = [f"--load-pass-plugin={pattern_plugin}", "--pass-pipeline=builtin.module(guards)"]
    session = launch(*flags, source=stock.write("guarded.mlir", GUARDED))
    assert session.run().status == 0
    attempt = session.past.why_not("Guarded", location=f"guarded.mlir:{line}").attempts[-1]
    found = session.past.failure_return(attempt)
    assert "Guarded::matchAndRewrite" in found.function
    assert found.line is not None and found.line.text == condition
    assert found.line.file.endswith("pattern_plugin.cpp")


@needs_gdb
def test_the_last_branch_without_debug_information(launch: Launch, mlir_opt: str) -> None:
    session = launch(source=stock.write("unknown.mlir", UNKNOWN))
    session.run()
    failed = session.past.why_not(PATTERN).attempts[-1]
    found = session.past.failure_return(failed)
    assert found.line is None and found.call == "mlir::Value::getDefiningOp() const"
    # Debian's library has no symbols of functions in anonymous namespaces.
    name = "libMLIR" if mlir_opt.startswith("/usr") else f"{PATTERN}::matchAndRewrite"
    assert name in found.function and name in found.branches[0]
    assert session.stop is not None and session.stop.when == "exit"


@needs_gdb
def test_the_return_in_a_batch(folds: str) -> None:
    done = why_not("--native")
    assert "RemoveStaticCondition::matchAndRewrite; its last branch is at " in done.stdout
    assert done.stdout.splitlines()[-1].endswith(
        "after a call of mlir::Value::getDefiningOp() const"
    )


def test_a_return_needs_a_failure_and_gdb(folds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with actiondbg.launch(["mlir-opt", folds, "--canonicalize"]) as session:
        session.run()
        attempt = session.past.why_not("AddIAddConstant").attempts[0]
        later = msgspec.structs.replace(attempt, ordinal=10_000)
        with pytest.raises(UsageError, match="#10000 has not been dispatched"):
            session.past.failure_return(later)
        monkeypatch.setenv("PATH", str(Path.cwd()))
        with pytest.raises(UsageError, match="gdb was not found: install it"):
            session.past.failure_return(attempt)
