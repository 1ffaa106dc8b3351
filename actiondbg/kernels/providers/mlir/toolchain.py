"""The compilers of the provider ``mlir``, and the CPU that they compile for."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from actiondbg.kernels.errors import ProviderMissing
from actiondbg.support.executables import answer_of, which
from actiondbg.tool.identification import build_id_of, package_directories

_SECONDS = 60
_INSTALL = "pip install 'actiondbg[mlir]'"
_NAMES = ("mlir-opt", "mlir-translate", "llc")
_SYSTEM = Path("/usr/lib")
_CPU_INFORMATION = Path("/proc/cpuinfo")
# The width of the vector registers, by the feature of the CPU that implies it, as Linux names it.
_VECTOR_BITS = (("avx512f", 512), ("avx", 256), ("sve", 128), ("asimd", 128), ("sse2", 128))


@dataclass(frozen=True)
class Toolchain:
    """The compilers.

    Attributes:
        mlir_opt: applies the configuration, and lowers to the dialect LLVM.
        mlir_translate: exports LLVM IR.
        llc: generates code.
        cc: links, and compiles the loop that times a kernel.
        version: of LLVM, such as "22.1.8", the same in all of them.
        triple: of the target, such as "x86_64-unknown-linux-gnu".
        cpu: the CPU at hand, by its name in LLVM.
        vector_bits: the width of the CPU's vector registers.
        runtime: the directory of libmlir_c_runner_utils, or None.
        vector_math: whether glibc's libmvec is there: exp and the like on vectors.
    """

    mlir_opt: Path
    mlir_translate: Path
    llc: Path
    cc: Path
    version: str
    triple: str
    cpu: str
    vector_bits: int
    runtime: Path | None
    vector_math: bool

    @property
    def major(self) -> int:
        return _number(self.version)

    @property
    def identity(self) -> str:
        """The versions, the build and the target, in one line."""
        parts = [
            f"LLVM {self.version}",
            self.triple,
            self.cpu,
            f"vectors of {self.vector_bits} bits",
            f"build {self._build}",
        ]
        return ", ".join([*parts, "libmvec"] if self.vector_math else parts)

    @property
    def _build(self) -> str:
        """A digest of the programs and their libraries: a build anew may keep its version."""
        files = [self.mlir_opt, self.mlir_translate, self.llc]
        for directory in sorted({each.resolve().parent.parent / "lib" for each in files}):
            files += sorted(directory.glob("lib[LM]L*.so*"))  # of LLVM and MLIR
        digest = hashlib.sha256()
        for each in files:
            build = build_id_of(each) or str(each.stat().st_size)
            digest.update(f"{each.name} {build}\n".encode())
        return digest.hexdigest()[:12]


@cache
def find_toolchain() -> Toolchain:
    """Find the compilers: of this environment's packages, on PATH, or of the system.

    Raises:
        ProviderMissing: there are none, or their versions differ.
    """
    found = next(_candidates(), None)
    if found is None:
        raise ProviderMissing(
            f"The provider mlir needs {', '.join(_NAMES[:-1])} and {_NAMES[-1]} of one version: "
            f"{_INSTALL}."
        )
    mlir_opt, mlir_translate, llc = found
    cc = which("cc") or which("gcc") or which("clang")
    if cc is None:
        raise ProviderMissing(
            "The provider mlir needs a C compiler, which links kernels: apt-get install gcc."
        )
    listing = _output(llc, "--version")
    version = _version(listing)
    try:
        information = _CPU_INFORMATION.read_text()
    except OSError:  # a system that does not list the features of the CPU
        information = ""
    listed = "".join(re.findall(r"(?m)^(?:flags|Features)\s*:.*", information))
    features = set(re.findall(r"\w+", listed))
    for tool in (mlir_opt, mlir_translate):
        other = _version(_output(tool, "--version"))
        if other != version:
            raise ProviderMissing(
                f"The provider mlir needs tools of one version, but {str(tool)!r} is of LLVM "
                f"{other} and {str(llc)!r} of LLVM {version}: {_INSTALL}."
            )
    libraries, name = mlir_opt.resolve().parent.parent / "lib", "libmvec.so"
    # The compiler prints the name alone if it does not find the file.
    has_libmvec = _output(Path(cc), f"-print-file-name={name}").strip() != name
    return Toolchain(
        mlir_opt,
        mlir_translate,
        llc,
        Path(cc),
        version,
        _field(listing, "Default target"),
        _field(listing, "Host CPU"),
        next((bits for feature, bits in _VECTOR_BITS if feature in features), 128),
        libraries if (libraries / "libmlir_c_runner_utils.so").exists() else None,
        # The CPU has to run all functions that llc may call.
        has_libmvec and ("sse2" not in features or "avx2" in features),
    )


def _candidates() -> Iterator[tuple[Path, Path, Path]]:
    """List sets of the tools, the preferred first."""
    for directories in _directories():
        paths = [_first(name, directories) for name in _NAMES]
        if all(paths):
            mlir_opt, mlir_translate, llc = (path for path in paths if path is not None)
            yield mlir_opt, mlir_translate, llc


def _directories() -> Iterator[list[Path]]:
    """List groups of directories that belong together."""
    packaged = [*package_directories("mlir"), *package_directories("llvm")]
    yield [directory / "bin" for directory in packaged]
    yield [Path(directory) for directory in os.get_exec_path()]
    installed = _SYSTEM.glob("llvm-*/bin")
    for directory in sorted(installed, key=lambda each: _number(each.parent.name), reverse=True):
        yield [directory]


def _first(name: str, directories: list[Path]) -> Path | None:
    paths = (directory / name for directory in directories)
    return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _number(name: str) -> int:
    digits = re.search(r"\d+", name)
    return int(digits[0]) if digits else 0


def _output(tool: Path, *options: str) -> str:
    try:
        done = answer_of([tool, *options], _SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProviderMissing(
            f"The provider mlir cannot run {str(tool)!r} ({error}): {_INSTALL}."
        ) from error
    if done.returncode:
        raise ProviderMissing(
            f"The provider mlir cannot run {str(tool)!r} ({done.stderr.strip()[:200]}): {_INSTALL}."
        )
    return done.stdout


def _version(listing: str) -> str:
    found = re.search(r"LLVM version (\S+)", listing)
    return found[1] if found else "unknown"


def _field(listing: str, name: str) -> str:
    found = re.search(rf"{name}: (\S+)", listing)
    if found is None:
        raise ProviderMissing(f"llc --version prints no '{name}': {_INSTALL}.")
    return found[1]
