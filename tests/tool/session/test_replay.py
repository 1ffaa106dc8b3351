"""Repeating the run: replicas of the tool, and files with which the stock tool repeats a pass."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from tests.elements import some
from tests.fakes import stock_tool as stock
from tests.fakes.stops import same

Launch = Callable[..., actiondbg.Session]

CHAIN = """\
func.func @chain(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c2 : i32
  %z = arith.addi %y, %c3 : i32
  return %z : i32
}
"""


def mixed(launch: Launch, *flags: str) -> actiondbg.Session:
    return launch(*flags, source=stock.write("mixed.mlir", stock.MIXED))


# --- replay ----------------------------------------------------------------------------------


def test_replay_stops_at_the_position_of_the_run(launch: Launch) -> None:
    session = mixed(launch, stock.PASSES)
    stop = session.start()
    seen: dict[int, Stop] = {}
    while stop.when != "exit":
        if stop.when == "before":
            seen[stop.ordinal] = stop
        stop = session.step()
    for ordinal in some(list(seen)[:: len(seen) // 7]):
        with session.past.replay(ordinal) as replica:
            assert replica.stop is not None
            assert same(replica.stop, seen[ordinal])
    assert session.target.output() == stock.run(session.target.argv).stdout
    with pytest.raises(errors.UsageError):
        session.past.replay(max(seen) + 1)


def test_replay_skips_the_same_actions(launch: Launch) -> None:
    session = launch(source=stock.write("chain.mlir", CHAIN))
    session.breakpoints.add("pattern:AddIAddConstant and chain.mlir:6")
    first = session.run()
    session.breakpoints.add("pattern:AddIAddConstant and chain.mlir:7")
    second = session.skip()
    attempts = session.past.why_not("AddIAddConstant", "chain.mlir:6").attempts
    assert (attempts[0].ordinal, attempts[0].outcome.result) == (first.ordinal, "skipped")
    assert session.past.diff(first.ordinal).is_empty
    with session.past.replay(second.ordinal) as replica:
        assert replica.stop is not None and replica.stop.name == second.name
        assert replica.stop.location == second.location


def test_the_past_does_not_disturb_the_present(launch: Launch) -> None:
    session = mixed(launch)
    session.breakpoints.add("pattern:RemoveStaticCondition", after=True)
    stop = session.run()
    before = session.ir.print("module").text
    session.past.why_not("*")
    session.past.history("cursor")
    session.past.diff()
    session.past.cycles()
    assert session.stop == stop
    assert session.ir.print("module").text == before
    while stop.when != "exit":
        stop = session.continue_()
    assert session.target.output() == stock.run(session.target.argv).stdout


def test_the_past_needs_a_run(launch: Launch) -> None:
    session = launch()
    for ask in (
        lambda: session.past.why_not("X"),
        lambda: session.past.cycles(),
        lambda: session.past.replay(1),
    ):
        with pytest.raises(errors.NotStopped):
            ask()


# --- reproducer ------------------------------------------------------------------------------


def test_a_reproducer_does_the_pass_again(launch: Launch) -> None:
    flags = "--pass-pipeline=builtin.module(canonicalize,func.func(cse),symbol-dce)"
    session = mixed(launch, flags)
    session.breakpoints.add("pass:cse and func:mixed")
    session.run()
    before = session.ir.print("module", printer_names=True).text
    made = session.past.reproducer("again.mlir")
    session.next()
    after = session.ir.print("module", printer_names=True).text
    assert made.pipeline == "builtin.module(func.func(cse))"
    assert made.path == str(Path("again.mlir").absolute())
    written = Path(made.path).read_text()
    assert written.startswith(before) and "mlir_reproducer" in written
    assert before != after
    assert made.command[0] == session.target.argv[0]
    # cse has nothing to do in the other functions.
    again = subprocess.run(made.command, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == after.strip()


def test_a_reproducer_inside_a_pattern_is_of_the_pass(launch: Launch) -> None:
    session = mixed(launch)
    session.breakpoints.add("pattern:RemoveStaticCondition", outcome="succeeded")
    session.run()
    made = session.past.reproducer("again.mlir")
    assert "scf.if" in Path(made.path).read_text()  # as it was before the pass
    again = subprocess.run(made.command, capture_output=True, text=True, check=True)
    assert again.stdout == stock.run(session.target.argv).stdout


def test_a_reproducer_needs_a_pass_and_a_place(launch: Launch) -> None:
    session = mixed(launch)
    session.start()
    with pytest.raises(errors.FileNotWritten, match="no/such"):
        session.past.reproducer("no/such/again.mlir")
    session.run()
    session.kill()
    with pytest.raises(errors.NotStopped):
        session.past.reproducer("again.mlir")
    assert not Path("again.mlir").exists()
