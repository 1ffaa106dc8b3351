"""The programs that random walks debug: a tool, an input, a pipeline and a way of output."""

from __future__ import annotations

import contextlib
import lzma
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import actiondbg
from actiondbg.errors import LaunchError
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.fakes import stock_tool as stock
from tests.paths import INPUTS

Output = Literal["file", "stdout", "shared"]
Build = Literal["pypi", "debian", "iree"]

OUT = "out.mlir"
_DEBIAN = Path("/usr/lib/llvm-22/bin")
_FAILING = "canonicalize{test-convergence=true max-iterations=1}"
_LOWERING = PIPELINE.removeprefix("builtin.module(").removesuffix(")")
_FOLDS = """\
func.func @one(%arg0: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %0 = arith.addi %arg0, %c2 : i32
  %1 = arith.addi %0, %c3 : i32
  return %1 : i32
}
func.func @two(%arg0: i32, %arg1: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %arg0, %c0 : i32
  %1 = arith.select %arg1, %0, %0 : i32
  return %1 : i32
}
"""
_CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
"""
_PART = """\
func.func @f{number}(%arg0: i32) -> i32 {{
  %c = arith.constant {number} : i32
  %0 = arith.addi %arg0, %c : i32
  return %0 : i32
}}
"""


def _parts(last: str) -> str:
    """Return parts whose output does not fit into the tool's buffer."""
    part = "".join(_PART.format(number=number) for number in range(30))
    return "// -----\n".join([part, part, part, last])


@dataclass(frozen=True)
class Program:
    """An input and a pipeline.

    Attributes:
        write: writes the input to a file.
        passes: of the pipeline of the module.
        options: further ones of the tool.
        builds: those that have the passes.
    """

    write: Callable[[Path], object]
    passes: str
    options: tuple[str, ...] = ()
    builds: tuple[Build, ...] = ("pypi", "debian")


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def _packed(name: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(lzma.decompress((INPUTS / name).read_bytes()))


_ANY: tuple[Build, ...] = ("pypi", "debian", "iree")
_TOSA = (
    "func.func(tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named,canonicalize,"
    "tosa-layerwise-constant-fold,tosa-make-broadcastable,tosa-to-linalg,"
    "tosa-to-arith{include-apply-rescale},tosa-to-tensor),canonicalize,cse"
)

PROGRAMS = {
    "folds": Program(_text(_FOLDS), "canonicalize,cse", builds=_ANY),
    "mixed": Program(
        _text(stock.MIXED), "func.func(canonicalize),cse,inline,canonicalize,symbol-dce"
    ),
    "lowering": Program(lambda path: many_functions(path, 2), _LOWERING),
    "fails": Program(_text(_FOLDS), f"cse,{_FAILING},canonicalize,symbol-dce", builds=_ANY),
    "crashes": Program(
        _text(_CRASHING), "canonicalize,finalize-memref-to-llvm,cse", builds=("pypi",)
    ),
    "parts": Program(_text(_parts(_FOLDS)), "cse,canonicalize", ("--split-input-file",)),
    "part fails": Program(
        _text(_parts(_FOLDS)), f"cse,{_FAILING},symbol-dce", ("--split-input-file",)
    ),
    "network": Program(_packed("face_detection.mlir.xz"), _TOSA),
}
OFTEN = [name for name in PROGRAMS if name != "network"]


@dataclass(frozen=True)
class Case:
    """What a walk debugs.

    Attributes:
        name: of the program, in PROGRAMS.
        build: of the tool.
        tool: its path.
        output: where the tool's output goes: to ``-o``, to ``--tool-stdout``, or where the front
            end's goes.
    """

    name: str
    build: Build
    tool: str
    output: Output

    @property
    def program(self) -> Program:
        return PROGRAMS[self.name]

    @property
    def writes_in_parts(self) -> bool:
        """Whether the tool writes a part of its output long before the end."""
        return "--split-input-file" in self.program.options

    def argv(self, passes: str | None = None) -> list[str]:
        """Return the command line of the tool, with other passes than those of the program."""
        passes = self.program.passes if passes is None else passes  # none may be left
        pipeline = f"--pass-pipeline=builtin.module({passes})"
        argv = [self.tool, "in.mlir", pipeline, *self.program.options, "--mlir-disable-threading"]
        return [*argv, "-o", OUT] if self.output == "file" else argv

    def __str__(self) -> str:
        return f"{self.name}, {self.build}, output to {self.output}"


def installed_tools() -> dict[Build, str]:
    """Return the tools that are installed, by build."""
    found: dict[Build, str] = {}
    with contextlib.suppress(LaunchError):
        found["pypi"] = str(find_tool("mlir-opt").path)
    iree = Path(sys.executable).with_name("iree-opt")
    if iree.exists():
        found["iree"] = str(iree)
    if (_DEBIAN / "mlir-opt").exists():
        found["debian"] = str(_DEBIAN / "mlir-opt")
    return found


def prepare(tools: dict[Build, str]) -> None:
    """Compile the agent of each tool, which may take a minute, before the first walk."""
    for tool in tools.values():
        with actiondbg.launch([tool, "-"], stdin=os.devnull) as session:
            session.run()
