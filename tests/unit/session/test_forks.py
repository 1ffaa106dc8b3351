"""Forks of a fake tool: what they are for, how they end, and closing them in other threads."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from actiondbg import protocol
from actiondbg.errors import AgentError, NotStopped, ToolGone
from actiondbg.process.forked_tool import ForkedTool, ForkOwner
from actiondbg.process.tool_process import Listener
from actiondbg.support.interrupts import HeldInterrupts
from tests.processes import wait_until

if TYPE_CHECKING:
    from actiondbg.session.session import Session
    from tests.fakes.agent.fixtures import Launch


def origin_of(session: Session) -> ForkedTool:
    assert session.execution is not None
    return session.execution.origin


def at_start(fake: Launch, *options: str) -> ForkedTool:
    """Start the fake, and return the checkpoint of its beginning."""
    session = fake(*options)
    session.start()
    return origin_of(session)


def in_thread(action: Callable[[], object]) -> Callable[[], BaseException | None]:
    """Begin something; the result waits for its end, and returns what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def join() -> BaseException | None:
        thread.join(30)
        assert not thread.is_alive()
        return raised[0] if raised else None

    return join


def descriptors() -> int:
    gc.collect()  # what other tests have left may hold some
    return len(os.listdir("/proc/self/fd"))


def test_the_origin_is_a_checkpoint_of_the_beginning(fake: Launch) -> None:
    origin = at_start(fake)
    assert (origin.role, origin.event, origin.stop) == ("checkpoint", 0, None)
    assert origin.pid == origin.hello.pid and not origin.is_gone
    status = origin.request(protocol.GetStatus())
    assert (status.event, status.written, status.passed) == (0, (0, 0), [])


def test_go_stops_at_the_event(fake: Launch) -> None:
    with at_start(fake).fork() as one:
        for event, when, ordinal, nth in ((2, "before", 2, 1), (6, "after", 1, 1)):
            stop = one.go(event)
            assert (stop.event, stop.when, stop.ordinal, stop.nth) == (event, when, ordinal, nth)
            assert (stop.reason, one.event) == ("until", event)
        assert one.go(6) is one.stop, "it stands there"
        with pytest.raises(AgentError, match="event 5 has passed"):
            one.go(5)
        with one.fork("checkpoint") as same:
            assert (same.role, same.event, same.stop) == ("checkpoint", 6, one.stop)
            assert (same.hello.event, same.hello.when) == (6, "after")
            assert same.go(8).ordinal == 5
        with pytest.raises(ToolGone, match=r"diverged: .* ended after 5 actions"):
            one.go(11)
        assert one.is_closed


def test_hits_before_the_event_do_not_stop(fake: Launch) -> None:
    session = fake()
    session.breakpoints.add("tag:apply-*")
    session.run()
    replica = origin_of(session).fork()
    wire = [
        protocol.WireBreakpoint(
            id=4,
            enabled=True,
            temporary=False,
            after=False,
            ignore=0,
            terms=[protocol.Term(kind="tag", glob="apply-*")],
            condition=None,
        )
    ]
    replica.request(protocol.SetBreakpoints(breakpoints=wire))
    stop = replica.go(8, keep=1)
    assert (stop.reason, stop.breakpoints) == ("breakpoint", [4]), "hit exactly there"
    status = replica.request(protocol.GetStatus())
    assert status.passed == [protocol.Passed(event=4, during=0)]
    assert replica.request(protocol.GetHits()).hits == [protocol.Hits(id=4, hits=3)]


def test_apply_applies_an_action_of_the_skip_plan(fake: Launch) -> None:
    with at_start(fake).fork() as one:
        one.request(protocol.SetSkips(ordinals=[2, 3]))
        assert one.go(2).skipped
        assert not one._resume(protocol.Resume(control="apply", event=3)).skipped
        assert one.go(4).skipped and one.go(5).skipped


def test_a_trial_is_run_to_its_end_into_files_of_its_own(fake: Launch, tmp_path: Path) -> None:
    session = fake("--print", "words\n", "--exit", "3")
    session.start()
    origin = origin_of(session)
    before = descriptors()
    out, err = str(tmp_path / "out"), str(tmp_path / "err")
    trial = origin.fork("trial", stdout=out, stderr=err)
    assert trial.role == "trial"
    stop = trial.complete()
    assert (stop.when, stop.reason, stop.status, stop.actions) == ("exit", "exited", 3, 5)
    assert (stop.event, trial.stop, trial.is_closed) == (10, stop, True)
    assert trial.exited is not None and trial.exited.written == (6, 0)
    assert Path(out).read_text() == "words\n"
    assert Path(err).read_text() == "the fake's last words\n"
    assert descriptors() == before
    with pytest.raises(NotStopped, match="closed"):
        trial.complete()
    trial.close()
    assert session.target.output() == "words\n"


def test_a_trial_that_crashes(fake: Launch) -> None:
    trial = at_start(fake, "--crash-in", "3").fork("trial")
    stop = trial.complete()
    assert (stop.reason, stop.ordinal, stop.status) == ("crashed", 3, -signal.SIGABRT)
    assert stop.event == 4 and trial.crashed is not None and trial.is_closed


def test_trial_without_a_message_at_its_end(fake: Launch) -> None:
    trial = at_start(fake, "--slow-replica").fork("trial")
    os.kill(trial.pid, signal.SIGKILL)
    stop = trial.complete()
    assert (stop.reason, stop.status) == ("killed", -signal.SIGKILL)
    assert trial.is_gone and trial.is_closed


def test_trial_that_stops_early_stays_stopped(fake: Launch) -> None:
    with at_start(fake).fork("trial") as trial:
        trial.go(3)
        trial.request(protocol.SetBreakpoints(breakpoints=[_breakpoint_at(5)]))
        assert trial.complete().ordinal == 5
        assert not trial.is_closed
        assert trial.complete().when == "exit"


def _breakpoint_at(ordinal: int) -> protocol.WireBreakpoint:
    return protocol.WireBreakpoint(
        id=1,
        enabled=True,
        temporary=False,
        after=False,
        ignore=0,
        terms=[protocol.Term(kind="ordinal", ordinal=ordinal)],
        condition=None,
    )


def test_a_trial_that_takes_too_long_is_closed(fake: Launch) -> None:
    trial = at_start(fake, "--slow-replica").fork("trial")
    with pytest.raises(TimeoutError):
        trial.complete(0.2)
    assert trial.is_closed and trial.is_gone


def _continue(trial: ForkedTool) -> object:
    return trial.resume("continue")


def _go(trial: ForkedTool) -> object:
    return trial.go(4)


@pytest.mark.parametrize("wait", [ForkedTool.complete, _go, _continue])
def test_closing_a_fork_that_another_thread_waits_for(
    fake: Launch, wait: Callable[[ForkedTool], object]
) -> None:
    origin = at_start(fake, "--slow-replica")
    before = descriptors()
    for _ in range(5):
        trial = origin.fork("trial")
        join = in_thread(lambda trial=trial: wait(trial))
        wait_until(lambda trial=trial: trial._process._users)
        trial.close()
        error = join()
        assert isinstance(error, ToolGone) and "was closed" in str(error)
        assert trial.is_closed and trial.is_gone
        trial.close()
    assert descriptors() == before


def test_several_threads_fork_and_run_one_checkpoint(fake: Launch, tmp_path: Path) -> None:
    session = fake("--exit", "5")
    session.start()
    origin = origin_of(session)
    before = descriptors()
    handler = signal.getsignal(signal.SIGINT)
    statuses: list[int | None] = []

    def run(number: int) -> None:
        for _ in range(3):
            trial = origin.fork("trial", stderr=str(tmp_path / f"err{number}"))
            statuses.append(trial.complete(30).status)

    joins = [in_thread(lambda number=number: run(number)) for number in range(3)]
    assert [join() for join in joins] == [None] * 3
    assert statuses == [5] * 9
    assert descriptors() == before
    assert session.step().ordinal == 2, "interrupts are held and let go as before"
    assert signal.getsignal(signal.SIGINT) is handler


def test_ending_the_run_ends_the_forks_of_other_threads(fake: Launch) -> None:
    session = fake("--slow-replica")
    session.start()
    origin = origin_of(session)

    def fork_and_run() -> None:
        while True:
            origin.fork("trial").complete()

    joins = [in_thread(fork_and_run) for _ in range(2)]
    session.kill()
    assert all(isinstance(join(), AgentError | NotStopped | ToolGone) for join in joins)


def test_hand_over(fake: Launch) -> None:
    origin = at_start(fake, "--exit", "4")
    one = origin.fork("tool", muted=(3, 4, 0), shared=[1])
    client, pidfd = one.hand_over()
    assert one.is_closed
    one.close()
    assert client.request(protocol.GetStatus()).event == 0, "it lives on"
    with pytest.raises(NotStopped):
        one.hand_over()
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    client.close()
    os.close(pidfd)


# --- those that connect by themselves ---


@pytest.fixture
def listener(base: Path) -> Iterator[Listener]:
    made = Listener(base / "sock", backlog=100)
    yield made
    made.close()


def accept(forks: ForkOwner, listener: Listener, count: int) -> list[ForkedTool]:
    """Accept so many forks, which connect in any order; return them by their events."""
    deadline = time.monotonic() + 30
    accepted = forks.accept_all(listener)
    while len(accepted) < count and time.monotonic() < deadline:
        time.sleep(0.01)
        accepted += forks.accept_all(listener)
    return sorted(accepted, key=lambda one: one.event)


def test_checkpoints_that_the_tool_takes_are_accepted(fake: Launch, listener: Listener) -> None:
    session = fake()
    session.start()
    run = session.execution
    assert run is not None
    forks = run._forks
    assert forks.accept_all(listener) == []
    wanted = protocol.CheckpointOptions(socket=str(listener.path), milliseconds=1, megabytes=9)
    run.request(protocol.SetOptions(checkpoints=wanted))
    session.continue_()
    assert session.state == "exited"
    accepted = accept(forks, listener, 4)
    assert [(one.role, one.event, one.hello.ordinal) for one in accepted] == [
        ("checkpoint", 1, 1),
        ("checkpoint", 3, 2),
        ("checkpoint", 6, 3),
        ("checkpoint", 7, 4),
    ]
    assert [one.stop for one in accepted] == [None] * 4
    assert all(one.hello.when is None for one in accepted)
    with accepted[1].fork() as replica:
        assert (replica.event, replica.go(4).ordinal) == (3, 3), "the event after it is the next"
    os.kill(accepted[0].pid, signal.SIGKILL)
    assert accepted[0]._process.wait(30) and accepted[0].is_gone
    assert not accepted[1].is_gone
    assert forks.accept_all(listener) == []


def test_checkpoints_that_have_ended_are_dropped(fake: Launch, listener: Listener) -> None:
    session = fake()
    session.start()
    run = session.execution
    assert run is not None
    wanted = protocol.CheckpointOptions(socket=str(listener.path), milliseconds=1, megabytes=9)
    run.request(protocol.SetOptions(checkpoints=wanted))
    session.step()
    before = descriptors()
    (dropped,) = accept(run._forks, listener, 1)
    dropped.close()
    session.step(2)
    pid = os.fork()
    if pid == 0:  # one that says nothing, and is gone
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(listener.path))
        os._exit(0)
    os.waitpid(pid, 0)
    (kept,) = accept(run._forks, listener, 1)
    assert kept.event == 3
    kept.close()
    assert descriptors() == before


def test_connection_without_hello_is_no_checkpoint(base: Path, listener: Listener) -> None:
    forks = ForkOwner(base, HeldInterrupts())
    before = descriptors()
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as wrong:
        silent.connect(str(listener.path))
        wrong.connect(str(listener.path))
        wrong.sendall(b"garbage\n")
        assert forks.accept_all(listener) == []
    assert descriptors() == before
