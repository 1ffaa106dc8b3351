"""The processes of a session: what info program and ps show of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.process.process_status import process_status
from tests.fakes import command_line
from tests.paths import ROOT

FOLD = str(ROOT / "examples/fold.mlir")
ARGV = ["mlir-opt", FOLD, "--canonicalize"]


def arguments(pid: int) -> list[str]:
    """The arguments of a process, as ps shows them."""
    return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")


def command(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().rstrip()


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("It did not come about.")


def test_checkpoints_are_named_in_ps_and_the_tool_keeps_its_name() -> None:
    with actiondbg.launch(ARGV) as session:
        session.start()
        session.timeline.checkpoints.add()
        session.step()
        assert session.execution is not None
        forks = session.target.forks()
        assert len(forks) >= 2
        assert {command(pid) for pid in forks} == {"adbg-checkpoint"}
        tool = arguments(session.execution.pid)
        assert tool[0].endswith("mlir-opt") and tool[1:] == ARGV[1:]
        assert [arguments(pid) for pid in forks] == [["actiondbg-checkpoint", *tool]] * len(forks)
        started = session.execution.pid
        # A fork of a checkpoint replaces the tool.
        session.timeline.reverse_step()
        replaced = session.execution.pid
        assert replaced != started
        assert (command(replaced), arguments(replaced)) == ("mlir-opt", tool)
        assert session.continue_().status == 0
        assert session.target.process() is None
        assert command(session.target.forks()[-1]) == "adbg-checkpoint"


def test_the_tool_reads_its_own_arguments_after_time_travel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debian: Callable[[str], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = [debian("mlir-opt"), FOLD, "--canonicalize", "--test-pass-crash"]
    with actiondbg.launch(argv) as session:
        session.run()
        session.timeline.reverse_step()
        session.continue_()
        session.continue_()
        assert f"Program arguments: {' '.join(argv)}\n" in session.target.errors()


def test_the_status_of_the_process() -> None:
    with actiondbg.launch(ARGV) as session:
        assert session.target.process() is None and session.target.forks() == []
        session.start()
        found = session.target.process()
        assert found is not None and session.execution is not None
        assert (found.pid, found.halted) == (session.execution.pid, None)
        assert (found.threads, found.tracer) == (1, 0)
        os.kill(found.pid, signal.SIGSTOP)
        wait_until(lambda: (process_status(found.pid) or found).halted == "stopped by a signal")
        os.kill(found.pid, signal.SIGCONT)
        wait_until(lambda: (process_status(found.pid) or found).halted is None)
        assert session.continue_().status == 0


def test_info_program() -> None:
    words = [word for line in ("start", "info program") for word in ("-ex", line)]
    done = command_line.run("--batch", "-nx", *words, *ARGV, check=True)
    facts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[2:])
    assert facts["threads"] == "1"
    assert facts["threading"] == "off, on without the debugger"
    assert facts["pid"].isdecimal() and facts["forks"].split(", ")[-1].isdecimal()
