"""The peaks of the machine: what one core can compute and move at most, measured once."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import source_hash
from pathlib import Path

import msgspec

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import PeaksUnknown
from actiondbg.kernels.model.operation import Operation
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.agent_cache import AGENT_SOURCE
from actiondbg.tool.compiler import Compiler, find_c_compiler

_SOURCE = AGENT_SOURCE / "peaks" / "peaks.c"
# Stores of whole cache lines, and registers as wide as they are.
_FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O3", "-ffp-contract=fast")
_NATIVE = {
    "x86_64": ("-march=native", "-mprefer-vector-width=512"),
    "aarch64": ("-mcpu=native",),
}
_SECONDS = 120.0
_CPU_INFO = Path("/proc/cpuinfo")
_CPU_FACTS = ("model name", "flags", "Features", "CPU part")


@dataclass(frozen=True)
class Level:
    """A level of the memory, as one core sees it.

    Attributes:
        name: such as "L2" or "memory".
        size: of the operands that were measured, in bytes.
        bandwidth: bytes a second of a triad, ``a = b + 3 c``.
    """

    name: str
    size: int
    bandwidth: float


@dataclass(frozen=True)
class MachinePeaks:
    """What one core can do at most.

    Attributes:
        gflops: of independent chains of fused multiply-adds, by the type of the elements; i8 adds
            up in i32, and bf16 in f32. A type that the core has no instructions for is missing.
        levels: of the memory, the smallest first.
    """

    gflops: Mapping[str, float]
    levels: tuple[Level, ...]

    def gflops_of(self, operation: Operation) -> float | None:
        """Return the peak for an operation: of its operands' type, or of its accumulator's."""
        types = {operation.accumulator.value}
        if operation.accumulator.is_float and operation.accumulator.bits < 32:
            types.add("f32")  # computed in it, and rounded
        # Chains of f16 add up in f16: they are no peak of sums in f32.
        types |= {each.type.value for each in operation.inputs} & {"i8", "bf16"}
        return max((self.gflops[type] for type in types if type in self.gflops), default=None)

    def bandwidth_of(self, operation: Operation) -> float | None:
        """Return the bandwidth of the smallest level that has room for operands and result."""
        for level in self.levels:
            if operation.bytes <= level.size:
                return level.bandwidth
        return self.levels[-1].bandwidth if self.levels else None


def machine_peaks(*, remeasure: bool = False) -> MachinePeaks:
    """Return the peaks of this machine; measure them, in some seconds, if the cache has none.

    Args:
        remeasure: measure them even if the cache has them.

    Raises:
        PeaksUnknown: they cannot be measured, for example without a C compiler.
    """
    try:
        compiler = find_c_compiler()
        options = [*_FLAGS, *_NATIVE.get(platform.machine(), ())]
        stored = cache_directory() / f"peaks-{_key(compiler, options)}.json"
        if not remeasure:
            peaks = _stored(stored)
            if peaks is not None:
                return peaks
        peaks = _measured(compiler, options, stored)
        write_whole(stored, msgspec.json.encode(peaks))
    except OSError as error:
        raise PeaksUnknown(
            f"The machine's peak is unknown: {str(cache_directory())!r} cannot be used "
            f"({error.strerror}): make it writable, or set XDG_CACHE_HOME."
        ) from error
    except PeaksUnknown:
        raise
    except ActiondbgError as error:
        raise PeaksUnknown(f"The machine's peak is unknown: {error}") from error
    return peaks


def _key(compiler: Compiler, options: list[str]) -> str:
    """Return a hash of what the peaks depend on: the CPU, the compiler and the source."""
    parts = [compiler.identity, *options, _cpu()]
    return source_hash("\0".join(parts).encode() + _SOURCE.read_bytes()).hex()


def _cpu() -> str:
    """Return the model and the features of the first CPU."""
    first = _CPU_INFO.read_text(errors="replace").partition("\n\n")[0]
    return "\n".join(line for line in first.splitlines() if line.startswith(_CPU_FACTS))


def _stored(file: Path) -> MachinePeaks | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=MachinePeaks)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _measured(compiler: Compiler, options: list[str], stored: Path) -> MachinePeaks:
    stored.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Beside the result: programs in /tmp may not be executable.
    with tempfile.TemporaryDirectory(prefix="build-", dir=stored.parent) as directory:
        program = Path(directory) / "peaks"
        _run([*compiler.command, *options, str(_SOURCE), "-o", str(program)], "compiled")
        return parse_peaks(_run([str(program)], "measured"))


def _run(command: list[str], done: str) -> str:
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PeaksUnknown(
            f"The machine's peak is unknown: it could not be {done} in {_SECONDS:g} s."
        ) from error
    if result.returncode:
        lines = result.stderr.strip().splitlines() or [f"status {result.returncode}"]
        raise PeaksUnknown(
            f"The machine's peak is unknown: {_SOURCE.name} could not be {done} ({lines[0]}): set "
            "CC to another compiler."
        )
    return result.stdout


def parse_peaks(text: str) -> MachinePeaks:
    """Return the peaks that the program printed."""
    gflops: dict[str, float] = {}
    levels: list[Level] = []
    for line in text.splitlines():
        match line.split():
            case ["flops", type, rate]:
                gflops[type] = float(rate)
            case ["bytes", name, size, rate]:
                levels.append(Level(name, int(size), float(rate)))
            case _:
                continue
    return MachinePeaks(gflops, tuple(levels))
