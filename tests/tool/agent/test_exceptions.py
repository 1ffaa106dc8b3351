"""Exceptions that leave actions, as those of passes written in Python do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from actiondbg.recording.query.database import open_database
from tests.paths import COMMAND

PROGRAM = """\
import signal
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

SOURCE = "func.func @f(%a: i32) -> i32 {\\n return %a : i32\\n}\\n"

def bad(op, pass_):
    raise ValueError("in a pass")

def slow(op, pass_):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while True:
        pass

def late(*_):
    raise TimeoutError("in time")

signal.signal(signal.SIGALRM, late)
for each in (bad, slow) * 3:
    with Context():
        module = Module.parse(SOURCE)
        manager = PassManager("any")
        manager.add(each)
        try:
            manager.run(module.operation)
        except (ValueError, TimeoutError) as error:
            print("caught", error)
        module.operation.clone()
        print(module)
    with Context():
        module = Module.parse(SOURCE)
        PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)
        print(module)
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    pytest.importorskip("mlir.passmanager")
    (tmp_path / "program.py").write_text(PROGRAM)
    return [sys.executable, str(tmp_path / "program.py")]


def _alone(program: list[str]) -> str:
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.count("caught") == 6
    return done.stdout


def test_a_recorded_program_catches_them(program: list[str], tmp_path: Path) -> None:
    path = tmp_path / "run.adbrec"
    record = [COMMAND, "record", "-q", "-o", str(path), "--", *program]
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, _alone(program))
    passes = open_database(open_recording(str(path))).sql(
        "SELECT name, depth, outcome FROM actions WHERE tag = 'pass-execution' ORDER BY ordinal"
    )
    ended = [("canonicalize", 0, "unchanged"), ("cse", 0, "unchanged")]
    wanted = [("bad", 0, "failed"), *ended, ("slow", 0, "failed"), *ended] * 3
    assert passes.fetchall() == wanted


def test_a_session_goes_on_behind_them(program: list[str]) -> None:
    with actiondbg.launch(program) as session:
        session.breakpoints.catch("failure", "bad")
        stop = session.run()
        assert (stop.name, stop.when, stop.ordinal) == ("bad", "after", 1)
        assert session.stack.frames()[0].depth == 0
        stop = session.next()
        assert (stop.name, stop.when, stop.depth) == ("canonicalize", "before", 0)
        session.breakpoints.delete([each.id for each in session.breakpoints.all()])
        assert session.continue_().status == 0
        assert session.target.output() == _alone(program)
