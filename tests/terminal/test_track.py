"""The Python shell of ``actiondbg track`` in a terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pexpect
import pytest

from tests.paths import COMMAND

INPUT = """func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
"""
LOWERED = 'func.func @f() {\n  %0 = llvm.add loc("in.mlir":2:8)\n  return\n}\n'


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mlir").write_text(INPUT)
    (tmp_path / "low.mlir").write_text(LOWERED)
    return tmp_path / "state"


def start(state: Path) -> pexpect.spawn[str]:
    process: pexpect.spawn[str] = pexpect.spawn(
        COMMAND,
        ["track", "--input", "in.mlir", "--then", "low.mlir"],
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(state)},
        dimensions=(40, 120),
    )
    process.expect("in.mlir \\(3 operations\\), low.mlir \\(3 operations\\)")
    process.expect(">>> ")
    return process


def test_a_session_and_its_history(state: Path) -> None:
    process = start(state)
    process.sendline('for op in op_index.get_ops_by_name("%0"):')
    process.expect("\\.\\.\\. ")
    process.sendline("    show(track(op))")
    process.sendline("")
    process.expect("%0 = llvm.add\r\n.*>>> ")
    process.sendline("info")
    process.expect("track_back .*>>> ")
    process.sendline("track(3)")
    process.expect("\r\nExpected operations of an index, got 3.\r\n.*>>> ")
    process.sendline("1 / 0")
    process.expect("ZeroDivisionError.*>>> ")
    process.sendintr()
    process.expect(">>> ")
    process.send("shrink_to_p\t[])\r")
    process.expect("shrink_to_parents\\(.*\r\n\\[\\]\r\n>>> ")
    process.sendeof()
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
    # The history of the shell's commands is another.
    history = (state / "actiondbg" / "track-history").read_text()
    assert "info\ntrack(3)\n1 / 0\n" in history

    process = start(state)
    process.send("\x1b[A")  # up
    process.expect("shrink_to_parents\\(\\[\\]\\)")
    process.sendline("")
    process.expect("\\[\\]\r\n>>> ")
    process.sendline("exit()")
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
