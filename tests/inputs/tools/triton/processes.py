# RUN: python %s spawn
# RUN: python %s child
# RUN: python %s threads
# RUN: python %s errors
"""Kernels compiled by other processes, by threads, and after one that does not compile.

``python processes.py HOW`` prints the size of the PTX of each kernel.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kernels
import triton
import triton.language as tl
from triton.compiler import ASTSource

NAMES = ["add", "softmax"]


def size(name):
    """Compile a kernel and return the size of its PTX."""
    return len(kernels.compile_kernel(name).asm["ptx"])


@triton.jit
def wrong(in_ptr, BLOCK: tl.constexpr):
    """Add vectors of different lengths."""
    values = tl.load(in_ptr + tl.arange(0, BLOCK))
    tl.store(in_ptr + tl.arange(0, 2 * BLOCK), values)


def put_size(queue, name):
    """Put the size of the PTX of a kernel into a queue."""
    queue.put(size(name))


def in_processes(method):
    """Return the sizes of kernels that two processes compile."""
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=put_size, args=(queue, name)) for name in NAMES]
    for process in processes:
        process.start()
    sizes = sorted(queue.get() for _ in processes)
    for process in processes:
        process.join()
    return sizes


def in_child():
    """Return the size of a kernel after a process of its own compiled another."""
    program = str(Path(kernels.__file__))
    subprocess.run([sys.executable, program, "softmax"], check=True)
    return [size("add")]


def in_threads():
    """Return the sizes of kernels that two threads compile."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(size, NAMES))


def after_errors():
    """Return the size of a kernel, compiled after one that is wrong."""
    source = ASTSource(wrong, {"in_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    try:
        triton.compile(source, target=kernels.TARGET)
    except triton.CompilationError as error:
        print(type(error).__name__)
    return [size("add")]


HOW = {
    "fork": lambda: in_processes("fork"),
    "spawn": lambda: in_processes("spawn"),
    "child": in_child,
    "threads": in_threads,
    "errors": after_errors,
}

if __name__ == "__main__":
    print(HOW[sys.argv[1]]())
