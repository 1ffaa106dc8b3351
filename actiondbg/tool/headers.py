"""The C++ headers of a libMLIR: their discovery, version and ABI checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import AgentBuildError

OLDEST_LLVM = 19

_MLIR_HEADER = Path("mlir/IR/MLIRContext.h")
_LLVM_HEADER = Path("llvm/Config/llvm-config.h")
_ABI_HEADER = Path("llvm/Config/abi-breaking.h")
# Compiled at use: most runs need only a few.
_VERSION = r'^#define LLVM_VERSION_STRING "(\d+(?:\.\d+)*)'
_ABI_CHECKS = r"^#define LLVM_ENABLE_ABI_BREAKING_CHECKS 1"
_SONAME_VERSION = r"^libMLIR(?:-\d+)?\.so\.(\d+(?:\.\d+)*)$"
_LLVM_DIRECTORY = r"/llvm-(\d+)/"


class Headers(NamedTuple):
    """Include directories, MLIR's first, and the LLVM version in them."""

    directories: tuple[Path, ...]
    llvm: str


def find_headers(libmlir: Path, mlir_include: Path | None = None) -> Headers:
    """Find the headers of a libMLIR, in the layouts of an install prefix, of Debian and of PyPI.

    Args:
        libmlir: the shared library.
        mlir_include: the user's include directory, or None.

    Returns:
        The headers.

    Raises:
        AgentBuildError: the headers of MLIR or of LLVM are missing.
    """
    if mlir_include is not None:
        return _headers(_given(mlir_include.absolute()), libmlir)
    for directory in _candidates(libmlir):
        if (directory / _MLIR_HEADER).is_file():
            return _headers(directory, libmlir)
    raise AgentBuildError(
        f"The MLIR headers of {str(libmlir)!r}, which the agent needs, are missing: "
        f"{_remedy(libmlir)}."
    )


def check_version(libmlir: Path, headers: Headers) -> None:
    """Refuse an LLVM that is too old, and headers of another version than the library's.

    Raises:
        AgentBuildError: the version is too old, or the versions differ.
    """
    if int(headers.llvm.split(".")[0]) < OLDEST_LLVM:
        raise AgentBuildError(
            f"{str(libmlir)!r} belongs to LLVM {headers.llvm}, and actiondbg needs LLVM "
            f"{OLDEST_LLVM} or later: use a newer build of the tool."
        )
    version = _version_of(libmlir)
    if version and not f"{headers.llvm}.".startswith(f"{version}."):
        raise AgentBuildError(
            f"The headers in {str(headers.directories[0])!r} belong to LLVM {headers.llvm}, but "
            f"{str(libmlir)!r} belongs to LLVM {version}: {_remedy(libmlir)}."
        )


def has_abi_checks(headers: tuple[Path, ...]) -> bool:
    """Return whether classes have the members of a build with ABI-breaking checks.

    Source: llvm/Config/abi-breaking.h. The layout follows this constant and not NDEBUG.
    """
    for directory in headers:
        if (directory / _ABI_HEADER).is_file():
            text = (directory / _ABI_HEADER).read_text()
            return re.search(_ABI_CHECKS, text, re.MULTILINE) is not None
    return False


def _given(directory: Path) -> Path:
    for candidate in (directory, directory / "include"):
        if (candidate / _MLIR_HEADER).is_file():
            return candidate
    raise AgentBuildError(
        f"{str(directory)!r} holds no {_MLIR_HEADER}: give --mlir-include the include directory of "
        "the MLIR that the tool was built from."
    )


def _candidates(libmlir: Path) -> Iterator[Path]:
    places = (Path(os.path.normpath(libmlir)), libmlir.resolve())
    for place in places:
        yield place.parent.parent / "include"
    for place in places:
        major = _major_of(place)
        if major and _is_distribution(place):
            yield Path(f"/usr/lib/llvm-{major}/include")


def _headers(mlir: Path, libmlir: Path) -> Headers:
    prefix = mlir.parent
    for llvm in (mlir, prefix.parent / "llvm" / mlir.name, prefix / "llvm" / mlir.name):
        if (llvm / _LLVM_HEADER).is_file():
            return Headers((mlir,) if llvm == mlir else (mlir, llvm), _read_version(llvm))
    raise AgentBuildError(
        f"The LLVM headers that belong to {str(mlir)!r} are missing: {_remedy(libmlir)}."
    )


def _read_version(llvm: Path) -> str:
    found = re.search(_VERSION, (llvm / _LLVM_HEADER).read_text(), re.MULTILINE)
    if found is None:
        raise AgentBuildError(
            f"{str(llvm / _LLVM_HEADER)!r} defines no LLVM version: give --mlir-include the "
            "include directory of an installed MLIR."
        )
    return found[1]


def _version_of(libmlir: Path) -> str | None:
    """Return the version in the name of a library, as in libMLIR.so.22.1."""
    for name in (libmlir.name, libmlir.resolve().name):
        found = re.match(_SONAME_VERSION, name)
        if found:
            return found[1]
    return None


def _major_of(libmlir: Path) -> str | None:
    version = _version_of(libmlir)
    if version:
        return version.split(".")[0]
    found = re.search(_LLVM_DIRECTORY, str(libmlir))
    return found[1] if found else None


def _is_distribution(libmlir: Path) -> bool:
    return libmlir.is_relative_to("/usr") and not libmlir.is_relative_to("/usr/local")


def _remedy(libmlir: Path) -> str:
    """Return the way to install the headers, guessed from the library's location."""
    if {"site-packages", "dist-packages"} & set(libmlir.parts):
        return "pip install xtc-mlir-dev xtc-llvm-dev, or give --mlir-include DIR"
    major = _major_of(libmlir)
    if major and _is_distribution(libmlir):
        return f"apt-get install libmlir-{major}-dev llvm-{major}-dev, or give --mlir-include DIR"
    return "give --mlir-include DIR, the include directory of the MLIR that the tool was built from"
