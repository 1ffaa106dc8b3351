"""A crash of the tool, at the prompt."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import stock_tool as stock
from tests.terminal.test_shell import Terminal
from tests.tool.session.test_crashes import CRASHING, LOWER


@pytest.fixture
def crashing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A shell over a tool that fails an assertion."""
    monkeypatch.chdir(tmp_path)
    stock.write("crash.mlir", CRASHING)
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "TERM": "xterm",
        "PAGER": "cat",
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }
    shell = Terminal(["mlir-opt", "crash.mlir", *LOWER], environment)
    shell.ready()
    yield shell
    shell.child.close(force=True)


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
