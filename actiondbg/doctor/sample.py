"""Small inputs on which compilers dispatch actions, to ask the agent what it can do there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_MODULE = """\
func.func @f(%x: i32, %y: i32) -> i32 {
  %0 = arith.addi %x, %y : i32
  return %0 : i32
}
"""
_TRITON = """\
import os
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def double(out, BLOCK: tl.constexpr):
    at = out + tl.arange(0, BLOCK)
    tl.store(at, tl.load(at) * 2)

names, values = {"out": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 128}
target = GPUTarget("cuda", 80, 32)
try:
    triton.compile(ASTSource(double, names, values), target=target)
except Exception:  # until Triton 3.1
    triton.compile(ASTSource(double, {"out": "*fp32"}, values), target=target)
"""
_JAX = """\
import jax
jax.jit(lambda x: x + x).lower(1.0).compile()
"""
_TORCH_MLIR = f'''\
from torch_mlir import ir, passmanager
with ir.Context() as context:
    context.allow_unregistered_dialects = True
    module = ir.Module.parse("""{_MODULE}""")
    passmanager.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
'''
_FORTRAN = "subroutine a(x)\n  integer :: x\n  x = x + 1\nend\n"
FLANG = r"^flang(-new)?(-\d+)?$"


@dataclass(frozen=True)
class Sample:
    """An input, and the arguments with which a tool compiles it."""

    file: str  # the name of the input
    text: str  # its content
    arguments: tuple[str, ...]  # after the tool
    environment: Mapping[str, str] = field(default_factory=dict[str, str])  # variables of the tool

    def write(self, directory: Path) -> None:
        """Write the input into a directory, which becomes the working directory of the tool."""
        (directory / self.file).write_text(self.text)


def sample_of_tool(name: str) -> Sample:
    """Return the sample of a compiled tool, by its name: as for mlir-opt if it is unknown."""
    if re.match(FLANG, name):
        return Sample("in.f90", _FORTRAN, ("-c", "in.f90", "-o", "/dev/null"))
    if name == "iree-compile":
        return Sample("in.mlir", _MODULE, ("in.mlir", "--compile-to=input", "-o", "/dev/null"))
    return Sample("in.mlir", _MODULE, ("in.mlir", "--canonicalize", "-o", "/dev/null"))


def _program(text: str, **environment: str) -> Sample:
    return Sample("program.py", text, ("program.py",), environment)


SAMPLES_OF_PACKAGES = {
    "triton": _program(_TRITON, TRITON_CACHE_DIR="cache", TRITON_DEFAULT_FP_FUSION="1"),
    "jaxlib": _program(_JAX, JAX_PLATFORMS="cpu"),
    "torch_mlir": _program(_TORCH_MLIR),
}
