"""Kernels that iree-run-module and iree-benchmark-module of an IREE build run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.execution.kernel import KernelBinary, LoadedKernel
from actiondbg.kernels.model import Operation, Tensor
from actiondbg.kernels.packages import np
from actiondbg.support.counts import NANOSECONDS
from actiondbg.support.decoders import decoder_of
from actiondbg.support.scratch_directory import scratch_directory

EMPTY_CALL = "actiondbg_empty_call"
_EMPTY_CALLS = 1000


def empty_call(operation: Operation) -> str:
    """Return the MLIR of a function with the signature of an operation's.

    As the operation's function does, it checks its operands, allocates the result and runs one
    dispatch, which computes nothing.
    """
    operands = [f"%{each.name}: {each.mlir}" for each in operation.inputs]
    names = [f"%{each.name}" for each in operation.inputs]
    types = ", ".join(each.mlir for each in operation.inputs)
    used = f"  %used:{len(names)} = util.optimization_barrier {', '.join(names)} : {types}\n"
    result = operation.result.mlir
    return f"""func.func @{EMPTY_CALL}({", ".join(operands)}) -> {result} {{
{used if names else ""}  %out = tensor.empty() : {result}
  %same = flow.dispatch.region -> ({result}) {{
    flow.return %out : {result}
  }}
  return %same : {result}
}}
"""


class _Benchmark(msgspec.Struct):
    real_time: float
    time_unit: str


class _Benchmarks(msgspec.Struct):
    benchmarks: list[_Benchmark]


def load(binary: KernelBinary) -> LoadedKernel:
    return ProgramKernel(binary)


class ProgramKernel:
    """A function of a module, which a program loads for each call.

    Args:
        binary: the module; settings ``run`` and ``benchmark``, the programs; ``device``, and
            ``batch``: how often one call of the function runs each of its dispatches.
    """

    def __init__(self, binary: KernelBinary) -> None:
        self._binary = binary
        self._batch = int(binary.settings.get("batch", 1))

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        result = self._binary.result
        with scratch_directory("kernel") as folder:
            output = folder / "result.bin"
            options = [*self._options(inputs, folder, self._binary.symbol), f"--output=@{output}"]
            self._start("run", options)
            content = np.fromfile(output, np.uint8)
        return content.view(result.type.dtype).reshape(result.shape)

    def time(self, inputs: Sequence[np.ndarray], calls: int) -> float:
        invocations = -(-calls // self._batch)
        return self._time(self._binary.symbol, inputs, invocations) * calls

    def call_seconds(self, inputs: Sequence[np.ndarray]) -> float | None:
        """Call the function that does nothing; see TimedCall."""
        if self._binary.settings["device"] != "local-sync":
            return None
        return self._time(EMPTY_CALL, inputs, _EMPTY_CALLS)

    def _time(self, function: str, inputs: Sequence[np.ndarray], invocations: int) -> float:
        """Return the seconds of one dispatch in some calls of a function."""
        with scratch_directory("kernel") as folder:
            options = [
                *self._options(inputs, folder, function),
                f"--batch_size={self._batch}",
                f"--benchmark_min_time={invocations * self._batch}x",
                "--benchmark_format=json",
            ]
            shown = self._start("benchmark", options)
        measured = decoder_of(_Benchmarks).decode(shown).benchmarks[0]
        return measured.real_time * NANOSECONDS[measured.time_unit] * 1e-9

    def _options(self, inputs: Sequence[np.ndarray], folder: Path, function: str) -> list[str]:
        """Write the operands into files, and return the options that both programs take."""
        options = [
            f"--module={self._binary.path}",
            f"--device={self._binary.settings['device']}",
            f"--function={function}",
        ]
        for tensor, array in zip(self._binary.inputs, inputs, strict=True):
            path = folder / f"{tensor.name}.bin"
            path.write_bytes(array.tobytes())
            options.append(f"--input={_shape(tensor)}=@{path}")
        return options

    def _start(self, program: str, options: Sequence[str]) -> bytes:
        command = [str(self._binary.settings[program]), *options]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            return done.stdout
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = f": {lines[0]}" if lines else ""
        name = Path(command[0]).name
        raise KernelError(f"{name} failed with exit status {done.returncode}{reason}.")


def _shape(tensor: Tensor) -> str:
    """Return a type as the programs write it, such as ``4x8xf32``."""
    return "x".join((*(str(size) for size in tensor.shape), tensor.type.value))
