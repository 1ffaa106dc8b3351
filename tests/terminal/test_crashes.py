"""A crash of the tool, at the prompt."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import stock_tool as stock
from tests.terminal.terminal import Terminal, end, environment_in
from tests.tool.session.test_crashes import CRASHING, LOWER


@pytest.fixture
def crashing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A shell over a tool that fails an assertion."""
    monkeypatch.chdir(tmp_path)
    stock.write("crash.mlir", CRASHING)
    shell = Terminal(["mlir-opt", "crash.mlir", *LOWER], environment_in(tmp_path, PAGER="cat"))
    shell.ready()
    yield shell
    end(shell.child)


def test_a_crash_and_the_ways_back(crashing: Terminal) -> None:
    text = crashing.do("run")
    assert "Crash, stopped inside #16 apply-pattern (StoreOpLowering)" in text
    assert "SIGABRT: Assertion `integralElementType.getWidth() >= 8' failed" in text
    assert "Stack dump" not in text
    text = crashing.do("continue")
    assert "Stack dump" in text
    assert "The tool died of SIGABRT in #16 apply-pattern StoreOpLowering" in text
    assert "reverse-step goes back to the last event, goto #N to any action." in text
    assert "Stopped before #16" in crashing.do("reverse-step")
    text = crashing.do("skip")
    assert "The tool ended with status" in text
    assert "reverse-step goes back to the last event, goto #N to any action." in text


@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
def test_gdb_has_the_terminal(crashing: Terminal) -> None:
    crashing.do("break StoreOpLowering")
    crashing.do("run")
    crashing.enter("native gdb")
    crashing.see("Attaching gdb to process [0-9]+, a fork of the tool.")
    crashing.see(r"breakpoint in .*StoreOpLowering::matchAndRewrite at libMLIR")
    crashing.child.expect(r"Breakpoint 1, .*StoreOpLowering::matchAndRewrite", timeout=120)
    crashing.see(r"\(gdb\) ")
    # The fork writes to the terminal, and Ctrl-C is gdb's.
    crashing.child.send("continue\r")
    crashing.see("Assertion `integralElementType.getWidth")
    crashing.see("Program received signal SIGABRT")
    crashing.see(r"\(gdb\) ")
    crashing.child.send("\x03")
    crashing.see("Quit")
    crashing.child.send("quit\r")
    crashing.see(r"\(y or n\) ")
    crashing.child.send("y\r")
    text = crashing.ready()
    assert "gdb and its fork have ended; the tool is still at its stop." in text
    assert "#16 apply-pattern (StoreOpLowering)" in crashing.do("backtrace 1")
