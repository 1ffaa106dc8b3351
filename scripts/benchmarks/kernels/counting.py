"""What counting the calls of a function costs, on calls that do next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.providers.registry import make_provider
from scripts.benchmarks.kernels.compiled import compile_kernel

_COMMAND = Path(sys.executable).with_name("actiondbg")
# Calls a kernel of one multiplication, and prints the least time of a call, in microseconds.
_PROGRAM = """\
import ctypes, sys, time
path, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
function = getattr(ctypes.CDLL(path), "_mlir_ciface_" + name)
class Memref(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("sizes", ctypes.c_int64 * 2), ("strides", ctypes.c_int64 * 2)]
buffers = [ctypes.create_string_buffer(64) for _ in range(3)]
address = [ctypes.addressof(each) for each in buffers]
shape = (ctypes.c_int64 * 2)(1, 1)
memrefs = [Memref(each, each, 0, shape, shape) for each in address]
arguments = [ctypes.addressof(each) for each in memrefs]
function.argtypes = [ctypes.c_void_p] * 3
least = float("inf")
for _ in range(rounds):
    begin = time.perf_counter()
    for _ in range(20000):
        function(*arguments)
    least = min(least, time.perf_counter() - begin)
print(least / 20000 * 1e6)
"""


def measure(folder: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield rows: what was measured, the figure, and the bar."""
    operation = Matmul(1, 1, 1)
    kernel = compile_kernel(folder, operation, make_provider("mlir").default(operation)).verify
    program = [sys.executable, "-c", _PROGRAM, os.fspath(kernel.path), operation.name]
    count = [os.fspath(_COMMAND), "kernels", "count", "-o", os.devnull]
    lines: dict[str, Sequence[str]] = {
        "bare": (),
        "none": (*count, "--events", "none", "--"),
        "three": (*count, "--events", "task-clock,page-faults,context-switches", "--"),
    }
    best = dict.fromkeys(lines, float("inf"))
    for _ in range(1 if quick else 5):
        for name, before in lines.items():
            line = [*before, *program, "3" if quick else "20"]
            done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
            best[name] = min(best[name], float(done.stdout))
    for name, words, bar in (("none", "no event", "0.5"), ("three", "three events", "3.5")):
        yield f"a counted call with {words}, µs more", f"{best[name] - best['bare']:.2f}", bar
