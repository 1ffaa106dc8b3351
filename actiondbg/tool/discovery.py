"""The discovery of a tool, and of the object that holds its MLIR."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import LaunchError
from actiondbg.tool.identification.executable import locate, read_executable
from actiondbg.tool.identification.loaded_libraries import LoadedLibraries
from actiondbg.tool.identification.mlir_object import (
    UNUSABLE,
    abi_checks,
    build_id_of,
    find_mlir_object,
    llvm_version,
    symbols_of,
)


class Tool(NamedTuple):
    """A tool that is suitable for the agent.

    Args:
        path: the executable.
        libmlir: the shared libMLIR that it loads, or the other object that holds its MLIR; None for
            a program that loads MLIR later, or starts a tool.
        build_id: identifies the build of libMLIR, or of the program.
        libllvm: the shared libLLVM that it loads, or the one of its libraries that defines whether
            there are ABI-breaking checks; or None.
    """

    path: Path
    libmlir: Path | None
    build_id: str
    libllvm: Path | None = None

    def llvm(self) -> str | None:
        """Return the LLVM version of its MLIR, such as "22.1.8"; None if it is unknown.

        Reads the constants of an object, half a gigabyte of Triton's in a second.
        """
        for holder in (self.libmlir, self.libllvm):
            version = llvm_version(holder) if holder is not None else None
            if version is not None:
                return version
        return None

    def assertions(self) -> bool | None:
        """Return whether its LLVM was built with assertions; None if that is not known."""
        holder = self.libllvm or self.libmlir
        return None if holder is None else abi_checks(holder)


def find_tool(name: str) -> Tool:
    """Find a tool, and the object that holds its MLIR.

    Args:
        name: a path, used as it is; or a bare name, looked up on PATH, then in this environment.

    Raises:
        LaunchError: there is no such tool, or it is unsuitable for the agent.
    """
    path = locate(name)
    if read_executable(path) is None:
        return _program(path)
    libraries = LoadedLibraries(path)
    libmlir, libllvm = libraries.path_of("libMLIR"), libraries.path_of("libLLVM")
    if libmlir is None:
        # Of a build with a library for each folder (-DBUILD_SHARED_LIBS=ON), which all export.
        libmlir = libraries.path_of("libMLIRIR")
        libllvm = libllvm or libraries.path_of("libLLVMSupport")
    if libmlir is None:
        found = find_mlir_object([path, *libraries.paths()])
        if found is None:
            return _program(path)
        libmlir, symbols = found
    else:
        symbols = symbols_of(libmlir)
    if symbols in UNUSABLE:
        raise LaunchError(f"{str(libmlir)!r} {UNUSABLE[symbols]}.")
    return Tool(path, libmlir, build_id_of(libmlir), libllvm)


def _program(path: Path) -> Tool:
    """Return the tool of a program that loads MLIR later, or starts another process with MLIR."""
    return Tool(path, None, build_id_of(path))
