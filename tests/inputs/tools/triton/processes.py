"""Compile kernels of kernels.py in several processes: ``python processes.py MODE``.

Each mode compiles "add" in another process; all but "exec" compile "softmax" in this one, too.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
from pathlib import Path

import triton  # so that a fork has MLIR loaded

KERNELS = str(Path(__file__).with_name("kernels.py"))


def compile_kernel(name: str) -> None:
    """Write NAME.ptx and so on into the working directory."""
    sys.argv = [KERNELS, name]
    runpy.run_path(KERNELS, run_name="__main__")


def in_fork(name: str) -> None:
    """Compile a kernel in a fork, which ends at once, as forks of Python programs do."""
    child = os.fork()
    if child == 0:
        compile_kernel(name)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def in_pool(name: str, method: str) -> None:
    """Compile a kernel in a worker of multiprocessing."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        pool.map(compile_kernel, [name])
        pool.close()
        pool.join()


def in_program(name: str) -> None:
    """Compile a kernel in a program of its own."""
    subprocess.run([sys.executable, KERNELS, name], check=True)


def main(mode: str) -> None:
    """Compile the kernels."""
    assert triton.__version__
    if mode == "fork-before":
        in_fork("add")
        compile_kernel("softmax")
    elif mode == "fork-after":
        compile_kernel("softmax")
        in_fork("add")
    elif mode in ("pool-fork", "pool-spawn", "pool-forkserver"):
        in_pool("add", mode.removeprefix("pool-"))
        compile_kernel("softmax")
    elif mode == "program-before":
        in_program("add")
        compile_kernel("softmax")
    elif mode == "program-after":
        compile_kernel("softmax")
        in_program("add")
    elif mode == "exec":
        compile_kernel("softmax")
        try:
            os.execvp("there-is-no-such-program", ["x"])
        except FileNotFoundError:
            os.execv(sys.executable, [sys.executable, KERNELS, "add"])


if __name__ == "__main__":
    main(sys.argv[1])
