"""The targets of IREE: this machine's CPU, and GPUs by NVIDIA and AMD."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Configuration

# Of a target, the name of the device to the compiler and to the runtime, the option that takes an
# architecture, and the architecture if none is named.
_GPUS = {
    "cuda": ("cuda", "cuda", "--iree-cuda-target", "sm_80"),
    "rocm": ("hip", "hip", "--iree-rocm-target", "gfx942"),
}
# IREE computes f64 as f32 by default.
_KEEP_F64 = "--iree-input-demote-f64-to-f32=false"
_CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Target:
    """What code is compiled for.

    Attributes:
        device: "cpu", "cuda" or "rocm".
        arch: the architecture of a GPU, such as ``sm_80``; "" for the CPU.
    """

    device: str
    arch: str

    @property
    def name(self) -> str:
        """A short name for names of configurations: "" for the CPU."""
        return self.arch.replace("-", "_")

    @property
    def flags(self) -> tuple[str, ...]:
        if self.device == "cpu":
            return (
                _KEEP_F64,
                "--iree-hal-target-device=local",
                "--iree-hal-local-target-device-backends=llvm-cpu",
                "--iree-llvmcpu-target-cpu=host",
            )
        device, _, option, _ = _GPUS[self.device]
        return (_KEEP_F64, f"--iree-hal-target-device={device}", f"{option}={self.arch}")

    @property
    def runtime_device(self) -> str:
        """The IREE device that runs the code; on the CPU ``local-sync``: the calling thread."""
        return "local-sync" if self.device == "cpu" else _GPUS[self.device][1]


def make_target(device: str, arch: str = "") -> Target:
    """Make a target.

    Raises:
        UsageError: there is no such device, or the CPU is given an architecture.
    """
    if device == "cpu":
        if arch:
            raise UsageError(f"The architecture {arch} is of a GPU: add --device cuda or rocm.")
        return Target("cpu", "")
    if device not in _GPUS:
        raise UsageError(f"Unknown device '{device}'; iree has cpu, {', '.join(_GPUS)}.")
    return Target(device, arch or _GPUS[device][3])


def target_of(configuration: Configuration) -> Target:
    """Return the target of a configuration; see ``make_target``."""
    parameters = configuration.parameters
    return make_target(str(parameters.get("device", "cpu")), str(parameters.get("arch", "")))


@lru_cache
def _cpu_flags() -> tuple[str, ...]:
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.exists() else []
    found = [line.partition(":")[2] for line in lines if line.startswith(("flags", "Features"))]
    return tuple(sorted(found[0].split())) if found else ()


def cpu_identity() -> str:
    """Return a digest of the CPU's features, on which code for the host depends."""
    return hashlib.sha256(" ".join(_cpu_flags()).encode()).hexdigest()[:12]


def vector_bytes() -> int:
    """Return the size of this CPU's vector registers: 16, 32 or 64."""
    flags = _cpu_flags()
    if "avx512f" in flags:
        return 64
    return 32 if "avx2" in flags else 16
