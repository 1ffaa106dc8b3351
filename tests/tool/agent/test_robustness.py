"""Patterns, passes and IR that behave badly: the session tells, and stays of use."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors, protocol
from actiondbg.process.stop import Stop
from actiondbg.session.past.replay import logging, read_log
from tests.elements import some
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]
Debian = Callable[[str], str]

# In a graph region: to fold the extraction, the insertions are followed for ever.
HANG = """\
%f = arith.constant 1.0 : f32
%v = vector.insert %f, %w[0] : f32 into vector<4xf32>
%w = vector.insert %f, %v[1] : f32 into vector<4xf32>
%e = vector.extract %v[2] : f32 from vector<4xf32>
"test.use"(%e) : (f32) -> ()
"""
# This one is folded in place for ever: each fold is over at once.
AGAIN = """\
%f = arith.constant 1.0 : f32
%v = vector.insert %f, %v[0] : f32 into vector<4xf32>
"test.use"(%v) : (vector<4xf32>) -> ()
"""
STRICT = """\
func.func @nested() -> i32 {
  %0 = "test.replace_with_new_op"() : () -> i32
  "test.erase_op"() ({
    %x = "test.dummy_op"() : () -> (i1)
    cf.br ^bb1(%x: i1)
  ^bb1(%arg0: i1):
    "test.foo"() ({
      "test.nested_a"() : () -> ()
    }) : () -> ()
    cf.br ^bb1(%arg0: i1)
  }) : () -> ()
  "test.inline_blocks_into_parent"() ({
    "test.op_1"() : () -> ()
    "test.op_2"() : () -> ()
  }) : () -> ()
  return %0 : i32
}
"""
NULL = """\
func.func @null() -> i32 {
  %0 = "test.erase_op"() : () -> i32
  "test.insert_same_op"() : () -> ()
  return %0 : i32
}
"""
ROLLBACK = """\
func.func @blocks() {
  "test.create_illegal_block"() : () -> ()
  return
}
func.func @moves() {
  "test.one_region_op"() ({
    %0 = "test.hoist_me"() : () -> (i32)
    "test.valid"(%0) : (i32) -> ()
  }) : () -> ()
  "test.return"() : () -> ()
}
func.func @erases() {
  "test.undo_block_erase"() ({
    "unregistered.return"()[^bb1] : () -> ()
  ^bb1:
    "unregistered.return"() : () -> ()
  }) : () -> ()
}
func.func @converts(%arg0: i64) {
  "test.invalid"(%arg0) : (i64) -> ()
}
func.func @legalizes() -> i32 {
  %result = "test.illegal_op_a"() : () -> (i32)
  return %result : i32
}
"""
SECONDS = 300  # a tool that hangs in a request fails a test instead of hanging it
TO_LLVM = (
    "--pass-pipeline=builtin.module(convert-scf-to-cf,convert-arith-to-llvm,convert-cf-to-llvm,"
    "convert-func-to-llvm,reconcile-unrealized-casts,canonicalize,cse)"
)


def strict(debian: Debian, source: str) -> list[str]:
    flags = ["--allow-unregistered-dialect", "--test-strict-pattern-driver"]
    return [debian("mlir-opt"), stock.write("in.mlir", source), *flags]


def look(session: actiondbg.Session) -> None:
    """Ask for all that can be asked for at a stop; what is refused is refused with a sentence."""
    for what in ("module", "function", "action", "cursor"):
        try:
            with session.ir.print(what, generic=what == "function") as printed:
                assert printed.text
        except (errors.NoSuchUnit, errors.UnitErased) as error:
            assert what == "action" and "erased" in str(error)
    for frame in session.stack.frames():
        assert all(unit.text for unit in frame.units if unit.state == "alive")
    changes = session.outcome.changes(limit=20)
    assert changes.total >= len(changes.changes)
    session.stack.context()
    session.past.statistics()
    session.ir.count("*")


def walk(session: actiondbg.Session, of_each_kind: int | None = None) -> list[Stop]:
    """Step through all, and look at everything.

    Args:
        session: not started yet.
        of_each_kind: the number of stops of each kind that are looked at; None for all.
    """
    looked: Counter[tuple[object, ...]] = Counter()
    found = [session.start()]
    assert session.target.pid is not None
    watchdog = threading.Timer(SECONDS, os.kill, (session.target.pid, signal.SIGKILL))
    watchdog.start()
    try:
        while found[-1].when != "exit":
            stop = found[-1]
            outcome = stop.outcome and (stop.outcome.result, stop.outcome.how)
            kind = (stop.tag, stop.name, stop.op, stop.when, stop.depth, outcome)
            if of_each_kind is None or looked[kind] < of_each_kind:
                look(session)
            looked[kind] += 1
            found.append(session.step())
    finally:
        watchdog.cancel()
    return found


@pytest.mark.parametrize("source", [STRICT, NULL], ids=["erased", "null"])
def test_every_inspection_works_at_every_stop(debian: Debian, folds: str, source: str) -> None:
    """Roots and parents are erased, regions move, and an operand is null for a while."""
    argv = strict(debian, source)
    alone = stock.run(argv)
    with actiondbg.launch(argv) as session:
        end = walk(session)[-1]
        assert (end.reason, end.status) == ("exited", alone.returncode)
        assert (session.target.output(), session.target.errors()) == (alone.stdout, alone.stderr)


def test_every_inspection_works_in_conversions(launch: Launch) -> None:
    session = launch(TO_LLVM, source=stock.write("mixed.mlir", stock.MIXED))
    assert walk(session, of_each_kind=1)[-1].status == 0
    assert session.target.output() == stock.run(session.target.argv).stdout


def test_every_inspection_works_during_a_rollback(debian: Debian, folds: str) -> None:
    argv = [debian("mlir-opt"), stock.write("in.mlir", ROLLBACK), "--allow-unregistered-dialect"]
    argv.append("--test-legalize-patterns")
    with actiondbg.launch(argv) as session:
        stops = walk(session)
        assert session.target.output() == stock.run(argv, check=True).stdout
    failed = {s.name for s in stops if s.outcome and s.outcome.result == "failed"}
    assert {"TestCreateIllegalBlock", "TestUndoMoveOpBefore", "TestUndoBlockErase"} <= failed


def test_ids_survive_a_rollback(debian: Debian, folds: str) -> None:
    argv = [debian("mlir-opt"), stock.write("in.mlir", ROLLBACK), "--allow-unregistered-dialect"]
    argv.append("--test-legalize-patterns")
    with actiondbg.launch(argv) as session:
        session.start()
        ids: dict[int, int | None] = {}
        for line in (2, 7, 8, 14, 16):
            ids[line] = session.cursor.move("location", path="in.mlir", line=line).unit.id
        session.next()
        for line, id in some(ids.items()):
            assert session.cursor.move("location", path="in.mlir", line=line).unit.id == id


def test_nested_pass_managers(launch: Launch) -> None:
    """The inliner runs canonicalize in a pass manager of its own."""
    session = launch("--inline", source=stock.write("mixed.mlir", stock.MIXED))
    stops = walk(session, of_each_kind=1)
    depths = {s.name: s.depth for s in stops if s.tag == "pass-execution"}
    assert depths["canonicalize"] > depths["inline"] == 0
    assert session.target.output() == stock.run(session.target.argv).stdout


def test_a_pattern_that_erases_its_root(debian: Debian, folds: str) -> None:
    with actiondbg.launch(strict(debian, STRICT)) as session:
        session.breakpoints.add("pattern:*EraseOp")
        stop = session.run()
        root = session.cursor.get().unit.id
        after = session.next()
        assert after.outcome is not None and after.outcome.result == "succeeded"
        assert root in [one.id for one in after.changes if one.kind == "erased"]
        [unit] = session.stack.context()
        assert (unit.state, unit.text) == ("erased", None)
        assert (after.ordinal, after.op) == (stop.ordinal, "test.erase_op")
        with pytest.raises(errors.UnitErased):
            session.ir.print("action")
        assert session.continue_().when == "exit"


def test_a_pattern_that_erases_the_parent_of_the_cursor(debian: Debian, folds: str) -> None:
    with actiondbg.launch(strict(debian, STRICT)) as session:
        session.breakpoints.add("pattern:*EraseOp")
        session.run()
        session.cursor.move("location", path="in.mlir", line=8)
        inner = session.cursor.get().unit
        assert inner.name == "test.nested_a"
        watch = session.breakpoints.watch("cursor")
        after = session.continue_()
        assert (after.when, after.reason, after.breakpoints) == ("after", "watch", [watch.id])
        assert "was erased" in (after.message or "")
        assert inner.id in [
            one.id for one in session.outcome.changes().changes if one.kind == "erased"
        ]
        with pytest.raises(errors.NoSuchUnit):
            session.cursor.move("id", index=inner.id)
        look(session)
        assert session.cursor.move("symbol", name="nested").unit.name == "func.func"
        assert session.continue_().when == "exit"


def test_cursor_moves_to_the_replacement_of_its_unit(debian: Debian, folds: str) -> None:
    with actiondbg.launch(strict(debian, STRICT)) as session:
        session.breakpoints.add("pattern:ReplaceWithNewOp")
        session.run()
        after = session.next()
        [new] = [one.id for one in after.changes if one.kind == "inserted"]
        [unit] = session.stack.context()
        assert (unit.state, unit.name, unit.id) == ("replaced", "test.new_op", new)
        assert session.cursor.get().unit.id == after.cursor_id == new != after.id


def test_null_operands_are_printed_generically(debian: Debian, folds: str) -> None:
    with actiondbg.launch(strict(debian, NULL)) as session:
        session.breakpoints.add("pattern:*EraseOp", after=True)
        stop = session.run()
        assert stop.outcome is not None and stop.outcome.result == "succeeded"
        printed = session.ir.print("function")
        assert printed.generic
        assert '"func.return"(<<NULL VALUE>>)' in printed.text
        session.cursor.move("location", path="in.mlir", line=4)
        assert session.cursor.get().unit.name == "func.return"
        assert "NULL" in session.ir.print("cursor").text
        assert [one.name for one in session.cursor.defs()] == []
        session.past.diff()
        session.past.history("cursor")
        assert session.continue_().status == 1


def test_a_fold_that_loops_for_ever(launch: Launch) -> None:
    """The first interrupt waits for the next action, which never comes; the second does not."""
    session = launch(
        "--allow-unregistered-dialect", "--canonicalize", source=stock.write("hang.mlir", HANG)
    )
    one = session.breakpoints.add("fold:vector.extract")
    before = session.run()
    session.breakpoints.delete([one.id])
    for seconds in (0.3, 0.6):
        threading.Timer(seconds, session.interrupt).start()
    stop = session.continue_()
    assert (stop.when, stop.reason) == ("during", "interrupt")
    assert (stop.ordinal, stop.tag, stop.op) == (before.ordinal, "fold", before.op)
    assert "vector.extract" in session.ir.print("module").text
    assert [frame.tag for frame in session.stack.frames()] == [
        "fold",
        "GreedyPatternRewriteIteration",
        "pass-execution",
    ]
    session.kill()
    assert session.state == "not-running"


def test_folds_in_place_that_never_end(launch: Launch) -> None:
    """One interrupt is enough, and the driver is seen not to settle."""
    session = launch(
        "--allow-unregistered-dialect", "--canonicalize", source=stock.write("again.mlir", AGAIN)
    )
    session.start()
    stop = session.advance("#50")
    assert (stop.tag, stop.op) == ("fold", "vector.insert")
    after = session.next()
    assert after.outcome is not None
    assert (after.outcome.result, after.outcome.how) == ("succeeded", "in-place")
    cycle = session.past.cycles()
    assert cycle is not None
    assert [(one.tag, one.op) for one in cycle.round] == [("fold", "vector.insert")]
    threading.Timer(0.3, session.interrupt).start()
    assert session.continue_().reason == "interrupt"
    session.breakpoints.catch("nonconvergence")
    enough = threading.Timer(5, session.interrupt)
    enough.start()
    stop = session.continue_()
    enough.cancel()
    assert stop.reason == "catch" and "converge" in (stop.message or "")


def test_output_is_byte_identical_with_everything_set(launch: Launch) -> None:
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("tag:apply-pattern", outcome="failed,reason:*MulIOp*")
    session.breakpoints.add("tag:fold", "depth > 1", outcome="changed")
    session.breakpoints.add("tag:pass-execution", outcome="unchanged")
    session.breakpoints.watch("@12")
    session.breakpoints.watch("op:arith.* count")
    for event in ("failure", "crash", "verify", "diagnostic", "nonconvergence"):
        session.breakpoints.catch(event)
    session.options.verify_each_action = True
    stops = stock.stops(session)
    assert {"breakpoint", "watch"} == {stop.reason for stop in stops}
    alone = stock.run(session.target.argv)
    assert (session.target.output(), session.target.errors()) == (alone.stdout, alone.stderr)


def test_output_is_byte_identical_with_a_log(launch: Launch) -> None:
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    every = logging([protocol.Term(kind="tag", glob="*")], protocol.OutcomeFilter())
    session._executions.ask(protocol.OpenLog(path=str(Path("log.jsonl").absolute())))
    session._executions.ask(protocol.SetBreakpoints(breakpoints=[every]))
    end = session.continue_()
    assert end.when == "exit" and end.actions
    lines = list(read_log(Path("log.jsonl")))
    # The breakpoint was set when the first action was about to run: it may come too late for that.
    ordinals = {line.ordinal for line in lines}
    assert ordinals | {1} == set(range(1, end.actions + 1))
    assert len(ordinals) == len(lines) > 50
    assert all(line.outcome is not None for line in lines)
    assert session.target.output() == stock.run(session.target.argv).stdout


@pytest.mark.parametrize("source", [STRICT, NULL], ids=["erased", "null"])
def test_test_passes_are_byte_identical(debian: Debian, folds: str, source: str) -> None:
    """Listeners of the test pass print what they are told, in the same order as without us."""
    argv = strict(debian, source)
    alone = stock.run(argv)
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("tag:apply-pattern", outcome="changed")
        session.breakpoints.watch("op:test.* count")
        stock.stops(session)
        assert (session.target.output(), session.target.errors()) == (alone.stdout, alone.stderr)
