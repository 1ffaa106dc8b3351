"""The programs of IREE, of its packages or of a build, and the targets of its compiler."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess, SubprocessError

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import ProviderMissing
from actiondbg.kernels.model import Configuration
from actiondbg.support.executables import answer_of

# Of a target, the name of the device to the compiler and to the runtime, the option that takes an
# architecture, and the architecture if none is named.
_GPUS = {
    "cuda": ("cuda", "cuda", "--iree-cuda-target", "sm_80"),
    "rocm": ("hip", "hip", "--iree-rocm-target", "gfx942"),
}
# IREE computes f64 as f32 by default.
_KEEP_F64 = "--iree-input-demote-f64-to-f32=false"
_CPUINFO = Path("/proc/cpuinfo")
# Where the packages have their programs: what is on PATH are Python scripts that start these.
_PACKAGES = {
    "iree-compile": ("iree.compiler", "_mlir_libs"),
    "iree-run-module": ("iree.runtime", "../_runtime_libs"),
    "iree-benchmark-module": ("iree.runtime", "../_runtime_libs"),
}


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


@dataclass(frozen=True)
class Toolchain:
    """The programs of one IREE.

    Attributes:
        build_dir: of an IREE build, or None for the installed packages.
    """

    build_dir: Path | None = None

    def program(self, name: str) -> str:
        """Return the path of a program.

        Raises:
            ProviderMissing: the packages are not installed.
            UsageError: the build does not have it.
        """
        if self.build_dir is not None:
            for folder in (self.build_dir, self.build_dir / "tools"):
                if (folder / name).exists():
                    return str((folder / name).resolve())
            raise UsageError(
                f"--build-dir {self.build_dir} has no {name}, nor has its folder tools: name an "
                "IREE build."
            )
        package, libraries = _PACKAGES[name]
        root = package_folder(package)
        program = root / libraries / name if root is not None else None
        if program is None or not program.exists():
            raise ProviderMissing("The provider iree needs IREE: pip install 'actiondbg[iree]'.")
        return str(program.resolve())

    def version(self) -> str:
        """Return the version of the compiler, and of a build also when it was made.

        Raises:
            ProviderMissing: it is not installed, or does not start.
        """
        program = self.program("iree-compile")
        version = _version(program)
        if self.build_dir is None:
            return version
        files = (program, *Path(program).parent.glob("../lib/libIREECompiler.so*"))
        return f"{version} of {max(Path(each).stat().st_mtime_ns for each in files)}"


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, which is not imported, or None."""
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # IREE's packages share the parent ``iree``
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _answer(program: str, option: str, *, check: bool = False) -> CompletedProcess[str]:
    try:
        return answer_of([program, option], 60, check=check)
    except (OSError, SubprocessError) as error:
        raise ProviderMissing(f"{program} does not start: {error}.") from error


@lru_cache
def _version(program: str) -> str:
    shown = _answer(program, "--version", check=True)
    found = re.search(r"IREE compiler version (\S+)(?: @ (\S+))?", shown.stdout)
    return " ".join(each for each in found.groups() if each) if found else shown.stdout.strip()


@lru_cache
def missing_device(program: str, device: str) -> str | None:
    """Return why a device of the runtime, such as "cuda", is not to be had, or None.

    The program ``iree-run-module`` is asked, so that this process does not load a driver.
    """
    asked = _answer(program, f"--list_devices={device}")
    vendor = {"cuda": "CUDA", "hip": "ROCm"}.get(device, device)
    if asked.returncode == 0:
        return None if asked.stdout.strip() else f"No {vendor} device: the driver lists none."
    # Such as "...cuda_dynamic_symbols.c:66: UNAVAILABLE; CUDA driver library ... not available;
    # please ensure ...".
    reason = re.search(r"; ([^;:\n]+)", asked.stderr)
    return f"No {vendor} device: {reason.group(1) if reason else 'IREE gives no reason'}."
