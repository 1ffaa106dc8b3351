"""The C++ headers of an MLIR: their discovery, version and ABI checks."""

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
_SONAME_VERSION = r"^libMLIR(?:IR)?(?:-\d+)?\.so\.(\d+(?:\.\d+)*)$"
_LLVM_DIRECTORY = r"/llvm-(\d+)/"


class Headers(NamedTuple):
    """Include directories, MLIR's first, and the LLVM version in them."""

    directories: tuple[Path, ...]
    llvm: str


def find_headers(holder: Path, mlir_include: Path | None = None) -> Headers:
    """Find the headers of an object that holds MLIR, such as libMLIR.

    They are found in the layouts of an install prefix, of Debian and of PyPI, and in build trees.

    Args:
        holder: the shared library, or the executable.
        mlir_include: the user's include directory, or several with colons between them; or None.

    Returns:
        The headers.

    Raises:
        AgentBuildError: the headers of MLIR or of LLVM are missing.
    """
    if mlir_include is not None:
        return _given(mlir_include, holder)
    for directory in _candidates(holder):
        if (directory / _MLIR_HEADER).is_file():
            return _headers(directory, holder)
    # Imported lazily: a build tree is rare.
    from actiondbg.tool.identification.build_tree import tree_includes

    tree = tree_includes(holder)
    if any((directory / _MLIR_HEADER).is_file() for directory in tree):
        return _several(tree, holder)
    raise AgentBuildError(
        f"The MLIR headers of {str(holder)!r} are missing: {header_remedy(holder)}."
    )


def check_supported(holder: Path, headers: Headers) -> None:
    """Refuse an LLVM that is too old.

    Raises:
        AgentBuildError: the headers belong to it.
    """
    if int(headers.llvm.split(".")[0]) < OLDEST_LLVM:
        raise AgentBuildError(
            f"{str(holder)!r} belongs to LLVM {headers.llvm}, and actiondbg needs LLVM "
            f"{OLDEST_LLVM} or later: use a newer build of the tool."
        )


def check_version(holder: Path, headers: Headers, version: str | None) -> None:
    """Refuse headers of another version than the object's.

    Args:
        holder: the library or the executable.
        headers: its headers.
        version: the LLVM version of the object, or the first numbers of it; None if unknown.

    Raises:
        AgentBuildError: the versions differ.
    """
    if version and not f"{headers.llvm}.".startswith(f"{version}."):
        raise AgentBuildError(
            f"The headers in {str(headers.directories[0])!r} belong to LLVM {headers.llvm}, but "
            f"{str(holder)!r} belongs to LLVM {version}: {header_remedy(holder)}."
        )


def check_abi(holder: Path, headers: Headers, checks: bool | None) -> None:
    """Refuse headers with another class layout than the library's, which would crash the tool.

    Args:
        holder: the library or the executable with LLVM.
        headers: the headers.
        checks: whether the library has ABI-breaking checks; None if unknown.

    Raises:
        AgentBuildError: the layouts differ.
    """
    expected = _has_abi_checks(headers.directories)
    if checks is not None and checks is not expected:
        kind = "with" if expected else "without"
        raise AgentBuildError(
            f"The headers in {str(headers.directories[0])!r} belong to a build {kind} assertions, "
            f"but {str(holder)!r} does not: give --mlir-include the directory of its own headers."
        )


def header_remedy(holder: Path) -> str:
    """Return the way to install the headers, guessed from the library's location."""
    if {"site-packages", "dist-packages"} & set(holder.parts) and "mlir" in holder.parts:
        return "pip install xtc-mlir-dev xtc-llvm-dev, or give --mlir-include DIR"
    major = _major_of(holder)
    if major and _is_distribution(holder):
        return f"apt-get install libmlir-{major}-dev llvm-{major}-dev, or give --mlir-include DIR"
    return "give --mlir-include DIR, the include directory of the MLIR that the tool was built from"


def _has_abi_checks(directories: tuple[Path, ...]) -> bool:
    """Return whether classes have the members of a build with ABI-breaking checks.

    Source: llvm/Config/abi-breaking.h. The layout follows this constant and not NDEBUG.
    """
    for directory in directories:
        if (directory / _ABI_HEADER).is_file():
            text = (directory / _ABI_HEADER).read_text()
            return re.search(_ABI_CHECKS, text, re.MULTILINE) is not None
    return False


def _given(given: Path, holder: Path) -> Headers:
    """Return the headers in the directories that the user gave, which a colon separates."""
    named = [given] if given.exists() else [Path(part) for part in str(given).split(os.pathsep)]
    for part in named:
        if not part.is_dir():
            raise AgentBuildError(
                f"{str(part)!r} is not a directory: give --mlir-include include directories of the "
                "MLIR that the tool was built from."
            )
    directories = [_include_in(part.absolute()) for part in named]
    if not any((directory / _MLIR_HEADER).is_file() for directory in directories):
        raise AgentBuildError(
            f"{str(given)!r} holds no {_MLIR_HEADER}: give --mlir-include the include "
            "directory of the MLIR that the tool was built from."
        )
    if len(directories) == 1:
        return _headers(directories[0], holder)
    return _several(tuple(directories), holder)


def _include_in(directory: Path) -> Path:
    """Return a directory, or the one of headers in it."""
    inner = directory / "include"
    if (inner / _MLIR_HEADER).is_file() or (inner / _LLVM_HEADER).is_file():
        return inner
    return directory


def _several(directories: tuple[Path, ...], holder: Path) -> Headers:
    """Return the headers in directories of which each has some, as in a build tree."""
    for directory in directories:
        if (directory / _LLVM_HEADER).is_file():
            return Headers(directories, _read_version(directory))
    raise _no_llvm_headers(directories[0], holder)


def _candidates(holder: Path) -> Iterator[Path]:
    places = (Path(os.path.normpath(holder)), holder.resolve())
    for place in places:
        yield place.parent.parent / "include"
    for place in places:
        major = _major_of(place)
        if major and _is_distribution(place):
            yield Path(f"/usr/lib/llvm-{major}/include")


def _headers(mlir: Path, holder: Path) -> Headers:
    prefix = mlir.parent
    for llvm in (mlir, prefix.parent / "llvm" / mlir.name, prefix / "llvm" / mlir.name):
        if (llvm / _LLVM_HEADER).is_file():
            return Headers((mlir,) if llvm == mlir else (mlir, llvm), _read_version(llvm))
    raise _no_llvm_headers(mlir, holder)


def _no_llvm_headers(mlir: Path, holder: Path) -> AgentBuildError:
    return AgentBuildError(
        f"The LLVM headers that belong to {str(mlir)!r} are missing: {header_remedy(holder)}."
    )


def _read_version(llvm: Path) -> str:
    found = re.search(_VERSION, (llvm / _LLVM_HEADER).read_text(), re.MULTILINE)
    if found is None:
        raise AgentBuildError(
            f"{str(llvm / _LLVM_HEADER)!r} defines no LLVM version: give --mlir-include the "
            "include directory of an installed MLIR."
        )
    return found[1]


def version_in_name(holder: Path) -> str | None:
    """Return the version in the name of a library, as in libMLIR.so.22.1."""
    for name in (holder.name, holder.resolve().name):
        found = re.match(_SONAME_VERSION, name)
        if found:
            return found[1]
    return None


def _major_of(holder: Path) -> str | None:
    version = version_in_name(holder)
    if version:
        return version.split(".")[0]
    found = re.search(_LLVM_DIRECTORY, str(holder))
    return found[1] if found else None


def _is_distribution(holder: Path) -> bool:
    return holder.is_relative_to("/usr") and not holder.is_relative_to("/usr/local")
