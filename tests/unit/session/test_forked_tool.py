"""Session against a fake agent: replicas, and the runs that have none."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from actiondbg import protocol
from actiondbg.errors import (
    NoAnswer,
    NotStopped,
    ToolGone,
    UsageError,
)
from actiondbg.process import forked_tool as forks

if TYPE_CHECKING:
    from actiondbg.session.session import Session
    from tests.fakes.agent.fixtures import Launch


def processes(session: Session) -> int:
    from tests.fakes.agent.fixtures import processes_of

    return len(processes_of(session.target.tool.path))


def at(session: Session, ordinal: int, after: bool = False) -> None:
    """Stop at an action."""
    one = session.breakpoints.add(f"#{ordinal}", after=after)
    session.run()
    session.breakpoints.delete([one.id])


def test_the_origin_stays_until_the_session_is_closed(fake: Launch, base: Path) -> None:
    session = fake("--print", "words")
    session.timeline.checkpoints.spacing = 0
    session.start()
    assert processes(session) == 2
    session.continue_()
    assert (session.state, processes(session)) == ("exited", 1)
    assert session.past.why_not("FoldA").attempts
    assert processes(session) == 1
    session.start()
    assert processes(session) == 2, "one of the new run"
    session.kill()
    assert processes(session) == 0
    session.run()
    session.close()
    assert processes(session) == 0
    assert list(base.glob("actiondbg-*")) == []


def test_origin_ends_with_a_killed_front_end(fake: Launch, base: Path) -> None:
    session = fake()
    child = os.fork()
    if child == 0:
        session.start()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    deadline = time.monotonic() + 5
    while processes(session) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes(session) == 0
    fake().run()  # another session removes what the killed one left
    assert len(list(base.glob("actiondbg-*"))) == 1


def test_replica_stops_at_its_event(fake: Launch) -> None:
    session = fake()
    at(session, 4)
    with session.past.replay(2) as one:
        assert one.stop is not None and one.role == "replica"
        assert (one.stop.when, one.stop.ordinal, one.stop.reason) == ("before", 2, "until")
        assert one.request(protocol.GetStatus()).ordinal == 2
        with one.fork() as other:
            assert other.advance(2) == one.stop, "it stands there"
            assert other.advance(2, "after").when == "after"
            assert other.advance(3, "after").ordinal == 3
        assert one.stop.when == "before"
        assert processes(session) == 3
    assert processes(session) == 2
    with pytest.raises(NotStopped, match="fork is closed"):
        one.request(protocol.GetStatus())
    assert session.past.replay(3, "after").stop is not None
    assert processes(session) == 3
    session.close()
    assert processes(session) == 0, "also one that nobody has closed"


@pytest.mark.parametrize(
    ("ordinal", "when", "complaint"),
    [
        (0, "before", "There is no action #0"),
        (3, "before", "#3 has not been dispatched: the newest is #2"),
        (2, "after", "#2 has not ended"),
        (1, "after", "#1 has not ended"),
    ],
)
def test_the_future_is_not_replayed(fake: Launch, ordinal: int, when: str, complaint: str) -> None:
    session = fake()
    at(session, 2)
    with pytest.raises(UsageError, match=complaint):
        session.past.replay(ordinal, when)  # type: ignore[arg-type]


def test_no_past_without_a_run(fake: Launch) -> None:
    session = fake()
    for ask in (
        lambda: session.past.why_not("x"),
        session.past.cycles,
        session.past.diff,
        session.past.history,
    ):
        with pytest.raises(NotStopped, match="start it with run or start"):
            ask()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--no-fork"], "cannot be replayed: the agent in this tool cannot fork the tool"),
        (["--refuse", "fork"], "cannot be replayed: refused by the fake"),
        (["--fork", "dies"], "cannot be replayed: the fork of the tool, process .*, ended"),
        (["--fork", "silent"], "cannot be replayed: the fork of the tool, process .*, hung"),
    ],
)
def test_run_without_an_origin_continues(
    fake: Launch, options: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "_HELLO_SECONDS", 0.3)
    session = fake(*options)
    assert session.start().ordinal == 1
    with pytest.raises(NoAnswer, match=complaint):
        session.past.why_not("FoldA")
    assert session.step().ordinal == 2
    assert processes(session) == 1


def test_an_origin_that_was_killed(fake: Launch) -> None:
    session = fake()
    session.start()
    (origin,) = (
        int(pid)
        for pid in os.listdir("/proc")
        if pid.isdecimal()
        and int(pid) != session.target.pid
        and str(session.target.tool.path).encode() in _command(pid)
    )
    os.kill(origin, signal.SIGKILL)
    with pytest.raises(ToolGone, match="fork of the tool ended"):
        session.past.why_not("FoldA")
    with pytest.raises(NoAnswer, match="the frozen beginning has ended"):
        session.past.why_not("FoldA")
    assert session.step().ordinal == 2


def _command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_ctrl_c_ends_a_replica(fake: Launch) -> None:
    session = fake("--slow-replica")
    at(session, 4)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        session.past.why_not("FoldA")
    assert (processes(session), session.state) == (2, "stopped")
    assert session.step().ordinal == 5


def test_ctrl_c_while_the_origin_is_made(fake: Launch) -> None:
    session = fake("--fork", "silent")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        session.start()
    assert (session.state, processes(session)) == ("running", 1)
