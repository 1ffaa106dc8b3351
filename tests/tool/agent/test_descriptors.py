"""Programs that close all descriptors, or take them for files of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from actiondbg.recording.query.database import open_database
from tests.paths import COMMAND

PROGRAM = """\
import os, sys
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

SOURCE = "func.func @f(%x: i32) -> i32 {\\n %c = arith.constant 0 : i32\\n" + \\
    " %y = arith.addi %x, %c : i32\\n return %y : i32\\n}\\n"

def compile():
    with Context():
        module = Module.parse(SOURCE)
        PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)
        print(module, flush=True)

compile()
log = os.open(sys.argv[2], os.O_CREAT | os.O_RDWR | os.O_TRUNC)
if sys.argv[1] == "close":
    os.closerange(3, 4096)
else:
    for each in range(3, 600):
        if each != log:
            os.dup2(log, each)
compile()
print(os.path.getsize(sys.argv[2]))
"""


@pytest.mark.parametrize("how", ["close", "take"])
def test_the_program_goes_on(how: str, tmp_path: Path) -> None:
    pytest.importorskip("mlir.passmanager")
    (tmp_path / "program.py").write_text(PROGRAM)
    program = [sys.executable, str(tmp_path / "program.py"), how, str(tmp_path / "log")]
    alone = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert alone.endswith("\n0\n")
    path = str(tmp_path / "run.adbrec")
    record = [COMMAND, "record", "-q", "-o", path, "--", *program]
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, alone)
    passes = open_database(open_recording(path)).sql(
        "SELECT count(*) FROM actions WHERE tag = 'pass-execution'"
    )
    assert passes.fetchall() == [(4,)]
    with actiondbg.launch(program) as session:
        stop = session.run()
        assert stop.status == 0
        assert "what it did from then on was not observed" in str(stop)
        assert session.target.output() == alone
