"""Skips and branches in the real tool, and what it writes on each timeline."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from tests.fakes import stock_tool as stock
from tests.fakes.stops import all_stops, alone, same

Launch = Callable[..., actiondbg.Session]

CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  memref.store %v, %m[%i] : memref<4xi1>
  return
}
"""


# --- skips and branches ---------------------------------------------------------------------------


def mixed(launch: Launch) -> tuple[actiondbg.Session, int, int]:
    """A run in which to skip either of two passes makes a difference; their ordinals."""
    flags = "--pass-pipeline=builtin.module(func.func(cse),canonicalize,symbol-dce)"
    session = launch(flags, source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("pass:cse and func:mixed")
    session.breakpoints.add("pass:symbol-dce")
    ordinals = session.run().ordinal, session.continue_().ordinal
    session.breakpoints.delete([1, 2])
    return session, *ordinals


def test_a_skip_is_repeated_in_both_directions(launch: Launch) -> None:
    session, ordinal, _ = mixed(launch)
    session.timeline.goto(ordinal)
    session.skip()
    changed = session.target.output()
    assert changed != alone(session)
    assert session.timeline.goto(ordinal).skipped
    stop = session.step()
    assert (stop.ordinal, stop.when, stop.skipped) == (ordinal, "after", True)
    session.timeline.reverse_step(3)
    session.next_change()
    stop = session.timeline.goto(ordinal, "after")
    assert stop.skipped
    assert session.timeline.reverse_step().skipped
    for resume in (session.step, session.next):
        session.timeline.goto(ordinal)
        stop = resume()
        assert (stop.ordinal, stop.when, stop.skipped) == (ordinal, "after", True)
    session.timeline.goto(ordinal)
    assert session.continue_().when == "exit"
    assert session.target.output() == changed
    session.timeline.goto(ordinal)
    assert session.advance(f"#{ordinal + 2}").when == "before"
    assert session.continue_().status == 0
    assert session.target.output() == changed
    assert [one.ended for one in session.timeline.branches().branches] == [False, True]


def test_another_control_branches(launch: Launch) -> None:
    session, first, second = mixed(launch)
    session.timeline.goto(second)
    session.skip()
    late = session.target.output()
    mark = session.timeline.goto(second, "after")
    session.timeline.checkpoints.add()
    session.timeline.goto(first)
    session.skip()
    early = session.target.output()
    assert len({early, late, alone(session)}) == 3
    timeline = session.timeline.branches()
    skips = [[one.ordinal for one in branch.skips] for branch in timeline.branches]
    parents = [(one.number, one.parent, one.ordinal) for one in timeline.branches]
    assert (timeline.current, timeline.when) == (2, "exit")
    assert skips == [[second], [first]]  # it was the newest place that was answered at first
    assert parents == [(1, None, 0), (2, 1, first)]
    stop = session.timeline.checkpoints.restore(1)  # on the first branch
    assert same(stop, mark)
    assert session.timeline.branches().current == 1
    session.continue_()
    assert session.target.output() == late
    session.timeline.goto(second)
    assert session.apply().status == 0
    assert session.target.output() == alone(session)
    assert session.timeline.branches().branches[2].skips == []
    assert session.timeline.branches().branches[2].parent == 1


def test_refused_control_makes_no_branch(launch: Launch) -> None:
    session = launch()
    session.start()
    session.step()
    session.timeline.reverse_step()
    with pytest.raises(errors.UsageError):
        session.skip(0)
    session.timeline.goto(1, "after")
    with pytest.raises(errors.ControlRefused):
        session.skip()
    assert session.timeline.branches().branches[0].skips == []
    assert session.continue_().status == 0
    assert session.target.output() == alone(session)


def test_the_past_is_that_of_the_current_timeline(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant", outcome="succeeded")
    ordinal = session.run().ordinal
    session.breakpoints.delete([1])
    diff = session.past.diff(ordinal)
    assert not diff.is_empty
    session.timeline.goto(ordinal)
    session.skip()
    assert session.past.diff(ordinal).is_empty
    session.timeline.goto(ordinal)
    session.apply()
    assert session.past.diff(ordinal).unified() == diff.unified()


# --- what the tool writes -------------------------------------------------------------------------


def test_the_output_is_that_of_the_timeline(mlir_opt: str, folds: str, tmp_path: Path) -> None:
    flags = ["--canonicalize", "--cse", "--mlir-print-ir-after-all"]
    argv = [mlir_opt, folds, *flags, "-o", "out.mlir"]
    run = stock.run(argv, check=True)
    written = Path("out.mlir").read_text()
    Path("out.mlir").unlink()
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pass:cse")
        session.run()
        assert session.target.errors() == run.stderr[: len(session.target.errors())] != ""
        early = session.target.errors()
        assert session.continue_().status == 0
        assert (Path("out.mlir").read_text(), session.target.errors()) == (written, run.stderr)
        session.timeline.reverse_continue()
        assert (Path("out.mlir").read_text(), session.target.errors()) == ("", early)
        session.timeline.goto(1)
        assert session.target.errors() == ""
        session.timeline.goto(3)
        session.kill()
        assert Path("out.mlir").read_text() == ""
        session.run()
        session.continue_()
        session.timeline.reverse_step()
        assert session.continue_().status == 0
        assert (Path("out.mlir").read_text(), session.target.errors()) == (written, run.stderr)


CONVERGES = "canonicalize{test-convergence=true max-iterations=1}"


def test_failed_run_is_restored(mlir_opt: str, folds: str) -> None:
    flags = f"--pass-pipeline=builtin.module(cse,{CONVERGES})"
    argv = [mlir_opt, folds, flags, "-o", "out.mlir"]
    run = stock.run(argv)
    assert run.returncode == 1 and not Path("out.mlir").exists()
    with actiondbg.launch(argv) as session:
        stops = all_stops(session)
        assert session.stop is not None and session.stop.status == 1
        assert not Path("out.mlir").exists()
        stop = session.timeline.reverse_step()
        assert same(stop, stops[max(stops)])
        assert Path("out.mlir").read_text() == ""  # the tool has it open
        session.timeline.goto(2)
        end = session.continue_()
        assert (end.status, end.actions) == (1, max(one.ordinal for one in stops.values()))
        assert not Path("out.mlir").exists()
        assert session.target.errors() == run.stderr
        last = max(one.ordinal for one in stops.values())
        with pytest.raises(errors.UsageError, match="there is no"):
            session.timeline.goto(last + 1)
        assert not Path("out.mlir").exists()
        session.timeline.goto(last)
        with pytest.raises(errors.UsageError, match="there is no"):
            session.timeline.goto(last + 1)  # what looks for it fails, and removes no file of ours
        assert Path("out.mlir").exists()
        assert session.continue_().status == 1
    assert not Path("out.mlir").exists()


def test_crashed_run_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stock.write("crash.mlir", CRASHING)
    with actiondbg.launch(["mlir-opt", "crash.mlir", "--finalize-memref-to-llvm"]) as session:
        session.options.stop_on_crash = False
        session.start()
        end = session.continue_()
        if end.status == 0:
            pytest.skip("this mlir-opt lowers a memref of i1")
        for _ in range(2):
            stop = session.timeline.reverse_next()
            assert (stop.ordinal, stop.when, stop.name) == (end.ordinal, "before", end.name)
            again = session.continue_()
            assert (again.status, again.message) == (end.status, end.message)
        assert session.timeline.reverse_finish().depth == end.depth - 1
        session.timeline.reverse_step()
        session.breakpoints.catch("crash")
        assert session.continue_().when == "during"
        assert session.continue_().status == end.status
        stop = session.timeline.reverse_continue()
        assert (stop.when, stop.reason, stop.ordinal) == ("during", "catch", end.ordinal)


def test_shown_output_is_not_shown_again(mlir_opt: str, folds: str, tmp_path: Path) -> None:
    argv = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-print-ir-after-all"]
    run = stock.run(argv, check=True)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        with actiondbg.launch(argv, stderr=writing) as session:
            session.breakpoints.add("pass:cse")
            session.run()
            os.close(writing)
            session.timeline.goto(1)
            session.continue_()
            session.timeline.goto(2)
            session.continue_()
            assert session.continue_().status == 0
            assert session.target.output() == run.stdout
        assert pipe.read().decode() == run.stderr


def test_output_of_a_new_branch_is_shown_from_its_first_byte(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-print-ir-after-all"]
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        with os.fdopen(writing, "wb") as end, actiondbg.launch(argv, stderr=end) as session:
            session.breakpoints.add("pass:cse")
            session.run()
            session.timeline.goto(1)
            session.skip()
            assert session.continue_().status == 0
        shown = pipe.read().decode()
    dumps = ["Canonicalizer", "Canonicalizer", "CSE"]  # the first is of the first timeline
    assert re.findall(r"^// -----// IR Dump After (\w+)", shown, re.MULTILINE) == dumps
    before, of_branch = shown.split("// -----// IR Dump After Canonicalizer")[1:]
    assert before.count("arith.addi") < of_branch.split("// -----//")[1].count("arith.addi")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_messages_in_the_same_file_are_not_truncated(
    mlir_opt: str, folds: str, options: list[str]
) -> None:
    """Our output and the tool's go into one file, and what is in it has been shown."""
    tool = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-print-ir-after-all"]
    lines = ["break pass:cse", "run", "goto #1", "continue", "goto #2", "continue", "continue"]
    commands = [word for line in lines for word in ("-ex", line)]
    argv = [str(Path(sys.executable).with_name("actiondbg")), "-nx", "--batch", *options]
    with open("out", "w") as out, open("err", "w") as err:
        subprocess.run([*argv, *commands, *tool], stdout=out, stderr=err, check=True)
    said, errors = Path("out").read_text(), Path("err").read_text()
    alone = stock.run(tool, check=True)
    assert "\0" not in said + errors
    if options:
        assert len(said.splitlines()) == len(lines)
        assert sorted(errors.splitlines()) == sorted((alone.stderr + alone.stdout).splitlines())
    else:
        assert said.count("Stopped before #") == 2 and said.count("Breakpoint 1, stopped") == 3
        assert said.count(alone.stdout) == 1
        note = "Threading of the tool is switched off while it is debugged.\n"
        assert errors.replace(note, "") == alone.stderr
