"""The full-screen view: the real tool, on a screen that can be read."""

from __future__ import annotations

import re
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.fakes.recording.recordings import write_recording
from tests.fakes.recording.session import OPERATIONS, actions
from tests.fakes.screen import ScreenTerminal
from tests.terminal.terminal import end, environment_in

BUILDS = LIBRARY

_PROMPT = r"^\(actiondbg\)"
_PAGE_UP, _PAGE_DOWN = "\x1b[5~", "\x1b[6~"


@pytest.fixture
def open_screen(tmp_path: Path) -> Iterator[Callable[..., ScreenTerminal]]:
    """Open shells on screens."""
    opened: list[ScreenTerminal] = []
    environment = environment_in(tmp_path, TERM="xterm-256color")

    def open_shell(*arguments: str, **more: str) -> ScreenTerminal:
        command = [sys.executable, "-m", "actiondbg", *arguments]
        opened.append(ScreenTerminal(command, environment | more))
        return opened[-1]

    yield open_shell
    for each in opened:
        end(each.child)


@pytest.fixture
def live(
    open_screen: Callable[..., ScreenTerminal], mlir_opt: str, folds: str
) -> Callable[..., ScreenTerminal]:
    """Open shells over mlir-opt."""
    return lambda *options: open_screen(*options, mlir_opt, folds, "--canonicalize")


def test_panes_follow_the_steps_and_the_cursor(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "tbreak AddIAddConstant if line == 7", "-ex", "run", "-ex", "tui enable")
    shell.see(r"^ IR before #\d+ apply-pattern \(AddIAddConstant\)", alternate=True)
    shell.see(r"^--> +@\d+ +%\w+ = arith\.addi .*│")
    shell.see(r"│-> 0 #\d+ apply-pattern \(AddIAddConstant\)")
    shell.see("no changes yet")
    shell.send("next\r")
    shell.see(r"^ IR after #\d+ apply-pattern \(AddIAddConstant\)")
    shell.see(r"^(-->|   )\+ +@\d+ ")
    shell.see(r"^   - +@\d+ +%\w+ = arith\.addi")
    shell.see(r"│inserted  @\d+ arith")
    shell.see(r"^Stopped after #\d+ apply-pattern \(AddIAddConstant\)[^(]*:\s+succeeded")
    assert "rows below" not in shell.text  # the output fits
    shell.send("cursor-function\r")
    shell.see(r"^--> +@\d+ +func\.func")
    shell.send("\r")
    shell.see(rf"{_PROMPT}\n(.*\n)*{_PROMPT}")
    assert re.search(r"^   - +@\d+ +%\w+ = arith\.addi", shell.text, re.M)


def test_a_changed_size_changes_the_panes(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start", "-ex", "layout ir")
    shell.see(r"│ Changes$")
    shell.resize(24, 80)
    shell.see(r"^ Stack +│ Changes$")
    assert re.search(r"^ IR before #1", shell.text, re.M)
    shell.send("step\r")
    shell.see(r"^ IR before #2")
    shell.resize(36, 130)
    shell.see(r"│ Changes$")


def test_output_scrolls_from_its_beginning(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start", "-ex", "tui enable")
    shell.see(_PROMPT, alternate=True)
    shell.send("help\r")
    shell.see(rf"{_PROMPT} help\nRunning")
    shell.see(r"^ Output  \d+ rows below")
    shell.send(_PAGE_DOWN)
    shell.see(r"^ Output  .*\n(?!\(actiondbg\) help)")
    assert "\nRunning" not in shell.text
    shell.send(_PAGE_UP)
    shell.see(rf"{_PROMPT} help\nRunning")


def test_keys_complete_recall_and_drop_lines(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start", "-ex", "tui enable")
    shell.see(_PROMPT, alternate=True)
    shell.send("info prog\t")
    shell.see(rf"{_PROMPT} info program")
    shell.send("\r")
    shell.see(r"^state +stopped")
    shell.send("bogus\x03")
    shell.send("\x1b[A")
    shell.see(rf"{_PROMPT} info program\n*\Z")
    assert "no command" not in shell.text


def test_leaving_restores_the_terminal(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start")
    shell.see(_PROMPT, alternate=False)
    plain = termios.tcgetattr(shell.child.child_fd)
    shell.send("tui enable\r")
    shell.see(r"^ IR before #1", alternate=True)
    shell.send("step\r")
    shell.see(r"^ IR before #2")
    shell.send("tui disable\r")
    shell.see(rf"{_PROMPT}$", alternate=False)
    assert "Stopped before #1" in shell.text
    shell.send("step\r")
    shell.see(rf"^Stopped before #3(.*\n)*{_PROMPT}$", alternate=False)
    assert termios.tcgetattr(shell.child.child_fd) == plain


@pytest.mark.parametrize("end", ["quit", "end of input", "signal"])
def test_the_end_restores_the_terminal(end: str, live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start", "-ex", "tui enable")
    before = termios.tcgetattr(shell.child.child_fd)
    shell.see(r"^ IR before #1", alternate=True)
    if end == "signal":
        shell.child.kill(signal.SIGTERM)
    else:
        shell.send("quit\r" if end == "quit" else "\x04")
        shell.see(r"^The tool is alive [^?]*\? \(y or n\)", alternate=False)
        shell.send("y\r")
    assert shell.finish() == (128 + signal.SIGTERM if end == "signal" else 0)
    assert not shell.screen.is_alternate
    assert not shell.screen.cursor.hidden
    assert termios.tcgetattr(shell.child.child_fd) == before


def test_an_exception_restores_the_terminal(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start", "-ex", "tui enable")
    before = termios.tcgetattr(shell.child.child_fd)
    shell.see(r"^ IR before #1", alternate=True)
    shell.send("py session.stack.frames = lambda: 1 / 0\r")
    assert shell.finish() == 1
    assert "ZeroDivisionError" in shell.text
    assert not shell.screen.is_alternate
    assert not shell.screen.cursor.hidden
    assert termios.tcgetattr(shell.child.child_fd) == before


def test_the_view_outlives_the_tool(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "start", "-ex", "tui enable")
    shell.see(r"^ IR before #1", alternate=True)
    shell.send("py import os; os.kill(session.target.hello.pid, 9)\r")
    shell.send("step\r")
    shell.see(r"^ IR .*(killed|died|SIGKILL)")
    shell.send("start\r")
    shell.see(r"^ IR before #1", alternate=True)
    shell.send("py 1/0\r")
    shell.see("ZeroDivisionError")


def test_the_output_of_the_tool_and_of_programs_is_behind_the_panes(
    live: Callable[..., ScreenTerminal],
) -> None:
    shell = live("-ex", "start", "-ex", "tui enable")
    shell.see(r"^ IR before #1", alternate=True)
    shell.send("continue\r")
    shell.see(r"^ IR The tool ended with status 0")
    assert "func.func" not in shell.text
    shell.send("\x0f")
    shell.see(r"func\.func[^?]*Press Enter to return", alternate=False)
    shell.send("\r")
    shell.see(r"^ IR The tool ended", alternate=True)
    shell.send("!echo written by echo\r")
    shell.see(r"^written by echo\nPress Enter to return", alternate=False)
    shell.send("\r")
    shell.see(r"^ IR The tool ended", alternate=True)


def test_a_block_of_lines_is_read_behind_the_panes(live: Callable[..., ScreenTerminal]) -> None:
    shell = live("-ex", "break AddIAddConstant", "-ex", "tui enable")
    shell.see(_PROMPT, alternate=True)
    shell.send("commands\r")
    shell.see(rf"{_PROMPT} commands\nType commands[^\n]*\n[^\n]*\n>", alternate=False)
    shell.send("echo it was hit\rend\r")
    shell.see(_PROMPT, alternate=True)
    shell.send("run\r")
    shell.see(r"^it was hit", alternate=True)


def test_ctrl_c_interrupts_the_tool(
    open_screen: Callable[..., ScreenTerminal], mlir_opt: str, tmp_path: Path
) -> None:
    lines = [f"func.func @f{i}(%a: i32) -> i32 {{ return %a : i32 }}" for i in range(6000)]
    source = tmp_path / "long.mlir"
    source.write_text("\n".join(lines))
    # The tool prints the IR to a file before the first pass, which is how its actions begin.
    passes = ",".join(["cse", *["canonicalize"] * 1000])
    printed = tmp_path / "printed"
    dump = ["--mlir-print-ir-before=cse", f"--mlir-print-ir-tree-dir={printed}"]
    pipeline = f"--pass-pipeline=builtin.module({passes})"
    shell = open_screen("-ex", "tui enable", mlir_opt, str(source), pipeline, *dump)
    shell.see(_PROMPT, alternate=True)
    shell.send("run > /dev/null\r")
    shell.see("", alternate=False)
    deadline = time.monotonic() + 60
    while not list(printed.rglob("*.mlir")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    shell.child.sendintr()
    shell.see(r"^Interrupted, stopped before #\d+", alternate=True)
    shell.see(r"^-->")


def test_it_needs_a_terminal(open_screen: Callable[..., ScreenTerminal], tmp_path: Path) -> None:
    recording = str(tmp_path / "run.adbrec")
    write_recording(recording, actions(), OPERATIONS, ir="function")
    shell = open_screen("open", "--batch", "-ex", "layout ir", recording)
    assert shell.finish() == 1
    assert "The full-screen view needs a terminal: start actiondbg in one" in shell.text
    shell = open_screen("open", "-ex", "tui enable", recording, TERM="dumb")
    shell.see(
        r"needs a terminal that moves the cursor: set TERM, which is\s+'dumb'", alternate=False
    )


def test_a_recording(open_screen: Callable[..., ScreenTerminal], tmp_path: Path) -> None:
    write_recording(tmp_path / "run.adbrec", actions(), OPERATIONS, ir="function")
    shell = open_screen("open", "-ex", "tui enable", str(tmp_path / "run.adbrec"))
    shell.see(r"^ IR before #1 pass-execution", alternate=True)
    shell.see(r"^--> +@1 func\.func @f")
    shell.send("step\r")
    shell.see(r"^ IR before #2")
    shell.send("reverse-step\r")
    shell.see(r"^ IR before #1", alternate=True)
