"""Crashes of a real tool: the stop, the way back, and the reproducer."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import actiondbg
from actiondbg.errors import NoAnswer, UsageError
from actiondbg.process.stop import parse_crash
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.session import open_session
from tests.elements import some
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

if TYPE_CHECKING:
    from actiondbg.recording.session.recorded_session import DebugSession

Debian = Callable[[str], str]

CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
"""
LOWER = ["--canonicalize", "--finalize-memref-to-llvm"]


@pytest.fixture
def argv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command that fails an assertion in the middle of a conversion."""
    monkeypatch.chdir(tmp_path)
    return ["mlir-opt", stock.write("crash.mlir", CRASHING), *LOWER]


def test_a_crash_stops_in_its_action(argv: list[str]) -> None:
    with actiondbg.launch(argv) as session:
        stop = session.run()
        assert (stop.when, stop.reason, stop.breakpoints) == ("during", "crash", [])
        assert (stop.name, stop.op) == ("StoreOpLowering", "memref.store")
        cause = parse_crash(stop.message or "")
        assert cause is not None and cause.signal == "SIGABRT"
        assert cause.what == "Assertion `integralElementType.getWidth() >= 8' failed"
        assert cause.place and "MemRefToLLVM.cpp" in cause.place
        assert session.stack.frames()[-1].name == "finalize-memref-to-llvm"
        assert "memref.store" in session.ir.print("cursor").text
        # The assertion is all that the tool has written: its own handler has not run yet.
        assert session.target.errors().count("\n") == 1
        end = session.continue_()
        assert (end.when, end.reason, end.status) == ("exit", "crashed", -signal.SIGABRT)
        assert end.message and end.message.endswith(f"on memref.store: {cause.what}.")
        alone = stock.run([str(session.target.tool.path), *argv[1:]])
        assert "Stack dump:" in alone.stderr and "Stack dump:" in session.target.errors()
        assert session.target.errors().splitlines()[0] == alone.stderr.splitlines()[0]


def test_the_way_back_from_a_crash_and_there_again(argv: list[str]) -> None:
    with actiondbg.launch(argv) as session:
        crash = session.run()
        checkpoint = session.timeline.checkpoints.add()
        stop = session.timeline.reverse_step()
        assert (stop.when, stop.ordinal) == ("before", crash.ordinal)
        again = session.continue_()
        assert (again.when, again.reason, again.ordinal, again.message) == (
            crash.when,
            crash.reason,
            crash.ordinal,
            crash.message,
        )
        assert session.timeline.goto(3).ordinal == 3
        restarted = session.timeline.checkpoints.restore(checkpoint.number)
        assert (restarted.when, restarted.reason, restarted.message) == (
            crash.when,
            crash.reason,
            crash.message,
        )
        session.timeline.reverse_step()
        # Without the lowering of the store, the conversion leaves it as it is.
        end = session.skip()
        assert (end.when, end.reason) == ("exit", "exited")


def test_the_assertion_is_written_once_to_a_pipe(argv: list[str]) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        with os.fdopen(writing, "wb") as end, actiondbg.launch(argv, stderr=end) as s:
            place = (s.run().ordinal, "crash")
            for _ in range(2):
                s.timeline.reverse_step()
                stop = s.continue_()
                assert (stop.ordinal, stop.reason) == place
            assert s.timeline.goto(place[0]).when == "before"
            s.apply()
            assert s.continue_().status == -signal.SIGABRT
        text = pipe.read().decode()
    assert text.count("integralElementType.getWidth() >= 8' failed") == 1
    assert text.count("PLEASE submit a bug report") == 1


def test_a_checkpoint_in_the_crash_is_left_when_its_action_is_skipped(argv: list[str]) -> None:
    with actiondbg.launch([*argv, "-o", "out.mlir"]) as session:
        crash = session.run()
        assert crash.is_crash
        session.timeline.checkpoints.add()
        session.timeline.goto(crash.ordinal)
        assert session.skip().status == 0
        written = Path("out.mlir").read_text()
        session.timeline.reverse_step()
        assert session.continue_().status == 0
        assert Path("out.mlir").read_text() == written


def test_a_crash_outside_of_actions_and_in_release_builds(debian: Debian, folds: str) -> None:
    argv = [debian("mlir-opt"), folds, "--canonicalize", "--test-pass-crash"]
    with actiondbg.launch(argv) as session:
        stop = session.run()
        assert (stop.reason, stop.name, stop.message) == ("crash", "test-pass-crash", "SIGABRT")


def test_a_fatal_error_of_llvm_is_the_message(
    debian: Debian, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """func.func @f() {
  %0 = "test.data_layout_query"() : () -> none
  return
}
"""
    argv = [debian("mlir-opt"), stock.write("none.mlir", text), "--test-data-layout-query"]
    with actiondbg.launch(argv) as session:
        stop = session.run()
        assert stop.message and stop.message.startswith("SIGABRT: LLVM ERROR: neither the scoping")
        assert stop.message[len("SIGABRT: ") :] == session.target.errors().rstrip()


def test_a_crash_does_not_stop_the_search_for_an_action(argv: list[str]) -> None:
    with actiondbg.launch(argv) as session:
        crash = session.run()
        with pytest.raises(UsageError, match=f"The tool crashes in #{crash.ordinal}"):
            session.timeline.goto(crash.ordinal + 5)
        assert session.stop == crash


def test_the_reproducer_is_written_once_for_a_crash(argv: list[str]) -> None:
    Path("repros").mkdir()
    Path("repros/finalize-memref-to-llvm.mlir").write_text("another crash")
    for is_new in (True, False):
        with actiondbg.launch(argv) as session:
            session.run()
            made = session.past.keep_reproducer("repros")
            assert made.is_new == is_new
            assert session.past.keep_reproducer("repros").is_new is False
            assert made.path == str(Path("repros/finalize-memref-to-llvm-2.mlir").absolute())
    assert len(list(Path("repros").iterdir())) == 2
    again = subprocess.run(made.command, capture_output=True, text=True)
    assert again.returncode == -signal.SIGABRT and "integralElementType" in again.stderr


@pytest.mark.parametrize("ended", [False, True])
def test_the_actions_around_a_crash_have_not_ended(argv: list[str], ended: bool) -> None:
    with actiondbg.launch(argv) as session:
        crash = session.run()
        around = [frame.ordinal for frame in session.stack.frames()]
        if ended:
            session.continue_()
        _check_unended(session, crash.ordinal, around, "over" if ended else "running")


def test_a_recording_of_a_crash_answers_as_the_run(argv: list[str], tmp_path: Path) -> None:
    with actiondbg.launch(argv) as session:
        crash = session.run()
        around = [frame.ordinal for frame in session.stack.frames()]
        live = session.past.explain()
    record(argv, tmp_path / "run.adbrec", ir="function", stdout=os.devnull, stderr=os.devnull)
    with open_session(tmp_path / "run.adbrec") as session:
        assert session.continue_().reason == "crashed"
        _check_unended(session, crash.ordinal, around, "over")
        found = session.past.explain()
        assert found.failed is not None and live.failed is not None
        assert (found.failed.ordinal, found.failed.failed) == (live.failed.ordinal, None)
        [op], [wanted] = found.failed.legalizations, live.failed.legalizations
        assert (op.id, op.legalized) == (wanted.id, None)
        assert [(each.ordinal, each.result) for each in op.tried] == [(crash.ordinal, None)]


def _check_unended(session: DebugSession, crash: int, around: list[int], state: str) -> None:
    listed = session.past.actions(count=100).actions
    assert [(one.ordinal, one.state) for one in listed if one.outcome is None] == [
        (ordinal, state) for ordinal in sorted(around)
    ]
    for ordinal in some(around):
        said = f"The action #{ordinal} has not ended: the tool crashes in #{crash}."
        with pytest.raises(UsageError, match=re.escape(said)):
            session.past.diff(ordinal)
        with pytest.raises(UsageError, match=f"The tool crashes in #{crash}: there is no #99"):
            session.timeline.goto(99)
        said = f"The tool crashes in #{crash}: there is no end of #{ordinal}."
        with pytest.raises(UsageError, match=re.escape(said)):
            session.timeline.goto(ordinal, "after")


# --- the command ---------------------------------------------------------------------------


def batch(*lines: str, argv: list[str], options: tuple[str, ...] = ()) -> tuple[int, str, str]:
    words = [word for line in lines for word in ("-ex", line)]
    command = ["--batch", "-nx", *options, *words, *argv]
    done = command_line.run(*command)
    return done.returncode, done.stdout, done.stderr


def test_a_batch_reports_the_crash(argv: list[str]) -> None:
    code, out, err = batch("run", argv=argv)
    assert code == 0
    assert out.splitlines()[:2] == [
        "Crash, stopped inside #16 apply-pattern (StoreOpLowering) in finalize-memref-to-llvm "
        "in @store at crash.mlir:4:3",
        "  SIGABRT: Assertion `integralElementType.getWidth() >= 8' failed",
    ]
    assert "A reproducer was written to actiondbg-reproducers/finalize-memref-to-llvm.mlir." in out
    assert "Stack dump" not in err
    _, out, _ = batch("run", argv=argv)
    assert "The reproducer of this crash is in actiondbg-reproducers/" in out
    assert [one.name for one in Path("actiondbg-reproducers").iterdir()] == [
        "finalize-memref-to-llvm.mlir"
    ]


def test_a_crash_of_the_parser_has_no_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overflows the stack: the stop needs a stack of its own."""
    monkeypatch.chdir(tmp_path)
    depth = 60_000
    source = stock.write("deep.mlir", "module {" * depth + "}" * depth)
    code, out, _ = batch("run", argv=["mlir-opt", source], options=("--return-child-result",))
    assert out.splitlines()[:2] == ["Crash, stopped outside of any action", "  SIGSEGV"]
    assert "eproducer" not in out
    assert code == 128 + signal.SIGSEGV


def test_stop_on_crash_can_be_switched_off(argv: list[str]) -> None:
    _, out, err = batch("set stop-on-crash off", "run", argv=argv)
    assert out.splitlines() == [
        "The tool died of SIGABRT in #16 apply-pattern StoreOpLowering on memref.store: "
        "Assertion `integralElementType.getWidth() >= 8' failed."
    ]
    assert "Stack dump" in err
    assert not Path("actiondbg-reproducers").exists()


@pytest.mark.parametrize("more", [(), ("continue",), ("reverse-step", "continue")])
def test_exit_code_of_a_batch_is_that_of_the_crash(argv: list[str], more: tuple[str, ...]) -> None:
    code, _, _ = batch("run", *more, argv=argv, options=("--return-child-result",))
    assert code == 128 + signal.SIGABRT


def test_commands_after_the_end_name_the_way_back(argv: list[str]) -> None:
    code, _, err = batch("run", "continue", "backtrace", argv=argv)
    assert code == 1
    assert "failed; run starts it again, reverse-step and goto go back." in err


def test_a_recording_has_the_message_of_the_crash(argv: list[str]) -> None:
    command_line.run("record", "-o", "run.adbrec", "--", *argv)
    words = ["open", "--batch", "-nx", "-ex", "run", "-ex", "reverse-step", "run.adbrec"]
    done = command_line.run(*words)
    assert done.stdout.splitlines()[:2] == [
        "The tool died of SIGABRT in #16 apply-pattern StoreOpLowering on memref.store: "
        "Assertion `integralElementType.getWidth() >= 8' failed.",
        "Stopped before #16 apply-pattern (StoreOpLowering) in finalize-memref-to-llvm "
        "in @store at crash.mlir:4:3",
    ]


@pytest.fixture
def recovering(argv: list[str]) -> list[str]:
    """A command that recovers from a crash in the first of two modules."""
    sound = CRASHING.replace("i1", "i32").replace("constant false", "constant 0 : i32")
    split = stock.write("split.mlir", f"{CRASHING}// -----\n{sound}")
    options = ["--split-input-file", "--mlir-pass-pipeline-crash-reproducer=crash.repro"]
    return [argv[0], split, *options, *LOWER]


def test_the_way_back_over_a_crash_from_which_the_tool_recovers(recovering: list[str]) -> None:
    with actiondbg.launch(recovering) as session:
        crash = session.run()
        assert crash.reason == "crash"
        ways = [session.step()]
        ways += [session.step() for _ in range(9)]
        assert all(stop.ordinal > crash.ordinal for stop in ways)
        texts = [session.ir.print("module").text]
        for stop in reversed(ways[:-1]):
            back = session.timeline.reverse_step()
            assert (back.event, back.ordinal, back.when) == (stop.event, stop.ordinal, stop.when)
        assert session.past.explain().cause is None  # the conversion that was left has no end
        assert session.timeline.reverse_step().ordinal <= crash.ordinal
        side = "after" if ways[-1].when == "after" else "before"
        assert session.timeline.goto(ways[-1].ordinal, side).event == ways[-1].event
        assert session.ir.print("module").text == texts[0]


def test_actions_that_a_crash_leaves_have_no_end(recovering: list[str]) -> None:
    with actiondbg.launch(recovering) as session:
        crash = session.run()
        around = [frame.ordinal for frame in session.stack.frames()]
        session.step()
        listed = session.past.actions(count=100).actions
        left = [one for one in listed if one.ordinal in around]
        assert len(left) == 3 and left[-1].ordinal == crash.ordinal
        assert {(one.state, one.outcome) for one in left} == {("over", None)}
        for ordinal in some(around):
            with pytest.raises(NoAnswer, match=f"#{ordinal} has no end: the tool left it"):
                session.past.diff(ordinal)


def test_a_recording_nests_no_action_in_one_that_a_crash_left(recovering: list[str]) -> None:
    command_line.run("record", "-o", "run.adbrec", "--", *recovering)
    rows = open_recording(Path("run.adbrec")).table("actions").to_pylist()
    passes = [(row["depth"], row["name"]) for row in rows if row["tag"] == "pass-execution"]
    assert passes == [(0, "canonicalize"), (0, "finalize-memref-to-llvm")] * 2
    assert [row["name"] for row in rows if row["outcome"] == "unfinished"] == [
        *("finalize-memref-to-llvm", "", "StoreOpLowering")
    ]
