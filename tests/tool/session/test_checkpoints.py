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
from tests.fakes.stops import all_stops, alone, place, processes, processes_of, same

Launch = Callable[..., actiondbg.Session]


# --- checkpoints ----------------------------------------------------------------------------------


def test_a_tool_that_was_killed_takes_no_checkpoint_along(launch: Launch) -> None:
    session = launch()
    stops = all_stops(session)
    session.goto(5)
    made = session.checkpoint()
    pid = session.goto(9) and session.pid
    assert pid
    os.kill(pid, signal.SIGKILL)  # nobody has noticed yet
    stop = session.reverse_next()
    assert same(stop, stops[stop.event]) and stop.message is None
    assert [one.pid for one in session.checkpoints()] == [made.pid]
    assert same(session.restart_from(1), stops[made.event])
    assert session.continue_().status == 0


def test_checkpoints(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    with pytest.raises(errors.NotStopped):
        session.checkpoint()
    session.goto(5)
    first = session.checkpoint()
    session.goto(9, "after")
    second = session.checkpoint()
    assert [one.number for one in session.checkpoints()] == [1, 2]
    assert (first.ordinal, first.when, second.ordinal, second.when) == (5, "before", 9, "after")
    assert session.continue_().status == 0
    assert same(session.restart_from(1), stops[first.event])
    assert same(session.restart_from(2), stops[second.event])
    assert same(session.restart_from(1), stops[first.event])
    assert same(session.step(), stops[first.event + 1])
    session.delete_checkpoint(1)
    for forget in (session.delete_checkpoint, session.restart_from):
        with pytest.raises(errors.UsageError, match="no checkpoint 1: there are 2"):
            forget(1)
    os.kill(second.pid, signal.SIGKILL)
    stock.wait_until_gone(second.pid)
    assert session.checkpoints() == []
    assert place(session.wait()) == (first.event + 1, *place(stops[first.event + 1])[1:])
    session.restart()
    assert session.checkpoint().number == 1  # of another run


def long(launch: Launch) -> actiondbg.Session:
    session = launch(
        f"--pass-pipeline={PIPELINE}", source=str(many_functions(Path("many.mlir"), 20))
    )
    session.checkpoint_spacing = 1
    return session


def test_the_tool_makes_checkpoints_of_itself(launch: Launch) -> None:
    session = long(launch)
    session.start()
    session.continue_()
    assert 1 < session.automatic_checkpoints().count <= 64
    assert session.automatic_checkpoints().bytes > 0
    assert session.reverse_step().when == "after"
    session.checkpoint_memory = 1
    session.continue_()
    session.reverse_step()
    assert session.automatic_checkpoints().count <= 2
    session.checkpoint_spacing = 0
    session.restart()
    session.continue_()
    assert session.automatic_checkpoints().count == 0
    assert session.output() == alone(session)
    with pytest.raises(errors.UsageError):
        session.checkpoint_spacing = -1
    with pytest.raises(errors.UsageError):
        session.checkpoint_memory = 0


def test_a_run_that_nobody_stops_makes_no_checkpoints(launch: Launch) -> None:
    session = long(launch)
    session.run()
    assert session.automatic_checkpoints().count == 0


# --- the end -----------------------------------------------------------------------------------


def test_an_interrupt_on_the_way_back_leaves_the_tool_where_it_was(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch("--canonicalize", "--cse", "--mlir-print-ir-after-all")
    session.checkpoint_spacing = 0
    session.add_breakpoint("pass:cse", after=True)
    stop = session.run()
    text, said, pid = stock.module(session), session.errors(), session.pid
    session.delete_breakpoints([1])
    from actiondbg.process.forked_tool import ForkedTool

    go = ForkedTool.go

    def interrupted(replica: ForkedTool, event: int, keep: int = 0) -> Stop:
        go(replica, event, keep)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ForkedTool, "go", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.reverse_step(3)
    assert (session.stop, session.pid) == (stop, pid)
    assert (stock.module(session), session.errors()) == (text, said)
    session.reverse_step()
    session.continue_()
    run = stock.run(session.argv, check=True)
    assert (session.output(), session.errors()) == (run.stdout, run.stderr)


def test_ctrl_c_on_the_way_back_leaves_the_tool_where_it_was(launch: Launch) -> None:
    session = launch(
        f"--pass-pipeline={PIPELINE}", source=str(many_functions(Path("many.mlir"), 150))
    )
    session.checkpoint_spacing = 0
    session.start()
    end = session.continue_()
    pid = len(processes(session))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.reverse_step()
        timer.join()  # it was faster than that: let it come here
    assert session.stop is not None
    if session.stop.when == "exit":
        assert session.stop == end
        assert len(processes(session)) == pid
    session.reverse_step()
    assert session.continue_().actions == end.actions
    assert session.output() == alone(session)


def test_all_processes_end_with_the_session(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    session.checkpoint_spacing = 1
    session.start()
    session.continue_()
    session.goto(20)
    session.checkpoint()
    session.goto(7)
    assert len(processes(session)) >= 3
    session.close()
    assert processes(session) == []


@pytest.mark.parametrize("doing", ["time.sleep(60)", "while True: s.goto(12); s.continue_()"])
def test_all_processes_end_when_the_front_end_is_killed(
    mlir_opt: str, folds: str, doing: str
) -> None:
    script = (
        "import actiondbg, sys, time\n"
        "s = actiondbg.launch(sys.argv[1:])\n"
        "s.checkpoint_spacing = 1\n"
        "s.start(); s.continue_(); s.goto(20); s.checkpoint(); s.goto(7); s.goto(12)\n"
        f"print('there', flush=True)\n{doing}\n"
    )
    argv = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-disable-threading"]
    front = subprocess.Popen([sys.executable, "-c", script, *argv], stdout=subprocess.PIPE)
    assert front.stdout is not None and front.stdout.readline() == b"there\n"
    front.stdout.close()
    assert len(processes_of(folds, str(Path(folds).parent.absolute()))) >= 3
    front.kill()
    front.wait()
    for _ in range(100):
        if not (left := processes_of(folds, str(Path.cwd()))):
            break
        time.sleep(0.1)
    assert left == []
