"""``actiondbg.attach(wait=True)`` in a program, and ``actiondbg connect`` in another terminal."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import LaunchError
from tests.fakes import command_line
from tests.tool.attachment.conftest import COMPILE

_WAIT = "import actiondbg; actiondbg.attach(wait=True)"
_PROGRAM = """
print(compile().count("arith.addi"))
print(compile("builtin.module(cse)").count("arith.addi"))
"""


class Waiting:
    """A program that waits.

    Attributes:
        socket: where it waits.
    """

    def __init__(self, folder: Path, program: str, **environment: str) -> None:
        (folder / "program.py").write_text(f"{COMPILE}\n{_WAIT}\n{program}")
        self.process = subprocess.Popen(
            [sys.executable, "program.py"],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        lines = [self.process.stderr.readline() for _ in range(2)]
        self.socket = lines[1].split()[-1]

    def end(self) -> tuple[str, str, int]:
        """Return what it wrote, and its exit status."""
        output, errors = self.process.communicate(timeout=60)
        return output, errors, self.process.returncode


@pytest.fixture
def waiting(attachable: None, tmp_path: Path) -> Generator[Waiting]:
    with _started(tmp_path, _PROGRAM) as program:
        yield program


@contextlib.contextmanager
def _started(folder: Path, text: str, **environment: str) -> Generator[Waiting]:
    program = Waiting(folder, text, **environment)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.communicate()


def test_a_program_is_debugged(waiting: Waiting) -> None:
    with actiondbg.connect(waiting.socket) as session:
        session.breakpoints.add("pattern:AddIAddConstant and #33")
        stop = session.run()
        assert (stop.when, stop.name, stop.function) == ("before", "AddIAddConstant", "twice")
        assert "arith.addi" in session.ir.print("function").text
        session.skip()
        assert session.stop is not None and session.stop.when == "exit"
        assert session.stop.status == 0
    assert waiting.end() == ("2\n5\n", "", 0)


def test_a_program_keeps_the_signal_of_its_parents_end(attachable: None, tmp_path: Path) -> None:
    # That of the program itself, as supervisors of workers set it; 1 and 2 are prctl's to set, get.
    program = """
import ctypes, signal
compile()
read = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(read))
print(read.value == signal.SIGTERM)
"""
    before = "import ctypes; ctypes.CDLL(None).prctl(1, 15)\n"
    (tmp_path / "sitecustomize.py").write_text(before)
    with _started(tmp_path, program, PYTHONPATH=str(tmp_path)) as waiting:
        with actiondbg.connect(waiting.socket) as session:
            assert session.run().when == "exit"
        assert waiting.end() == ("True\n", "", 0)


def test_a_program_goes_on_after_the_front_end(waiting: Waiting) -> None:
    with actiondbg.connect(waiting.socket) as session:
        session.breakpoints.add("pattern:AddIAddConstant")
        assert session.run().when == "before"
    assert waiting.end() == ("2\n5\n", "", 0)


def test_threads_go_on_after_the_front_end(attachable: None, tmp_path: Path) -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print([text.count("arith.addi") for text in pool.map(lambda _: compile(), range(8))])
"""
    with _started(tmp_path, program) as waiting:
        with actiondbg.connect(waiting.socket) as session:
            session.breakpoints.add("pattern:AddIAddConstant")
            assert session.run().when == "before"
            assert session.continue_().when == "before"
        assert waiting.end() == (f"{[2] * 8}\n", "", 0)


def test_a_killed_front_end_lets_it_go_on(waiting: Waiting) -> None:
    commands = ["-ex", "break pattern:AddIAddConstant", "-ex", "run", "-ex", "shell kill -9 $PPID"]
    subprocess.run(
        [sys.executable, "-m", "actiondbg", "connect", "--batch", *commands, waiting.socket],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert waiting.end() == ("2\n5\n", "", 0)


def test_a_front_end_that_quits_before_it_runs_the_program(waiting: Waiting) -> None:
    actiondbg.connect(waiting.socket).close()
    with actiondbg.connect(waiting.socket) as session:
        assert session.run().status == 0
    assert waiting.end() == ("2\n5\n", "", 0)


def test_the_command(waiting: Waiting) -> None:
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "actiondbg", "connect", "--batch", "--keep-going"),
            *(
                "-ex",
                "break pass:cse",
                "-ex",
                "run",
                "-ex",
                "goto #1",
                "-ex",
                "next",
                "-ex",
                "restart",
                "-ex",
                "info action",
            ),
            waiting.socket,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert re.search(r"Breakpoint 1, stopped before #\d+ pass-execution \(cse\)", ended.stdout)
    # It cannot go back; it is still at its stop then.
    assert "attach() goes forward only: it outlives the debugger" in ended.stderr
    assert "cannot be started again: run it anew, and connect to it." in ended.stderr
    assert "The tool is not running" not in ended.stderr
    shown = re.search(r"Stopped after #62 pass-execution \(cse\).*: (.*)", ended.stdout)
    assert shown is not None and shown[1] == "succeeded, but changed nothing"
    assert waiting.end() == ("2\n5\n", "", 0)


def test_a_program_without_mlir(attachable: None, tmp_path: Path) -> None:
    with _started(tmp_path, "print('done')") as waiting:
        with actiondbg.connect(waiting.socket) as session:
            message = session.run().message
            assert message is not None and "before it made an MLIR context" in message
        assert waiting.end() == ("done\n", "", 0)


def test_a_program_that_was_started_by_a_front_end(attachable: None, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"{COMPILE}\nimport actiondbg\nactiondbg.attach()")
    ended = command_line.run("--batch", "-ex", "run", sys.executable, str(program))
    assert "This process was started by actiondbg, and has the one agent" in ended.stderr


def test_no_program_waits(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"No program waits at .* \(No such file or directory\)"):
        actiondbg.connect(tmp_path / "none")
