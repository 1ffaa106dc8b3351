"""Session against a fake agent: ends that nobody wished for, Ctrl-C, and what is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from actiondbg.errors import NotStopped, ProtocolError, ToolGone
from actiondbg.process import tool_process as process
from actiondbg.protocol import VERSION
from actiondbg.support import scratch_directory as directory
from actiondbg.support.scratch_directory import scratch_directory
from tests.fakes.functions import returning

if TYPE_CHECKING:
    from actiondbg.session.session import Session
    from tests.fakes.agent.fixtures import Launch


# --- ends that nobody wished for ------------------------------------------------


def test_a_tool_that_makes_no_context(fake: Launch) -> None:
    stop = fake("--no-context", "--exit", "1").run()
    assert stop.message == "The tool ended with status 1 before it made an MLIR context."
    assert (stop.when, stop.status) == ("exit", 1)


@pytest.mark.parametrize(
    ("how", "reason", "message"),
    [
        ("SIGABRT", "crashed", r"died of SIGABRT in #2 apply-pattern FoldA on arith\.addi\.$"),
        ("SIGKILL", "killed", r"was killed by SIGKILL\.$"),
        ("SIGTERM", "killed", r"was killed by SIGTERM\.$"),
    ],
)
def test_a_tool_that_dies(fake: Launch, how: str, reason: str, message: str) -> None:
    session = fake("--misbehave", how, "--at", "2")
    session.start()
    stop = session.step()
    assert (stop.when, stop.reason, stop.status) == ("exit", reason, -getattr(signal, how))
    assert stop.message is not None and re.search(message, stop.message)
    assert session.start().reason == "start", "it can be started again"


def test_a_tool_killed_at_a_stop(fake: Launch) -> None:
    session = fake()
    session.start()
    assert session.target.hello is not None
    os.kill(session.target.hello.pid, signal.SIGKILL)
    with pytest.raises(ToolGone, match="SIGKILL"):
        session.stack.context()
    assert (session.state, session.exit_status) == ("exited", -9)


def test_tool_dies_during_a_request(fake: Launch) -> None:
    session = fake("--misbehave", "SIGABRT", "--misbehave-at", "context")
    session.start()
    with pytest.raises(ToolGone, match="SIGABRT in #1 pass-execution canonicalize"):
        session.stack.context()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("garbage", "invalid message, '.x00\ufffd garbage, no JSON x{60}'[.]{3}:"),
        ("oversized", r"more than 16 MiB without a newline, beginning with 'xxx"),
        ("unknown-method", r"an unknown notification, 'paused'"),
        ("unknown-field", r"unknown field `whence`"),
        ("wrong-type", r"Expected `str`, got `int` - at `\$\.tag`"),
        ("no-message", r"neither a response nor a notification"),
        ("not-awaited", r"answered request 777, which was not made"),
        ("second-hello", r"sent 'hello' while the tool ran"),
        ("truncated", r"ended in the middle of a message, '\{\"jsonrpc"),
    ],
)
@pytest.mark.parametrize("at", ["start", "step"])
def test_invalid_messages(fake: Launch, what: str, message: str, at: str) -> None:
    session = fake("--misbehave", what, "--at", "1" if at == "start" else "2")
    with pytest.raises(ProtocolError, match=message) as raised:
        session.start()
        session.step()
    assert len(str(raised.value)) < 400 and "\n" not in str(raised.value)
    assert session.state == "exited"
    with pytest.raises(NotStopped):
        session.step()


def test_agent_closes_its_socket_and_continues(
    fake: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_END_SECONDS", 0.1)
    session = fake("--misbehave", "close", "--at", "2")
    session.start()
    assert session.step().status == -signal.SIGKILL


def test_another_version_names_both(fake: Launch) -> None:
    with pytest.raises(ProtocolError, match=f"version 1 of the protocol.*version {VERSION}"):
        fake("--version", "1").run()


def test_a_first_message_that_is_no_hello(fake: Launch) -> None:
    with pytest.raises(ProtocolError, match="first message is 'exited'"):
        fake("--first", "exited").run()


def test_a_process_of_another_user_is_refused(
    fake: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "peer_of", returning((77, os.getuid() + 1)))
    with pytest.raises(ProtocolError, match=f"Process 77 of user {os.getuid() + 1}"):
        fake().run()


# --- Ctrl-C -------------------------------------------------------------------


def interrupt_soon(seconds: float = 0.3) -> None:
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def _press_when_connected(session: Session) -> None:
    """An interrupt before is only kept, and the next interrupt is the first that is sent."""
    while session.execution is None or session.execution.hello is None:
        time.sleep(0.01)
    interrupt_soon()


def test_ctrl_c_leaves_the_tool_running_and_interrupt_stops_it(fake: Launch) -> None:
    session = fake("--slow")
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        session.run()
    assert (session.state, session.stop) == ("running", None)
    with pytest.raises(NotStopped, match="running"):
        session.stack.context()
    with pytest.raises(NotStopped, match="running"):
        session.breakpoints.add("#1")
    session.interrupt()
    assert session.wait().reason == "interrupt"
    assert session.wait().reason == "interrupt", "it still stands there"


def test_a_second_interrupt_stops_inside_the_action(fake: Launch) -> None:
    session = fake("--slow", "--stuck")
    threading.Thread(target=_press_when_connected, args=[session]).start()
    with pytest.raises(KeyboardInterrupt):
        session.run()
    session.interrupt()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        session.wait()
    session.interrupt()
    stop = session.wait()
    assert (stop.when, stop.reason, stop.ordinal) == ("during", "interrupt", 1)
    assert stop.as_json()["outcome"] is None and "skipped" not in stop.as_json()


def test_ctrl_c_before_the_tool_has_connected(fake: Launch) -> None:
    reading, writing = os.pipe()
    session = fake("--read-stdin", "--slow", stdin=reading)
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        session.run()
    os.close(reading)
    session.interrupt()
    os.close(writing)
    assert session.wait().reason == "interrupt"


def _press_ctrl_c(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
def test_ctrl_c_loses_no_message(fake: Launch) -> None:
    """Interrupts that come at any moment of a step: the stops are the same, each once."""
    session = fake()
    inside = False
    interrupted = 0

    def interrupt(*_: object) -> None:
        nonlocal inside
        if inside:
            inside = False  # a second one would be raised in the handling of the first
            raise KeyboardInterrupt

    def step() -> None:
        nonlocal inside, interrupted
        before = session.stop
        try:
            inside = True
            session.step()
            inside = False
        except KeyboardInterrupt:
            interrupted += 1
        while session.stop is before or session.state == "running":
            session.wait() if session.state == "running" else session.step()

    def stops(seconds: float) -> list[tuple[str, int]]:
        session.start()
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        result: list[tuple[str, int]] = []
        for _ in range(9):
            step()
            assert session.stop is not None
            result.append((session.stop.when, session.stop.ordinal))
        signal.setitimer(signal.ITIMER_REAL, 0)
        return result

    old = {kind: signal.signal(kind, interrupt) for kind in (signal.SIGINT, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, _press_ctrl_c)
    try:
        undisturbed = stops(0)
        for round in range(40):
            assert stops(0.00005 + round * 0.00001) == undisturbed
        assert stops(0) == undisturbed  # and hears what came when it was held back
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for kind, handler in old.items():
            signal.signal(kind, handler)
    assert interrupted > 20


def test_sigint_at_the_terminal_does_not_reach_the_tool(fake: Launch) -> None:
    session = fake()
    session.start()
    assert session.target.hello is not None
    assert os.getpgid(session.target.hello.pid) == session.target.hello.pid != os.getpgid(0)


# --- nothing is left behind ----------------------------------------------------


def test_children_of_the_tool_end_with_it(fake: Launch) -> None:
    session = fake("--child")
    session.start()
    assert session.target.hello is not None
    group = session.target.hello.pid
    session.close()
    with pytest.raises(ProcessLookupError):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.01)


def test_a_forgotten_session_leaves_nothing(fake: Launch, base: Path) -> None:
    """At the end of an interpreter, and at the end of one that is killed."""
    script = (
        "import sys, os, signal; sys.argv[1:2], tool = [], sys.argv[1]\n"
        "import tempfile; tempfile.tempdir = os.path.dirname(tool)\n"
        "import actiondbg, actiondbg.tool.program as program\n"
        "from actiondbg.tool import Tool; from pathlib import Path\n"
        "libc = Path(sys.argv[1])\n"
        "program.find_tool = lambda *_: Tool(Path(tool), libc, 'fake')\n"
        "program.shipped_agent = lambda: libc\n"
        "session = actiondbg.launch([tool]); session.start()\n"
        "if len(sys.argv) > 2: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    session = fake()
    command = [
        sys.executable,
        "-c",
        script,
        str(session.target.tool.path),
        str(session.target.tool.libmlir),
    ]
    subprocess.run(command, check=True)
    assert list(base.glob("actiondbg-*")) == []
    assert subprocess.run([*command, "kill"], check=False).returncode == -signal.SIGKILL
    assert len(list(base.glob("actiondbg-*"))) == 1
    session.run()  # another session removes what the killed one left
    assert len(list(base.glob("actiondbg-*"))) == 1


def test_only_dead_owners_directories_are_removed(base: Path) -> None:
    alive, dead, foreign = (base / f"actiondbg-{name}" for name in ("alive", "dead", "new"))
    for one in (alive, dead, foreign):
        one.mkdir()
    (dead / "pid").write_text(f"{os.getpid()} 1\n")  # the pid was given out again
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    (alive / "pid").write_text(f"{os.getpid()} {start}\n")
    directory.remove_stale(base)
    assert sorted(base.glob("actiondbg-*")) == [alive, foreign]
    (alive / "pid").unlink()
    foreign.rmdir()
    alive.rmdir()


def test_a_killed_commands_directory_is_removed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(base))
    script = (
        "import os, signal; from actiondbg.support.scratch_directory import scratch_directory\n"
        "with scratch_directory('log') as directory:\n"
        "    (directory / 'run.adbrec').write_bytes(b'large')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as killed:
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie now
        (left,) = base.glob("actiondbg-log-*/run.adbrec")
        with scratch_directory("trace") as used:
            assert not left.parent.exists()
            with scratch_directory("log"):
                assert used.is_dir()
    assert list(base.glob("actiondbg-*")) == []


def test_a_directory_of_another_container_is_left(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(base))
    with scratch_directory("log") as directory:
        (directory / "pid").write_text("999999999 1 1\n")  # nobody here has that pid
        with scratch_directory("log"):
            assert directory.is_dir()


def test_a_long_directory_for_temporary_files(
    fake: Launch, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = base / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    session = fake()
    assert session.start().reason == "start"
    assert list(long.iterdir()) == []
