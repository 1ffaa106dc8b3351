"""Output that was shown before a way back is not written again, whatever function writes it."""

from __future__ import annotations

import contextlib
import os
import pty
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import command_line
from tests.paths import COMMAND

pytest.importorskip("mlir.ir")

PROGRAM = """\
import ctypes, os, socket
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

libc = ctypes.CDLL(None)
TEXT = "func.func @f(%a: i32) -> i32 {\\n%c = arith.constant 0 : i32\\n" \\
    "%x = arith.addi %a, %c : i32\\nreturn %x : i32\\n}"


def say(turn):
    for fd in (1, 2):
        os.write(fd, b"write %d\\n" % turn)
        os.writev(fd, [b"writev ", b"%d\\n" % turn])
        libc.dprintf(fd, b"dprintf %d\\n", turn)
    libc.printf(b"printf %d\\n", turn)
    libc.puts(b"puts %d" % turn)
    libc.fflush(None)
    libc.perror(b"perror %d" % turn)
    os.system(f"echo a child {turn}")
    try:
        with socket.socket(fileno=os.dup(1)) as output:
            output.sendmsg([b"sendmsg %d\\n" % turn])
    except OSError:
        print("no socket", turn, flush=True)
    libc.printf(b"at the end: printf %d\\n", turn)  # flushed at the exit


with Context():
    for turn in range(3):
        module = Module.parse(TEXT)
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        say(turn)
"""
WAYS = {
    "no way back": (),
    "from the middle": ("continue", "goto 3"),
    "twice": ("continue", "continue", "goto 10", "goto 1"),
    "there and back": ("continue", "goto 1", "goto 15", "reverse-step 3"),
    "a skip at the newest stop": ("continue", "goto 1", "goto 10", "skip"),
    "from the end": ("delete", "continue", "goto 12", "goto 2"),
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return [sys.executable, "program.py"]


@pytest.mark.parametrize("way", WAYS)
def test_output_is_shown_once(program: list[str], way: str) -> None:
    alone = subprocess.run(program, capture_output=True, text=True, check=True)
    commands = ["break pass:canonicalize", "run", *WAYS[way], "delete", "continue"]
    typed = [word for command in commands for word in ("-ex", command)]
    done = command_line.run("-nx", "--batch", *typed, "--", *program, check=True)
    written = [line for line in done.stdout.splitlines() if line in alone.stdout.splitlines()]
    assert written == alone.stdout.splitlines()
    said = [line for line in done.stderr.splitlines() if line in alone.stderr.splitlines()]
    assert said == alone.stderr.splitlines()
    assert len(written) > 20 and len(said) > 10


def in_terminal(command: list[str]) -> list[str]:
    """Run a command in a terminal; return the lines of its output."""
    ours, its = pty.openpty()
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True):
        os.close(its)
        text = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while part := os.read(ours, 65536):
                text += part
        os.close(ours)
    return text.decode().splitlines()


@pytest.mark.parametrize("way", ["twice", "there and back"])
def test_output_is_shown_once_in_a_terminal(program: list[str], way: str) -> None:
    """The C library flushes each line there, from its first line on."""
    alone = in_terminal(program)
    assert "at the end: printf 2" in alone
    commands = ["break pass:canonicalize", "run", *WAYS[way], "delete", "continue"]
    typed = [word for command in commands for word in ("-ex", command)]
    lines = in_terminal([COMMAND, "-nx", "--batch", *typed, "--", *program])
    assert [line for line in lines if line in alone] == alone


COPIES = """\
import os
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

TEXT = "func.func @f(%a: i32) -> i32 {\\n%c = arith.constant 0 : i32\\n" \\
    "%x = arith.addi %a, %c : i32\\nreturn %x : i32\\n}"
early = os.dup(1)
with Context():
    for turn in range(3):
        module = Module.parse(TEXT)
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        os.write(early, b"early %d\\n" % turn)
        os.write(1, b"one %d\\n" % turn)
        if turn == 0:
            late = os.dup(1)
        if turn == 1:
            file = os.open("redirected.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            saved = os.dup(1)
            os.dup2(file, 1)
            os.write(1, b"to a file\\n")
        os.write(late, b"late %d\\n" % turn)
        if turn == 2:
            os.dup2(saved, 1)
            os.write(1, b"back\\n")
"""


def test_copies_of_a_descriptor_are_silent_and_shown_again(program: list[str]) -> None:
    Path(program[1]).write_text(COPIES)
    alone = subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()
    file = Path("redirected.txt").read_text()
    commands = ["break pass:canonicalize", "run", *WAYS["twice"], "delete", "continue"]
    typed = [word for command in commands for word in ("-ex", command)]
    done = command_line.run("-nx", "--batch", *typed, "--", *program, check=True)
    assert [line for line in done.stdout.splitlines() if line in alone] == alone
    assert Path("redirected.txt").read_text() == file


def test_parts_are_written_in_one_piece(program: list[str], tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        command = [COMMAND, "record", "-q", "-o", str(tmp_path / "run.adbrec"), "--", *program]
        subprocess.run(command, stdout=theirs.fileno(), stderr=subprocess.DEVNULL, check=True)
        theirs.close()
        packets = iter(lambda: ours.recv(1 << 16), b"")
        assert [one for one in packets if one.startswith(b"writev")] == [
            b"writev 0\n",
            b"writev 1\n",
            b"writev 2\n",
        ]
