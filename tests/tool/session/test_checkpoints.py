"""Checkpoints of the real tool, and that nothing of a session is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.fakes import stock_tool as stock
from tests.fakes.folds import write_folds
from tests.fakes.stops import all_stops, alone, place, processes, processes_of, same

Launch = Callable[..., actiondbg.Session]


# --- checkpoints ----------------------------------------------------------------------------------


def test_checkpoints_survive_a_killed_tool(launch: Launch) -> None:
    session = launch()
    stops = all_stops(session)
    session.timeline.goto(5)
    made = session.timeline.checkpoints.add()
    pid = session.timeline.goto(9) and session.target.pid
    assert pid
    os.kill(pid, signal.SIGKILL)  # nobody has noticed yet
    stop = session.timeline.reverse_next()
    assert same(stop, stops[stop.event]) and stop.message is None
    assert [one.pid for one in session.timeline.checkpoints.all()] == [made.pid]
    assert same(session.timeline.checkpoints.restore(1), stops[made.event])
    assert session.continue_().status == 0


def test_checkpoints(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    with pytest.raises(errors.NotStopped):
        session.timeline.checkpoints.add()
    session.timeline.goto(5)
    first = session.timeline.checkpoints.add()
    session.timeline.goto(9, "after")
    second = session.timeline.checkpoints.add()
    assert [one.number for one in session.timeline.checkpoints.all()] == [1, 2]
    assert (first.ordinal, first.when, second.ordinal, second.when) == (5, "before", 9, "after")
    assert session.continue_().status == 0
    assert same(session.timeline.checkpoints.restore(1), stops[first.event])
    assert same(session.timeline.checkpoints.restore(2), stops[second.event])
    assert same(session.timeline.checkpoints.restore(1), stops[first.event])
    assert same(session.step(), stops[first.event + 1])
    session.timeline.checkpoints.delete(1)
    for forget in (session.timeline.checkpoints.delete, session.timeline.checkpoints.restore):
        with pytest.raises(errors.UsageError, match="no checkpoint 1: the only one is 2"):
            forget(1)
    os.kill(second.pid, signal.SIGKILL)
    stock.wait_until_gone(second.pid)
    assert session.timeline.checkpoints.all() == []
    assert place(session.wait()) == (first.event + 1, *place(stops[first.event + 1])[1:])
    session.restart()
    assert session.timeline.checkpoints.add().number == 1  # of another run


def long(launch: Launch, functions: int = 20) -> actiondbg.Session:
    source = many_functions(Path("many.mlir"), functions)
    session = launch(f"--pass-pipeline={PIPELINE}", source=str(source))
    session.timeline.checkpoints.spacing = 1
    return session


def test_tool_makes_automatic_checkpoints(launch: Launch) -> None:
    session = long(launch, functions=200)  # they are further apart where forks take long
    session.start()
    session.continue_()
    assert 1 < session.timeline.checkpoints.automatic().count <= 64
    assert session.timeline.checkpoints.automatic().bytes > 0
    assert session.timeline.reverse_step().when == "after"
    session.timeline.checkpoints.memory = 1
    session.continue_()
    session.timeline.reverse_step()
    assert session.timeline.checkpoints.automatic().count <= 2
    session.timeline.checkpoints.spacing = 0
    session.restart()
    session.continue_()
    assert session.timeline.checkpoints.automatic().count == 0
    assert session.target.output() == alone(session)
    with pytest.raises(errors.UsageError):
        session.timeline.checkpoints.spacing = -1
    with pytest.raises(errors.UsageError):
        session.timeline.checkpoints.memory = 0


def test_reverse_continue_finds_ends_of_actions_around_checkpoints(launch: Launch) -> None:
    """The breakpoint is not set yet when the tool makes the checkpoints inside of the pass."""
    source = write_folds(Path("many-folds.mlir"), 4000)
    session = launch("--canonicalize", "--cse", source=source)
    session.start()
    session.timeline.checkpoints.spacing = 1
    session.continue_()
    assert session.timeline.checkpoints.automatic().count > 0
    for outcome in (None, "changed"):
        session.breakpoints.add("pass:canonicalize", after=outcome is None, outcome=outcome)
        stop = session.timeline.reverse_continue()
        assert (stop.when, stop.ordinal, stop.reason) == ("after", 1, "breakpoint")
        session.breakpoints.delete([one.id for one in session.breakpoints.all()])
        session.continue_()


def test_run_without_a_stop_makes_no_checkpoints(launch: Launch) -> None:
    session = long(launch)
    session.run()
    assert session.timeline.checkpoints.automatic().count == 0


# --- the end -----------------------------------------------------------------------------------


def test_interrupted_reverse_control_keeps_the_position(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch("--canonicalize", "--cse", "--mlir-print-ir-after-all")
    session.timeline.checkpoints.spacing = 0
    session.breakpoints.add("pass:cse", after=True)
    stop = session.run()
    text, said, pid = stock.module(session), session.target.errors(), session.target.pid
    session.breakpoints.delete([1])
    from actiondbg.process.forked_tool import ForkedTool

    go = ForkedTool.go

    def interrupted(replica: ForkedTool, event: int, keep: int = 0) -> Stop:
        go(replica, event, keep)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ForkedTool, "go", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.timeline.reverse_step(3)
    assert (session.stop, session.target.pid) == (stop, pid)
    assert (stock.module(session), session.target.errors()) == (text, said)
    session.timeline.reverse_step()
    session.continue_()
    run = stock.run(session.target.argv, check=True)
    assert (session.target.output(), session.target.errors()) == (run.stdout, run.stderr)


def test_ctrl_c_in_a_reverse_control_keeps_the_position(launch: Launch) -> None:
    session = launch(
        f"--pass-pipeline={PIPELINE}", source=str(many_functions(Path("many.mlir"), 150))
    )
    session.timeline.checkpoints.spacing = 0
    session.start()
    end = session.continue_()
    pid = len(processes(session))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.timeline.reverse_step()
        timer.join()  # it was faster than that: let it come here
    assert session.stop is not None
    if session.stop.when == "exit":
        assert session.stop == end
        assert len(processes(session)) == pid
    session.timeline.reverse_step()
    assert session.continue_().actions == end.actions
    assert session.target.output() == alone(session)


def test_all_processes_end_with_the_session(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    session.timeline.checkpoints.spacing = 1
    session.start()
    session.continue_()
    session.timeline.goto(20)
    session.timeline.checkpoints.add()
    session.timeline.goto(7)
    assert len(processes(session)) >= 3
    session.close()
    assert processes(session) == []


@pytest.mark.parametrize(
    "doing", ["time.sleep(60)", "while True: s.timeline.goto(12); s.continue_()"]
)
def test_all_processes_end_when_the_front_end_is_killed(
    mlir_opt: str, folds: str, doing: str
) -> None:
    script = (
        "import actiondbg, sys, time\n"
        "s = actiondbg.launch(sys.argv[1:])\n"
        "s.timeline.checkpoints.spacing = 1\n"
        "s.start(); s.continue_(); s.timeline.goto(20); s.timeline.checkpoints.add()\n"
        "s.timeline.goto(7); s.timeline.goto(12)\n"
        f"print('there', flush=True)\n{doing}\n"
    )
    argv = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-disable-threading"]
    front = subprocess.Popen([sys.executable, "-c", script, *argv], stdout=subprocess.PIPE)
    assert front.stdout is not None and front.stdout.readline() == b"there\n"
    front.stdout.close()
    assert len(processes_of(folds, str(Path(folds).parent.absolute()))) >= 3
    front.kill()
    front.wait()
    deadline = time.monotonic() + 30
    while (left := processes_of(folds, str(Path.cwd()))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
