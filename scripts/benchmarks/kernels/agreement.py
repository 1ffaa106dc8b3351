"""Our times beside those of iree-benchmark-module, on the same module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.model import Operation
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.providers.registry import make_provider
from scripts.benchmarks.kernels.compiled import compile_kernel, operands

_TOOL = Path(sys.executable).with_name("iree-benchmark-module")
_SHAPES = ((64, 64, 64), (128, 256, 64), (512, 512, 512), (384, 256, 640))


def measure(folder: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield rows: what was measured, the figure, and the bar."""
    for shape in _SHAPES[:1] if quick else _SHAPES:
        operation = Matmul(*shape)
        configuration = make_provider("iree").configurations(operation)[0]
        kernel = compile_kernel(folder, operation, configuration)
        ours: list[float] = []
        theirs: list[float] = []
        with KernelProcess(kernel.profile, seconds=120) as process:
            process.load(operands(operation))
            calls = max(10, round(0.05 / (process.time(10)[0] / 10)))
            for _ in range(3 if quick else 10):
                ours.append(process.time(calls)[0] / calls)
                theirs.append(_benchmark(kernel, operation, calls))
        yield (
            f"{operation.name}: µs a call, ours; iree-benchmark-module's",
            f"{_range(ours)}; {_range(theirs)}",
            "within its range",
        )


def _range(times: list[float]) -> str:
    return f"{min(times) * 1e6:.1f} to {max(times) * 1e6:.1f}"


def _benchmark(kernel: CompiledKernel, operation: Operation, calls: int) -> float:
    """Return the seconds of one call, as iree-benchmark-module measures it."""
    inputs = [
        f"--input={'x'.join(map(str, each.shape))}x{each.type.value}=2" for each in operation.inputs
    ]
    line = [os.fspath(_TOOL), f"--module={kernel.profile.path}", "--device=local-sync"]
    line += [f"--function={kernel.profile.symbol}", *inputs, "--benchmark_format=json"]
    line += [f"--benchmark_min_time={calls}x"]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    (entry,) = json.loads(done.stdout)["benchmarks"]
    factor = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[entry["time_unit"]]
    return float(entry["real_time"]) * factor
