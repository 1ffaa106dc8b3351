"""How fast kernels are: beside OpenBLAS, and beside IREE with and without a configuration."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from actiondbg.kernels.model import Operation
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.problems.problem import problem_operations
from actiondbg.kernels.providers.registry import make_provider
from scripts.benchmarks.kernels.compiled import compile_kernel, least_seconds, operands

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


_ROUNDS = 40
_OTHERS = (
    ("batch_matmul", {"batch": 8, "m": 128, "n": 128, "k": 128}),
    ("batch_matmul", {"batch": 5, "m": 96, "n": 160, "k": 200}),
    ("conv_2d", {"height": 58, "width": 58, "channels": 64, "filters": 64}),
    (
        "conv_2d",
        {"height": 57, "width": 57, "channels": 32, "filters": 64, "stride_h": 2, "stride_w": 2},
    ),
    ("matmul_bias_relu", {"m": 256, "n": 256, "k": 256}),
    ("matmul_bias_relu", {"m": 300, "n": 200, "k": 500}),
)


def measure(folder: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield rows: what was measured, the figure, and the bar."""
    rounds = 3 if quick else _ROUNDS
    for m, n, k in (
        [(64, 64, 64)] if quick else [(512, 512, 512), (384, 256, 640), (1000, 520, 330)]
    ):
        yield from _matmul(folder, Matmul(m, n, k), rounds)
    for kind, sizes in _OTHERS[:1] if quick else _OTHERS:
        window = {"batch": 1, "kernel_h": 3, "kernel_w": 3} if kind == "conv_2d" else {}
        (operation,) = problem_operations({"kind": kind, **window, **sizes})
        yield from _beside_iree(folder, operation, rounds)


def _matmul(folder: Path, operation: Matmul, rounds: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rates of the first predefined configurations, which are chosen by a rule."""
    mlir, iree = make_provider("mlir"), make_provider("iree")
    kernels = {
        "mlir": compile_kernel(folder, operation, mlir.configurations(operation)[0]),
        "iree": compile_kernel(folder, operation, iree.configurations(operation)[0]),
        "iree default": compile_kernel(folder, operation, iree.default(operation)),
    }
    best = least_seconds(operation, kernels, {"OpenBLAS": _numpy_matmul(operation)}, rounds)
    rates = {name: operation.flops / each / 1e9 for name, each in best.items()}
    title = f"{operation.name}, one thread, GFLOP/s"
    listed = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
    yield title, listed, ""
    yield "mlir against OpenBLAS", f"{rates['mlir'] / rates['OpenBLAS']:.2f}", "0.65"
    ratio = rates["iree"] / rates["iree default"]
    yield "iree configured against its default", f"{ratio:.2f}", "1.2"


def _numpy_matmul(operation: Matmul) -> Callable[[int], float]:
    lhs, rhs = operands(operation)
    result = np.empty(operation.result.shape, np.float32)

    def run(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            np.matmul(lhs, rhs, out=result)
        return time.perf_counter() - begin

    return run


def _beside_iree(folder: Path, operation: Operation, rounds: int) -> Iterator[tuple[str, str, str]]:
    mlir, iree = make_provider("mlir"), make_provider("iree")
    kernels = {
        "mlir": compile_kernel(folder, operation, mlir.configurations(operation)[0]),
        "iree default": compile_kernel(folder, operation, iree.default(operation)),
    }
    best = least_seconds(operation, kernels, {}, rounds)
    rates = {name: operation.flops / each / 1e9 for name, each in best.items()}
    listed = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
    yield f"{operation.name}, one thread, GFLOP/s", listed, ""
    yield "mlir against iree's default", f"{rates['mlir'] / rates['iree default']:.2f}", "0.5"
