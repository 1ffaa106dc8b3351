"""Programs that look after their children do not see the forks of the agent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from tests.paths import COMMAND

COMPILE = """\
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

def compile():
    with Context():
        module = Module.parse("func.func @f() { return }")
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        return module

"""
HANDLER = """\
import signal
signal.signal(signal.SIGCHLD, lambda *_: print("a child has ended"))
print(compile())
"""
WAITING = """\
import os, threading, time
ended = []
def reap():
    while not isOver:
        try:
            ended.append(os.waitpid(-1, 0))
        except ChildProcessError:
            time.sleep(0.0002)
isOver = False
thread = threading.Thread(target=reap)
thread.start()
print(compile())
isOver = True
thread.join()
print(ended)
"""
THREAD = """\
import threading
over = threading.Event()
threading.Thread(target=over.wait).start()
"""


@pytest.fixture(
    params=[HANDLER, THREAD + HANDLER + "over.set()\n", WAITING],
    ids=["handler", "handler-and-thread", "waiting-thread"],
)
def program(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """A program, with nothing proved of its MLIR."""
    pytest.importorskip("mlir.passmanager")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(COMPILE + str(request.param))
    return [sys.executable, str(tmp_path / "program.py")]


@pytest.mark.parametrize("options", [(), ("--checks", "--lineage")])
def test_a_recorded_program(program: list[str], options: tuple[str, ...], tmp_path: Path) -> None:
    alone = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    record = [COMMAND, "record", *options, "-o", str(tmp_path / "run.adbrec"), "--", *program]
    for _ in ("nothing is proved", "all is proved"):
        done = subprocess.run(record, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, alone)


def test_a_debugged_program(program: list[str]) -> None:
    alone = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    with actiondbg.launch(program) as session:
        session.breakpoints.add("pass:canonicalize")
        session.run()
        for what in ("module", "action"):
            assert "func.func" in session.ir.print(what).text
        assert session.continue_().status == 0
        assert session.target.output() == alone
