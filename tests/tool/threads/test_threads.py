"""Threads that run passes, each in a context of its own."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import NoAnswer, ToolGone
from actiondbg.process.stop import Stop
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.session.session import Session
from tests.elements import some
from tests.fakes.interrupts import stop_inside
from tests.fakes.threads import build

SUM = """\
func.func @sum(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %x = arith.addi %a, %c0 : i32
  return %x : i32
}
"""


_MODES = (
    "each",
    "race",
    "nested",
    "end",
    "exit",
    "fork",
    "forks",
    "first",
    "jump",
    "wait",
    "wrong",
)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threads")
    (folder / "sum.mlir").write_text(SUM)
    return build(folder)


def _argv(tool: Path, mode: str) -> list[str]:
    return [str(tool), mode, str(tool.parent / "sum.mlir")]


@pytest.fixture
def alone(tool: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    """What the tool does without the debugger, by mode."""
    return {
        mode: subprocess.run(_argv(tool, mode), capture_output=True, text=True, check=False)
        for mode in _MODES
    }


def _stops(session: Session) -> Iterator[Stop]:
    stop = session.run()
    while stop.when != "exit":
        yield stop
        stop = session.continue_()


def test_a_breakpoint_stops_in_each_thread_and_context(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "each")) as session:
        session.breakpoints.add("pass:canonicalize")
        stops = list(_stops(session))
    assert [stop.context for stop in stops] == ["c0", "c1", "c2", "c3"]
    assert [stop.thread for stop in stops] == ["t0", "t1", "t2", "t3"]
    # The actions of each thread are numbered as those of the first.
    ordinals = [stop.ordinal for stop in stops]
    distances = {after - before for before, after in itertools.pairwise(ordinals)}
    assert len(distances) == 1


def test_every_mode_writes_what_it_writes_alone(
    tool: Path, alone: dict[str, subprocess.CompletedProcess[str]]
) -> None:
    for mode, expected in some(alone.items()):
        with actiondbg.launch(_argv(tool, mode)) as session:
            session.breakpoints.add("pass:cse")
            stops = list(_stops(session))
            assert session.stop is not None
            assert (mode, session.target.output()) == (mode, expected.stdout)
            assert (mode, session.stop.status) == (mode, expected.returncode)
        assert stops, mode


def test_a_breakpoint_on_a_context_leaves_others_alone(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "each")) as session:
        session.breakpoints.add("context:c[12] and pass:cse")
        session.breakpoints.add("tag:fold", "context == 'c3'")
        stops = list(_stops(session))
    assert [(stop.context, stop.tag) for stop in stops][:2] == [
        ("c1", "pass-execution"),
        ("c2", "pass-execution"),
    ]
    assert {stop.context for stop in stops[2:]} == {"c3"}
    assert len(stops) > 2


def test_contexts_and_threads_are_listed(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "each")) as session:
        session.breakpoints.add("context:c1 and pass:canonicalize")
        session.run()
        contexts = session.contexts
        assert [(one.name, one.thread, one.state) for one in contexts] == [
            ("c0", "t0", "destroyed"),
            ("c1", "t1", "stopped"),
        ]
        assert contexts[0].actions > 1 and contexts[1].actions == 1
        threads = session.threads
        assert [(one.name, one.state, one.context) for one in threads] == [
            ("t0", "running", "c0"),
            ("t1", "stopped", "c1"),
        ]
        assert threads[0].actions == contexts[0].actions
        assert session.status().unfollowed == 0


def test_the_others_wait_at_their_next_action(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "race")) as session:
        session.breakpoints.add("pass:canonicalize")
        stops: list[Stop] = []
        for stop in some(_stops(session)):
            stops.append(stop)
            if stop.thread != "t0":
                _wait_until(session, lambda s: len(s.threads) == 4)
            before = session.status().ordinal
            assert session.status().ordinal == before == stop.ordinal
        assert sorted(stop.context or "" for stop in stops) == ["c0", "c1", "c2", "c3"]
        assert session.stop is not None and session.stop.actions == 4 * (stops[1].ordinal - 1)


def _wait_until(session: Session, holds: Callable[[Session], bool]) -> None:
    end = time.monotonic() + 30
    while not holds(session):
        assert time.monotonic() < end, session.threads
        time.sleep(0.01)


def test_the_others_run_on_if_the_scheduler_lets_them(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "race")) as session:
        session.options.threads_wait = False
        session.breakpoints.add("context:c[123] and pass:canonicalize")
        stop = session.run()
        assert stop.thread == "t1"

        def others_end(session: Session) -> bool:
            return [one.state for one in session.threads].count("ended") == 2

        _wait_until(session, others_end)
        rest = session.status().unfollowed
        assert rest == sum(one.unfollowed for one in session.threads) > 0
        assert session.status().ordinal == stop.ordinal
        assert session.continue_().when == "exit"


def test_an_action_that_waits_for_another_thread_does_not_block_it(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "nested")) as session:
        stop = session.run()
        assert stop.when == "exit" and stop.status == 0
    with actiondbg.launch(_argv(tool, "nested")) as session:
        session.breakpoints.add("pass:canonicalize")
        (stop,) = _stops(session)
        assert (stop.thread, stop.context) == ("t0", "c0")


def test_the_actions_of_the_waited_for_thread_are_counted(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "nested")) as session:
        session.breakpoints.add("pass:canonicalize")
        session.run()
        other = session.threads[1]
        assert other.actions == 0 and other.unfollowed == session.status().unfollowed > 0
        file = tool.parent / "nested.adbrec"
        record(_argv(tool, "nested"), str(file), stdout=os.devnull)
        threads = open_recording(file).table("actions", ["thread"])["thread"].to_pylist()
        assert other.unfollowed == threads.count(max(threads))


def test_a_thread_waits_while_a_fork_of_the_agent_computes(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first thread tries its layouts in forks: it sleeps meanwhile, but is not stuck."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # without the layouts that were proved
    with actiondbg.launch(_argv(tool, "slow")) as session:
        session.breakpoints.add("pass:cse")
        stops = list(_stops(session))
        assert sorted(stop.context or "" for stop in stops) == ["c0", "c1", "c2"]


def test_time_travel_is_refused_once_a_second_thread_ran_actions(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "each")) as session:
        session.breakpoints.add("pass:canonicalize")
        stop = session.run()
        assert stop.unforkable is None and session.can_go_back
        session.step()
        assert session.timeline.reverse_step().ordinal == 1, "one thread so far"
        stop = session.continue_()
        assert (stop.thread, stop.unforkable is not None) == ("t1", True)
        hello = session.target.hello
        assert hello is not None and not {"fork", "ordinals-stable"} & hello.capabilities
        with pytest.raises(NoAnswer, match="several threads"):
            session.timeline.reverse_step()
        with pytest.raises(actiondbg.ActiondbgError, match="several threads"):
            session.timeline.checkpoints.add()
        with pytest.raises(NoAnswer, match="several threads"):
            session.timeline.goto(1)
        with pytest.raises(NoAnswer, match=r"several threads.* 'set count-actions on'"):
            session.past.statistics()
        assert not session.can_go_back
        session.breakpoints.delete([1])
        assert session.continue_().status == 0
        with pytest.raises(NoAnswer, match="several threads"):
            session.timeline.reverse_step()


def test_actions_of_all_threads_are_counted_as_they_run(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "each")) as session:
        session.options.count_actions = True
        session.breakpoints.add("pass:canonicalize")
        session.run()
        while session.continue_().thread == "t0":
            pass
        counts = {row.name: row.attempts for row in session.past.statistics("pass")}
        assert counts["canonicalize"] >= 1


def test_a_crash_in_another_thread_names_its_action(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "crash")) as session:
        stop = session.run()
        assert (stop.when, stop.reason, stop.name) == ("during", "crash", "call")
        assert (stop.context, stop.thread) == ("c1", "t1")
        end = session.continue_()
        assert (end.status, end.name) == (-signal.SIGABRT, "call")


def test_a_stack_that_overflows_in_another_thread_names_its_action(
    tool: Path, tmp_path: Path
) -> None:
    with actiondbg.launch(_argv(tool, "deep")) as session:
        stop = session.run()
        assert (stop.when, stop.reason, stop.name) == ("during", "crash", "call")
        assert (stop.context, stop.thread) == ("c1", "t1")
    run = record(_argv(tool, "deep"), str(tmp_path / "run.adbrec"), stdout=os.devnull)
    assert run.status == -signal.SIGSEGV
    names = open_recording(tmp_path / "run.adbrec").table("actions", ["name"])["name"]
    assert names.to_pylist()[-1] == "call"


def test_a_thread_that_ends_in_its_action_leaves_the_rest_alone(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "end")) as session:
        session.breakpoints.add("pass:cse")
        (stop,) = _stops(session)
        assert (stop.thread, stop.depth) == ("t1", 0)
        assert session.stop is not None and session.stop.status == 0


def test_a_process_that_the_tool_forks_runs_on(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "fork")) as session:
        session.breakpoints.add("pass:cse")
        stops = list(_stops(session))
        assert [(stop.context, stop.thread) for stop in stops] == [("c0", "t0"), ("c1", "t0")]
        assert stops[-1].unforkable is None


def test_a_process_that_forks_before_its_first_context_runs_on(
    tool: Path, alone: dict[str, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w") as out:
        run = record(_argv(tool, "forks"), str(tmp_path / "run.adbrec"), stdout=out)
    assert run.status == alone["forks"].returncode == 5
    assert (tmp_path / "out").read_text() == alone["forks"].stdout
    assert open_recording(tmp_path / "run.adbrec").count > 0


def test_the_first_contexts_of_several_threads(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "first")) as session:
        session.breakpoints.add("pass:canonicalize")
        stops = list(_stops(session))
        assert sorted(stop.context or "" for stop in stops) == ["c0", "c1", "c2"]
        assert len({stop.thread for stop in stops}) == 3


def test_a_replay_that_waits_for_another_thread_is_given_up(
    tool: Path, alone: dict[str, subprocess.CompletedProcess[str]]
) -> None:
    with actiondbg.launch(_argv(tool, "wait")) as session:
        session.breakpoints.add("pass:canonicalize")
        stop = session.run()
        assert stop.unforkable is None
        with pytest.raises(ToolGone, match="waits for another thread of the tool"):
            session.timeline.reverse_step()
        assert session.stop == stop
        session.breakpoints.delete([each.id for each in session.breakpoints.all()])
        assert session.continue_().status == 0
        assert session.target.output() == alone["wait"].stdout


def test_a_replay_that_pauses_goes_on(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "pause")) as session:
        session.breakpoints.add("pass:canonicalize")
        stop = session.run()
        session.timeline.reverse_step()
        assert session.timeline.goto(stop.ordinal) == stop


def test_an_action_that_is_left_by_longjmp_is_over(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "jump")) as session:
        session.breakpoints.add("pass:canonicalize")
        (stop,) = _stops(session)
        assert (stop.context, stop.depth, stop.unforkable) == ("c1", 0, None)
        assert session.stop is not None
        session.timeline.reverse_step()
        session.timeline.goto(stop.ordinal)
        assert len(session.stack.frames()) == 1
        assert [one.actions for one in session.contexts] == [1, 1]


def test_ctrl_c_stops_the_thread_that_computes(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "spin")) as session:
        session.breakpoints.add("pass:call")
        assert session.run().thread == "t1"
        stop = stop_inside(session)
        assert (stop.when, stop.reason, stop.thread) == ("during", "interrupt", "t1")
        assert [frame.name for frame in session.stack.frames()] == ["call"]


def test_a_diagnostic_of_another_thread_is_caught(tool: Path) -> None:
    with actiondbg.launch(_argv(tool, "wrong")) as session:
        session.breakpoints.catch("diagnostic")
        (stop,) = _stops(session)
        assert (stop.when, stop.reason, stop.ordinal) == ("during", "catch", 0)
        assert "no.mlir" in (stop.message or "")
