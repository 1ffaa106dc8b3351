"""What a user reads when there is no room for what was asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from tests.paths import COMMAND


def test_print_to_a_full_disk_is_reported_and_nothing_is_lost(mlir_opt: str, folds: str) -> None:
    commands = ["start", "print module > /dev/full", "print module > whole.mlir"]
    run = subprocess.run(
        [
            *(COMMAND, "-nx", "--batch", "--keep-going"),
            *(word for command in commands for word in ("-ex", command)),
            *(mlir_opt, folds, "--canonicalize"),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "'/dev/full' cannot be written (No space left on device)" in run.stderr
    assert "func.func @twice" in Path("whole.mlir").read_text()


# A child whose files have room for a note and not for a recording compiles, too.
PROGRAM = """
import os, resource, signal
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

def compile():
    with Context():
        module = Module.parse("module {}")
        PassManager.parse("builtin.module(cse)").run(module.operation)

compile()
if (pid := os.fork()) == 0:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    compile()
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""


def test_a_program_goes_on_without_the_recording_of_a_later_process(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [COMMAND, "record", "-o", "run.adbrec", "--", sys.executable, "program.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert done.stderr.count("run.p1.adbrec cannot be written (No space left on device)") == 1
    assert [path.name for path in tmp_path.glob("*.adbrec")] == ["run.adbrec"]
    assert open_recording(tmp_path / "run.adbrec").count == 1
