"""The include directories of a build or an install tree, from the files of CMake in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_LEVELS = 4  # from the directory of a tool up to that of its build, as in build/tools/x/bin
_CONFIG = Path("lib/cmake/mlir/MLIRConfig.cmake")
_LLVM_CONFIG = "LLVMConfig.cmake"
_CACHE = "CMakeCache.txt"
# MLIR_INCLUDE_DIRS "/src/mlir/include;/build/tools/mlir/include", and LLVM's two.
_INCLUDES = r'^\s*set\((?:MLIR|LLVM)_INCLUDE_DIRS?\s+"([^"]*)"\)'
_LLVM_DIRECTORY = r'^\s*find_package\(LLVM\b[^)]*HINTS "(/[^"$]*)"'
_CACHED = r"^{name}:[A-Z]+=(.+)$"


def tree_includes(holder: Path) -> tuple[Path, ...]:
    """Return the include directories of the tree that an object was built in, MLIR's first.

    They are from MLIRConfig.cmake of a build or an install tree around the object, or from the
    MLIR_DIR of the build of another project.

    Args:
        holder: an executable or a library.

    Returns:
        The directories; none if there is no such tree.
    """
    for directory in _around(holder):
        if (directory / _CONFIG).is_file():
            return _configured((directory / _CONFIG).parent)
        if (directory / _CACHE).is_file():
            return _cached(directory / _CACHE)
    return ()


def _around(holder: Path) -> Iterator[Path]:
    for place in dict.fromkeys((holder.absolute(), holder.resolve())):
        yield from list(place.parents)[1 : _LEVELS + 1]


def _cached(cache: Path) -> tuple[Path, ...]:
    """Return the directories of the build with a CMakeCache.txt."""
    text = cache.read_text(errors="replace")
    mlir, llvm = _variable(text, "MLIR_DIR"), _variable(text, "LLVM_DIR")
    if mlir is not None:
        return _configured(mlir, llvm)
    source = _variable(text, "LLVM_SOURCE_DIR") or _variable(text, "CMAKE_HOME_DIRECTORY")
    if source is None:
        return ()
    build = cache.parent
    found = (
        source.parent / "mlir/include",
        build / "tools/mlir/include",
        source / "include",
        build / "include",
    )
    return tuple(path for path in found if path.is_dir())


def _variable(text: str, name: str) -> Path | None:
    found = re.search(_CACHED.format(name=name), text, re.MULTILINE)
    return Path(found[1]) if found and found[1].startswith("/") else None


def _configured(mlir: Path, llvm: Path | None = None) -> tuple[Path, ...]:
    """Return the directories that the CMake packages of MLIR and of LLVM name.

    Args:
        mlir: the directory of MLIRConfig.cmake.
        llvm: that of LLVMConfig.cmake; None for the one that MLIR names, or the one beside it.
    """
    text = _text(mlir / _CONFIG.name)
    named = re.search(_LLVM_DIRECTORY, text, re.MULTILINE)
    places = [llvm, Path(named[1]) if named else None, mlir.parent / "llvm"]
    texts = [text, *(_text(place / _LLVM_CONFIG) for place in places if place is not None)]
    found = [path for one in texts for path in _include_directories(one)]
    prefix = mlir.parent.parent.parent / "include"  # of lib/cmake/mlir
    return tuple(dict.fromkeys(path for path in [*found, prefix] if path.is_dir()))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _include_directories(text: str) -> Iterator[Path]:
    for listed in re.findall(_INCLUDES, text, re.MULTILINE):
        for word in listed.split(";"):
            # A path relative to the install prefix begins with a variable.
            if word.startswith("/"):
                yield Path(word)
