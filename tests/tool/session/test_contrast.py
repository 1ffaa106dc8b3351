"""Failures without a reason, compared with the successes of the pattern, in real tools."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

import actiondbg
from tests.fakes import stock_tool as stock
from tests.fakes.silent_patterns import CASES, NOT_NAMED, Case
from tests.paths import COMMAND

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
    named = [one.statement for one in found.findings if one.statement in case.statements]
    assert named or case.pattern in NOT_NAMED


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
    done = subprocess.run(
        [COMMAND, "--batch", *words, "--canonicalize"], capture_output=True, text=True, check=True
    )
    assert "  the operand is a constant: in all 2 successes and 0 of 3 failures" in done.stdout
    done = subprocess.run(
        [COMMAND, "--batch", "--json", *words, "--canonicalize"],
        capture_output=True,
        text=True,
        check=True,
    )
    contrast = json.loads(done.stdout.splitlines()[-1])["result"]["contrast"]
    assert contrast["findings"][0]["statement"] == "the operand is a constant"


def test_a_recording_names_the_way(folds: str) -> None:
    source = stock.write("conditions.mlir", CONDITIONS)
    record = [COMMAND, "record", "-o", "run.adbrec", "--", "mlir-opt", source, "--canonicalize"]
    subprocess.run(record, capture_output=True, check=True)
    words = ["--batch", "-ex", "run", "-ex", f"why-not {PATTERN}", "run.adbrec"]
    done = subprocess.run([COMMAND, "open", *words], capture_output=True, text=True)
    assert "failed, and the pattern gave no reason" in done.stdout
    assert "Comparing failures with successes needs a running tool" in done.stderr
