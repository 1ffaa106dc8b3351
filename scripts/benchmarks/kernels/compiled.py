"""Kernels compiled for a benchmark, and their times measured in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration, Operation
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.sweep.settings import SweepSettings

_LEAST_SECONDS = 0.02  # of one repetition


def compile_kernel(
    folder: Path, operation: Operation, configuration: Configuration
) -> CompiledKernel:
    """Compile one kernel.

    Raises:
        KernelError: the compilation failed.
    """
    kernels = Kernels(SweepSettings(generated_dir=folder), providers=[configuration.provider])
    (dispatch,) = kernels.generate([operation], configurations=[configuration])
    compiled = kernels.sweep([dispatch]).stages.compiler.compile(dispatch)
    if compiled.kernel is None:
        raise KernelError(f"{dispatch.name}: {compiled.compilation.error}")
    return compiled.kernel


def operands(operation: Operation) -> list[np.ndarray]:
    """Return operands of small integers."""
    numbers = np.random.default_rng(1)
    return [
        numbers.integers(-3, 4, each.shape).astype(each.type.dtype) for each in operation.inputs
    ]


def least_seconds(
    operation: Operation,
    kernels: Mapping[str, CompiledKernel],
    others: Mapping[str, Callable[[int], float]],
    rounds: int,
) -> dict[str, float]:
    """Return the least seconds of one call of each kernel and of other functions, in turn.

    Args:
        operation: of the kernels.
        kernels: by their names.
        others: by their names; each makes some calls and returns their seconds.
        rounds: how often each is measured.
    """
    with ExitStack() as stack:
        runs: dict[str, Callable[[int], float]] = dict(others)
        for name, kernel in kernels.items():
            process = stack.enter_context(KernelProcess(kernel.profile, seconds=120))
            process.load(operands(operation))
            runs[name] = lambda calls, process=process: process.time(calls)[0]
        calls = {name: _calls(run) for name, run in runs.items()}
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(rounds):
            for name, run in runs.items():
                best[name] = min(best[name], run(calls[name]) / calls[name])
        return best


def _calls(run: Callable[[int], float]) -> int:
    """Return how many calls take long enough to be measured."""
    calls = 1
    while (taken := run(calls)) < _LEAST_SECONDS:
        calls *= 2 if taken <= 0 else max(2, min(10, round(_LEAST_SECONDS / taken)))
    return calls


def gflops(operation: Operation, seconds: Sequence[float]) -> list[float]:
    """Return the rates of times of one call."""
    return [operation.flops / each / 1e9 for each in seconds]
