"""Kernels in C: ``void kernel(const T *lhs, const T *rhs, T *result)``."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import numpy

from actiondbg.kernels.execution.buffers import allocate
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Operation

HEADER = """\
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
"""

# The body of a matmul in float.
MATMUL = """\
for (int i = 0; i < {m}; i++)
  for (int j = 0; j < {n}; j++) {{
    float sum = 0;
    for (int k = 0; k < {k}; k++)
      sum += lhs[i * {k} + k] * rhs[k * {n} + j];
    result[i * {n} + j] = sum;
  }}
"""


def compile_kernel(folder: Path, operation: Operation, body: str) -> KernelBinary:
    """Compile a kernel.

    Args:
        folder: gets the library.
        operation: decides the arguments, ``const float *lhs`` and the like, then ``*result``.
        body: of the function.
    """
    names = {"f32": "float", "f64": "double", "i32": "int", "i8": "signed char", "f16": "_Float16"}
    arguments = [f"const {names[each.type.value]} *{each.name}" for each in operation.inputs]
    result = f"{names[operation.result.type.value]} *result"
    source = folder / "kernel.c"
    signature = f"void kernel({', '.join([*arguments, result])})"
    source.write_text(f"{HEADER}{signature} {{\n{body}\n}}\n")
    library = folder / "kernel.so"
    command = ["cc", "-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return KernelBinary(
        "tests.fakes.kernels.c_kernel:load", library, "kernel", operation.inputs, operation.result
    )


class CKernel:
    """A loaded kernel."""

    runs_in_this_thread = True

    def __init__(self, binary: KernelBinary) -> None:
        self._binary = binary
        self._function = getattr(ctypes.CDLL(str(binary.path)), binary.symbol)

    def run(self, inputs: Sequence[numpy.ndarray]) -> numpy.ndarray:
        result = allocate(self._binary.result)
        self._call([*inputs, result])
        return result

    def time(self, inputs: Sequence[numpy.ndarray], calls: int) -> float:
        result = allocate(self._binary.result)
        start = time.perf_counter()
        for _ in range(calls):
            self._call([*inputs, result])
        return time.perf_counter() - start

    def _call(self, arrays: Sequence[numpy.ndarray]) -> None:
        self._function(*(each.ctypes.data_as(ctypes.c_void_p) for each in arrays))


def load(binary: KernelBinary) -> CKernel:
    """Load the library of a kernel."""
    return CKernel(binary)
