"""Going back where something goes wrong: no forks, processes that end, interrupts."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from actiondbg import errors
from actiondbg.process.execution import Execution
from actiondbg.process.stop import Stop
from actiondbg.process.tool_process import Listener
from actiondbg.session.session import Session
from tests.fakes import stock_tool as stock
from tests.fakes.functions import returning

if TYPE_CHECKING:
    from tests.fakes.agent.fixtures import Launch


AGAIN = "it was started again and replayed from its start"


def at_event(session: Session, event: int) -> Stop:
    session.start()
    stop = session.step(event - 1) if event > 1 else session.wait()
    assert stop.event == event
    return stop


def processes(session: Session) -> set[int]:
    tool = session.target.argv[0].encode()
    found: set[int] = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if tool in entry.read_bytes().split(b"\0"):
                found.add(int(entry.parent.name))
    return found


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    stock.wait_until_gone(pid)


# --- without forks ----------------------------------------------------------------------------


@pytest.mark.parametrize("option", [["--no-fork"], ["--fork", "dies"]])
def test_without_forks_the_run_is_repeated(fake: Launch, option: list[str]) -> None:
    session = fake(*option, "--print", "words")
    at_event(session, 6)
    pid = session.target.pid
    stop = session.timeline.reverse_step()
    assert (stop.event, stop.when, stop.ordinal) == (5, "after", 3)
    assert stop.message is not None and AGAIN in stop.message
    assert session.stop == stop
    assert session.target.pid != pid and pid not in processes(session)
    assert session.step().event == 6
    assert session.timeline.goto(2).event == 2
    assert session.continue_().status == 0
    assert session.target.output() == "words"
    assert session.target.errors() == "the fake's last words\n"
    stop = session.timeline.reverse_step()
    assert stop.event == 10
    assert session.target.errors() == ""
    session.kill()
    assert session.target.output() == "words"


def test_without_forks_skips_and_breakpoints_are_kept(fake: Launch) -> None:
    session = fake("--no-fork")
    session.breakpoints.add("pattern:FoldA")
    at_event(session, 4)
    session.skip()
    stop = session.timeline.goto(3)
    assert stop.skipped
    assert session.step().skipped
    session.timeline.goto(2)
    assert [one.hits for one in session.breakpoints.all()] == [1]
    assert session.continue_().ordinal == 5
    assert session.timeline.branches().branches[0].skips[0].ordinal == 3


def test_without_forks_nothing_is_frozen(fake: Launch) -> None:
    session = fake("--no-fork")
    at_event(session, 4)
    assert session.timeline.checkpoints.all() == []
    assert session.timeline.checkpoints.automatic().count == 0
    with pytest.raises(errors.NoAnswer, match="cannot fork the tool"):
        session.timeline.reverse_continue()
    assert session.stop is not None and session.stop.event == 4


def test_an_interrupt_of_a_repeated_run(fake: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    session = fake("--no-fork", "--print", "words")
    stop = at_event(session, 6)

    def interrupted(_: Execution) -> Stop:
        raise KeyboardInterrupt

    pid = session.target.pid
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Execution, "wait", interrupted)
        session.timeline.reverse_step()
    assert (session.stop, session.target.pid, session.target.output()) == (stop, pid, "words")
    assert len(processes(session)) == 1
    assert session.step().event == 7


def test_lost_checkpoints(fake: Launch) -> None:
    session = fake()
    session.timeline.checkpoints.spacing = 0
    at_event(session, 6)
    session.timeline.checkpoints.add()
    assert session.execution is not None
    for pid in (session.execution.origin.pid, session.timeline.checkpoints.all()[0].pid):
        kill(pid)
    stop = session.timeline.reverse_step()
    assert stop.event == 5
    assert stop.message is not None and AGAIN in stop.message


# --- what takes the tool's place ------------------------------------------------------------------


def test_restored_tool_ends_with_its_status(fake: Launch) -> None:
    session = fake("--exit", "3")
    at_event(session, 6)
    session.timeline.reverse_step(2)
    stop = session.continue_()
    assert (stop.status, stop.actions, stop.event) == (3, 5, 10)
    assert session.exit_status == 3
    session.timeline.reverse_step()
    assert session.exit_status is None
    assert session.continue_().status == 3


def test_restored_tool_crashes(fake: Launch) -> None:
    session = fake("--crash-in", "5")
    at_event(session, 6)
    session.timeline.reverse_step(2)
    stop = session.continue_()
    assert (stop.reason, stop.ordinal, stop.status) == ("crashed", 5, -signal.SIGABRT)
    assert session.timeline.reverse_next().ordinal == 5


def test_restored_tool_is_killed(fake: Launch) -> None:
    session = fake()
    at_event(session, 6)
    session.timeline.reverse_step()
    assert session.target.pid is not None
    kill(session.target.pid)
    with pytest.raises(errors.ToolGone):
        session.stack.frames()
    assert session.stop is not None
    assert (session.stop.reason, session.stop.status) == ("killed", -signal.SIGKILL)
    stop = session.timeline.reverse_step()  # to where it was
    assert stop.event == 5
    session.kill()
    assert processes(session) == set()


def test_tool_survives_the_end_of_a_fork(fake: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    session = fake()
    stop = at_event(session, 6)
    from actiondbg.process.forked_tool import ForkedTool

    def ends(replica: ForkedTool, *_: object) -> Stop:
        kill(replica.pid)
        return replica.resume("step")

    pid = session.target.pid
    with monkeypatch.context() as patch, pytest.raises(errors.ToolGone):
        patch.setattr(ForkedTool, "go", ends)
        session.timeline.reverse_step()
    assert (session.stop, session.target.pid) == (stop, pid)
    assert session.step().event == 7


def test_stop_that_is_not_reached_again(fake: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    session = fake()
    stop = at_event(session, 6)
    from actiondbg.process.forked_tool import ForkedTool

    go: Callable[[ForkedTool, int], Stop] = ForkedTool.go

    def go_short(forked: ForkedTool, event: int) -> Stop:
        return go(forked, event - 1)

    with (
        monkeypatch.context() as patch,
        pytest.raises(errors.NoAnswer, match="Replay diverged: event"),
    ):
        patch.setattr(ForkedTool, "go", go_short)
        session.timeline.reverse_step()
    assert session.stop == stop


def test_time_travel_needs_a_stop(fake: Launch) -> None:
    session = fake()
    calls: list[Callable[[], object]] = [
        session.timeline.checkpoints.add,
        session.timeline.reverse_step,
        session.timeline.reverse_next,
        session.timeline.reverse_finish,
        session.timeline.reverse_continue,
        session.timeline.branches,
        lambda: session.timeline.goto(1),
        lambda: session.timeline.checkpoints.restore(1),
        lambda: session.timeline.checkpoints.delete(1),
        lambda: session.skips.save("x"),
    ]
    for call in calls:
        with pytest.raises(errors.NotStopped):
            call()
    assert session.timeline.checkpoints.all() == []
    session.start()
    for count in (0, -1):
        with pytest.raises(errors.UsageError):
            session.timeline.reverse_step(count)
    with pytest.raises(errors.ControlRefused):
        session.timeline.reverse_step()


def test_late_checkpoint_belongs_to_its_timeline(
    fake: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint may connect when the tool is on another branch already."""
    session = fake()
    session.start()
    with monkeypatch.context() as patch:
        patch.setattr(Listener, "accept_pending", returning(None))
        session.step(7)
        made_before = processes(session)
        session.timeline.goto(2)
        session.skip()
        assert session.timeline.branches().current == 2
    session.timeline.reverse_step()
    run = session.execution
    assert run is not None
    held = [(one.tool.pid, one.branch) for one in run.checkpoints._automatic]
    assert {branch for pid, branch in held if pid in made_before} <= {1}
    assert 2 in {branch for _, branch in held}
    assert session.timeline.goto(2).skipped


def test_branch_writes_its_whole_output(fake: Launch) -> None:
    """What the old timeline had shown on a pipe must not keep the new one silent."""
    session = fake("--print", "words")
    at_event(session, 4)
    session.timeline.reverse_step()
    pid = session.target.pid
    session.timeline.goto(2)
    stop = session.skip(1)
    assert stop.when == "exit"
    session.timeline.goto(2)
    pid = session.target.pid
    session.apply()
    assert session.timeline.branches().current == 3
    assert session.target.pid != pid and pid not in processes(session)
