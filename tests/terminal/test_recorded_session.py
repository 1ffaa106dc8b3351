"""``actiondbg open`` in a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest

from tests.fakes.recording.recordings import write_recording
from tests.fakes.recording.session import OPERATIONS, actions


@pytest.fixture(autouse=True)
def _recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    write_recording("run.adbrec", actions(), OPERATIONS, ir="function")


def test_a_terminal(tmp_path: Path) -> None:
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "actiondbg", "open", "run.adbrec"],
        env={**os.environ, "TERM": "xterm", "PAGER": "cat", "PROMPT_TOOLKIT_NO_CPR": "1"},
        dimensions=(30, 120),
        encoding="utf-8",
        timeout=30,
    )
    child.expect_exact("run.adbrec: 8 actions of mlir-opt in.mlir --canonicalize")
    child.expect_exact("(actiondbg)")
    child.send("break pattern:A\r")
    child.expect_exact("Breakpoint 1: pattern:A")
    child.send("continue\r")
    child.expect(r"Breakpoint 1, stopped before (\x1b\[1m)?#4")
    child.send("\r")  # Enter repeats it
    child.expect(r"Breakpoint 1, stopped before (\x1b\[1m)?#7")
    child.send("why-not \t")
    child.expect_exact("A")
    child.send("\x03quit\r")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
