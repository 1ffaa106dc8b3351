"""Programs that wait for all processes below them, and so for the forks of a tool."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import COMMAND

REAPER = """\
import ctypes, os, subprocess, sys

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
child = subprocess.Popen(sys.argv[1:])
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        break
    if pid == child.pid:
        print("status", os.waitstatus_to_exitcode(status))
"""


@pytest.fixture(params=["subreaper", "strace", "shell around strace"])
def program(request: pytest.FixtureRequest, mlir_opt: str, folds: str, tmp_path: Path) -> list[str]:
    tool = [mlir_opt, folds, "--canonicalize", "-o", str(tmp_path / "out.mlir")]
    if request.param == "subreaper":
        (tmp_path / "reaper.py").write_text(REAPER)
        return [sys.executable, str(tmp_path / "reaper.py"), *tool]
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    traced = ["strace", "-f", "-o", str(tmp_path / "trace"), *tool]
    return traced if request.param == "strace" else ["sh", "-c", '"$@"; exit 3', "sh", *traced]


def test_the_program_ends(program: list[str]) -> None:
    status = 3 if program[0] == "sh" else 0
    command = [COMMAND, "--batch", "-nx", "--return-child-result", "-ex", "run", "--", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "The tool ended with status 0 after" in done.stdout
    assert done.returncode == status
