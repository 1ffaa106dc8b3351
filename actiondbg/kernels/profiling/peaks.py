"""The peaks of the machine: what one core can compute and move at most, measured once."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import source_hash
from pathlib import Path

import msgspec

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import PeaksUnknown
from actiondbg.kernels.model import Operation
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.decoders import decoder_of
from actiondbg.support.executables import answer_of
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.c_part import CPart
from actiondbg.tool.c_part import peaks as peaks_programs
from actiondbg.tool.shipped import link_name

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
        PeaksUnknown: they cannot be measured.
    """
    try:
        program = _fastest().file()
        stored = (
            cache_directory()
            / f"{link_name(program.name)}-{source_hash(_cpu().encode()).hex()}.json"
        )
        if not remeasure:
            peaks = _stored(stored)
            if peaks is not None:
                return peaks
        peaks = parse_peaks(_measured(program))
        stored.parent.mkdir(parents=True, exist_ok=True)
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


def _fastest(machine: str = platform.machine()) -> CPart:
    """Return the program for the most features that this machine's processors have."""
    features = set(_cpu().split())
    fit = [part for part in peaks_programs(machine) if part.cpu <= features and part.is_shipped]
    if not fit:
        raise PeaksUnknown(f"The machine's peak is unknown: it is not measured on {machine}.")
    return fit[-1]


def _cpu() -> str:
    """Return the model and the features of the first CPU."""
    first = _CPU_INFO.read_text(errors="replace").partition("\n\n")[0]
    return "\n".join(line for line in first.splitlines() if line.startswith(_CPU_FACTS))


def _stored(file: Path) -> MachinePeaks | None:
    try:
        return decoder_of(MachinePeaks).decode(file.read_bytes())
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _measured(program: Path) -> str:
    try:
        result = answer_of([program], _SECONDS)
    except subprocess.TimeoutExpired as error:
        raise PeaksUnknown(
            f"The machine's peak is unknown: it could not be measured in {_SECONDS:g} s."
        ) from error
    if result.returncode:
        lines = result.stderr.strip().splitlines() or [f"status {result.returncode}"]
        raise PeaksUnknown(f"The machine's peak is unknown: measuring it failed ({lines[0]}).")
    return result.stdout


def parse_peaks(text: str) -> MachinePeaks:
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
