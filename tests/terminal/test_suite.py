"""Ctrl-C at the terminal while a suite is recorded: the driver gets it once, as without us."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.paths import COMMAND

BUILDS = ("pypi",)
# It counts the interrupts that it gets within a second.
DRIVER = """\
import signal, subprocess, sys, time
counts = []
signal.signal(signal.SIGINT, lambda *_: counts.append(1))
subprocess.run([{tool!r}, "in.mlir", "--cse", "-o", "out.mlir"], check=True)
print("ready", flush=True)
deadline = time.monotonic() + 60
while not counts and time.monotonic() < deadline:
    time.sleep(0.05)
time.sleep(1)
print(f"interrupted {{len(counts)}} times", flush=True)
sys.exit(9)
"""


def test_one_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mlir").write_text("func.func @f() { return }\n")
    (tmp_path / "driver.py").write_text(DRIVER.format(tool=mlir_opt))
    words = ["suite", "record", "-o", "suite", "--", sys.executable, "driver.py"]
    shell: pexpect.spawn[str] = pexpect.spawn(COMMAND, words, timeout=60, encoding="utf-8")
    shell.expect_exact("ready")
    shell.sendintr()
    shell.expect_exact("interrupted 1 times")
    shell.expect_exact("1 run")
    shell.expect(pexpect.EOF)
    assert "Traceback" not in str(shell.before)
    shell.close()
    assert shell.exitstatus == 9
    listed = subprocess.run(
        [COMMAND, "suite", "list", "suite", "--json"], capture_output=True, text=True, check=True
    )
    assert [json.loads(line)["status"] for line in listed.stdout.splitlines()] == [0]
