"""The agent's stand-ins for LLVM's headers: they answer as LLVM does, and LLVM can use them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from actiondbg.tool import Tool, find_tool
from actiondbg.tool.compiler import find_compiler
from tests.conftest import DEBIAN, PYPI
from tests.headers import header_flags
from tests.paths import INPUTS, ROOT

STAND_INS = ROOT / "actiondbg/agent/standins"
FLAGS = ("-std=c++20", "-O1", "-DNDEBUG", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden")


def compile_program(program: Path, source: str, options: Sequence[str | Path]) -> Path:
    command = [*find_compiler(), *FLAGS, INPUTS / source, *options, "-o", program]
    subprocess.run(command, check=True)
    return program


def compile_with_stand_ins(directory: Path, source: str) -> Path:
    warnings = ["-Wall", "-Wextra", "-Werror"]
    sources = sorted((STAND_INS / "llvm").glob("*.cpp"))
    includes = [f"-I{STAND_INS / 'include'}", f"-iquote{STAND_INS.parent}"]
    options = [*warnings, *includes, *sources, "-ldl"]
    return compile_program(directory / "own", source, options)


def output(*command: str | Path) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.fixture(params=["pypi", "debian"])
def tool(request: pytest.FixtureRequest) -> Tool:
    """The mlir-opt of a build whose LLVM is a shared library."""
    path = (PYPI if request.param == "pypi" else DEBIAN) / "mlir-opt"
    if not path.exists():
        pytest.skip(f"mlir-opt of {request.param} is not installed")
    return find_tool(str(path))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the stand-ins answer."""
    return output(compile_with_stand_ins(tmp_path_factory.mktemp("own"), "stand_ins.cpp"))


def test_the_stand_ins_answer_as_llvm_does(tool: Tool, answers: list[str], tmp_path: Path) -> None:
    assert tool.libllvm is not None
    options = [
        *header_flags(tool),
        "-DLLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING=1",
        tool.libllvm,
        f"-Wl,-rpath,{tool.libllvm.parent}",
    ]
    real = output(compile_program(tmp_path / "real", "stand_ins.cpp", options))
    assert len(real) > 75_000
    differences = [pair for pair in zip(real, answers, strict=True) if pair[0] != pair[1]]
    assert differences == []


def test_functions_of_llvm_use_the_stand_ins(tool: Tool, tmp_path: Path) -> None:
    assert tool.libllvm is not None
    program = compile_with_stand_ins(tmp_path, "stand_ins_crossing.cpp")
    lines = output(program, tool.libllvm, tmp_path / "file")
    text = [f"text {i}:{' ' * (i % 4)}own {i} 1.500000e+00" + r"\"quoted\"\n" for i in range(300)]
    text.append("x" * 20_000)
    assert lines[: len(text)] == text
    assert (tmp_path / "file").read_text().splitlines() == text
    assert lines[len(text) :] == [
        "position: 1",
        "error: 0 0",
        "parts: a|b||c|d|e|f|own",
        "called with 7",
    ]
