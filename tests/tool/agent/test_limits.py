"""Programs that limit their own memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from tests.paths import COMMAND

PROGRAM = """\
import resource, sys

def limit():
    bytes = 4 << 30
    if sys.argv[2] == "prlimit":
        resource.prlimit(0, resource.RLIMIT_AS, (bytes, bytes))
    else:
        resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))

if sys.argv[1] == "first":
    limit()
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

FUNCTION = "func.func @f{0}(%x: i32) -> i32 {{\\n %c = arith.constant {0} : i32\\n" + \\
    " %y = arith.addi %x, %c : i32\\n return %y : i32\\n}}\\n"

def compile():
    with Context():
        module = Module.parse("".join(FUNCTION.format(at) for at in range(2000)))
        PassManager.parse("builtin.module(func.func(canonicalize))").run(module.operation)
        print(len(str(module)))

if sys.argv[1] == "later":
    compile()
    limit()
compile()
"""


@pytest.mark.parametrize("when", ["first", "later"])
@pytest.mark.parametrize("how", ["setrlimit", "prlimit"])
def test_the_agent_leaves_room(when: str, how: str, tmp_path: Path) -> None:
    pytest.importorskip("mlir.passmanager")
    (tmp_path / "program.py").write_text(PROGRAM)
    program = [sys.executable, str(tmp_path / "program.py"), when, how]
    alone = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    record = [COMMAND, "record", "-q", "-o", str(tmp_path / "run.adbrec"), "--", *program]
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, alone)
    with actiondbg.launch(program) as session:
        assert session.run().status == 0
        assert session.target.output() == alone
