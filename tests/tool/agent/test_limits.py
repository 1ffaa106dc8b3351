"""Programs that limit their own memory, or the sizes of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from tests.conftest import PYPI
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


@pytest.mark.parametrize("kilobytes", [0, 1])
def test_a_limit_of_file_sizes(
    kilobytes: int, folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's own files are cut short, and no signal ends the tool."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tool = [str(PYPI / "mlir-opt"), folds, "--canonicalize"]
    program = ["bash", "-c", f'ulimit -f {kilobytes}; "$@"; echo $?', "bash", *tool]
    alone = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert alone.endswith("\n0\n")
    commands = ["break pattern:*", "run", "next", "delete", "continue"]
    session = [COMMAND, "--batch", *(word for one in commands for word in ("-ex", one))]
    done = subprocess.run([*session, "--", *program], capture_output=True, text=True, check=False)
    assert "stopped before" in done.stdout
    assert alone.removesuffix("0\n") in done.stdout
    assert not done.stderr.count("Stack dump")
    record = [COMMAND, "record", "-o", str(tmp_path / "run.adbrec"), "--", *program]
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    if kilobytes:
        assert done.stdout == alone
    else:
        assert "run.adbrec cannot be written (File too large)" in done.stderr
