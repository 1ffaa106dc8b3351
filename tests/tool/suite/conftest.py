"""A lit suite, and ways to record and query one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import command_line
from tests.paths import COMMAND

LIT = Path(sys.executable).with_name("lit")
CONFIGURATION = """\
import os
import lit.formats
config.name = "suite"
try:
    config.test_format = lit.formats.ShTest(force_execute_external={external})
except TypeError:  # before LLVM 23
    config.test_format = lit.formats.ShTest(execute_external={external})
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "out")
config.excludes = ["out"]
config.environment["PATH"] = {path!r}
"""
ADDS = """\
func.func @f(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c1 : i32
  return %y : i32
}
"""
TESTS = {
    "file.mlir": f"""\
// RUN: mlir-opt %s --canonicalize | grep addi
// RUN: mlir-opt %s \\
// RUN:   --cse | grep return
{ADDS}""",
    "stdin.mlir": f'// RUN: mlir-opt --canonicalize="max-iterations=3" < %s | grep addi\n{ADDS}',
    "expected.mlir": "// XFAIL: *\n// RUN: mlir-opt %s --cse | grep nothing\n",
    "refused.mlir": "// RUN: not mlir-opt %s --cse\nfunc.func @f() -> i32 { return }\n",
}


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command line to its end."""
    if words[0] == COMMAND:
        return command_line.run(*words[1:], cwd=cwd)
    return subprocess.run(
        words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def record(*words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Record a driver in the folder ``suite``."""
    return run(COMMAND, "suite", "record", "-o", "suite", *options, "--", *words)


def runs(folder: str = "suite") -> list[dict[str, Any]]:
    """The runs of a suite, in the order of their begin."""
    done = run(COMMAND, "suite", "list", folder, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def query(sql: str, folder: str = "suite") -> list[dict[str, Any]]:
    """The rows that a query of a suite has."""
    done = run(COMMAND, "query", "--format", "json", folder, sql)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def adds(folder: Path) -> str:
    """An input in which canonicalize merges two additions."""
    (folder / "adds.mlir").write_text(ADDS)
    return "adds.mlir"


def write_suite(folder: Path, mlir_opt: str, external: bool = False) -> None:
    """Write a lit suite into ``folder/tests``, run by lit's own shell or by bash."""
    found = next(Path(sys.prefix).glob("lib/python*/site-packages/llvm/bin/not"), None)
    refuting = found or Path("/usr/lib/llvm-22/bin/not")
    if not refuting.exists():
        pytest.skip("not is not installed")
    tests, tools = folder / "tests", folder / "tools"
    shutil.rmtree(tests, ignore_errors=True)
    tests.mkdir()
    tools.mkdir(exist_ok=True)
    for tool in (Path(mlir_opt), refuting, refuting.with_name("FileCheck")):
        (tools / tool.name).unlink(missing_ok=True)
        (tools / tool.name).symlink_to(tool)
    path = f"{tools}:{os.environ['PATH']}"
    (tests / "lit.cfg.py").write_text(CONFIGURATION.format(external=external, path=path))
    for name, text in TESTS.items():
        (tests / name).write_text(text)


@pytest.fixture
def lit_suite(folder: Path, mlir_opt: str) -> Callable[[bool], list[str]]:
    """Write a lit suite; return the command line of lit. The argument is that of write_suite."""
    if not LIT.exists():
        pytest.skip("lit is not installed")

    def write(external: bool) -> list[str]:
        write_suite(folder, mlir_opt, external)
        return [str(LIT), "-v", "-j2", "tests"]

    return write
