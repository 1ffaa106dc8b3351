"""The discovery of a tool: the object that holds its MLIR, and the way of the agent into it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import AgentBuildError, LaunchError, UsageError
from actiondbg.tool.headers import (
    Headers,
    check_abi,
    check_supported,
    check_version,
    find_headers,
    version_in_name,
)
from actiondbg.tool.identification.executable import locate, read_executable
from actiondbg.tool.identification.loaded_libraries import LoadedLibraries
from actiondbg.tool.identification.mlir_object import (
    Symbols,
    abi_checks,
    build_id_of,
    find_mlir_object,
    has_version,
    llvm_version,
)
from actiondbg.tool.way import Way

UNKNOWN_LLVM = "unknown"
_WAY = "ACTIONDBG_WAY"


class Tool(NamedTuple):
    """A tool that is suitable for the agent.

    Args:
        path: the executable.
        libmlir: the shared libMLIR that it loads, or the other object that holds its MLIR; None for
            a program that loads MLIR later, or starts a tool.
        headers: the include directories of that MLIR; none for the portable agent.
        llvm: the LLVM version of these headers, such as "22.1.8"; "unknown" without headers.
        build_id: identifies the build of libMLIR, or of the program.
        libllvm: the shared libLLVM that it loads, or the one of its libraries that defines whether
            there are ABI-breaking checks; or None.
        way: how the agent gets into it.
        limit: why there is no agent with headers, in one sentence with the remedy; None if there
            is.
    """

    path: Path
    libmlir: Path | None
    headers: tuple[Path, ...]
    llvm: str
    build_id: str
    libllvm: Path | None = None
    way: Way = Way.NATIVE
    limit: str | None = None


def find_tool(name: str, mlir_include: Path | None = None) -> Tool:
    """Find a tool, the object that holds its MLIR, its headers, and the way into it.

    Args:
        name: a path, used as it is; or a bare name, looked up on PATH, then in this environment.
        mlir_include: the directory of the headers, or several with colons between them; None for
            automatic discovery.

    Returns:
        The tool. Its way is ``$ACTIONDBG_WAY``, if that is set.

    Raises:
        LaunchError: there is no such tool, or it is unsuitable for the agent.
        AgentBuildError: the given headers are missing or belong to another build, or its LLVM is
            not supported.
    """
    path = locate(name)
    wanted = wanted_way()
    if read_executable(path) is None:
        return _program(path, "a script", wanted)
    libraries = LoadedLibraries(path)
    libmlir, libllvm = libraries.path_of("libMLIR"), libraries.path_of("libLLVM")
    if libmlir is None:
        # Of a build with a library for each folder (-DBUILD_SHARED_LIBS=ON), which all export.
        libmlir = libraries.path_of("libMLIRIR")
        libllvm = libllvm or libraries.path_of("libLLVMSupport")
    if libmlir is not None:
        return _tool(path, libmlir, libllvm, Way.NATIVE, mlir_include, wanted)
    found = find_mlir_object([path, *libraries.paths()])
    if found is None:
        return _program(path, "not an MLIR tool itself", wanted)
    holder, symbols = found
    if symbols is Symbols.STRIPPED:
        raise LaunchError(
            f"{str(holder)!r} is stripped of the names of MLIR's functions, which the agent needs: "
            "use a build that keeps .symtab (without strip and -s)."
        )
    return _tool(path, holder, libllvm, Way.DETOUR, mlir_include, wanted)


def _tool(
    path: Path,
    holder: Path,
    libllvm: Path | None,
    exact: Way,
    mlir_include: Path | None,
    wanted: Way | None,
) -> Tool:
    """Return the tool with the agent of the way ``exact``, or with the portable one.

    Args:
        path: the executable.
        holder: the object that holds MLIR.
        libllvm: the shared libLLVM, or None.
        exact: the way of an agent with headers.
        mlir_include: the user's directories of headers, or None.
        wanted: the user's way, or None.
    """
    if wanted is Way.NATIVE and exact is Way.DETOUR:
        raise LaunchError(
            f"{str(path)!r} loads no shared libMLIR, so that {_WAY}=native is impossible: use a "
            f"build with -DMLIR_LINK_MLIR_DYLIB=ON, or unset {_WAY}."
        )
    build_id = build_id_of(holder)
    if wanted is Way.PORTABLE:
        limit = f"{_WAY} is portable: unset it for an agent with headers."
    else:
        try:
            headers = find_headers(holder, mlir_include)
            check_version(holder, headers, _version(holder, headers, exact))
            # A static tool has LLVM in it.
            llvm = holder if libllvm is None and exact is Way.DETOUR else libllvm
            if llvm is not None:
                check_abi(llvm, headers, abi_checks(llvm))
        except AgentBuildError as error:
            if mlir_include is not None or wanted is not None:
                raise
            limit = str(error)
        else:
            check_supported(holder, headers)
            folders, way = headers.directories, wanted or exact
            return Tool(path, holder, folders, headers.llvm, build_id, libllvm, way)
    return Tool(path, holder, (), UNKNOWN_LLVM, build_id, libllvm, Way.PORTABLE, limit)


def without_headers(tool: Tool, limit: str) -> Tool:
    """Return a tool with the portable agent; ``limit`` is the reason."""
    return tool._replace(headers=(), llvm=UNKNOWN_LLVM, way=Way.PORTABLE, limit=limit)


def portable(tool: Tool) -> Tool:
    """Return a tool with the portable agent, the one that checks what it uses.

    Raises:
        UsageError: the user demands another agent.
    """
    if tool.way is Way.PORTABLE:
        return tool
    if wanted_way() is not None:
        raise UsageError(
            f"Capabilities are switched off in the portable agent only: unset {_WAY}, which is "
            f"{str(tool.way)!r}."
        )
    return without_headers(tool, "A capability is switched off, which only this agent can do.")


def _version(holder: Path, headers: Headers, exact: Way) -> str | None:
    """Return the LLVM version of an object, as far as it can differ from that of its headers.

    A libMLIR has it in its name, and reading another object takes up to a second.
    """
    if exact is Way.NATIVE:
        return version_in_name(holder)
    if has_version(holder, headers.llvm):
        return headers.llvm
    version = llvm_version(holder)
    return version.removesuffix("git") if version else None


def _program(path: Path, kind: str, wanted: Way | None) -> Tool:
    """Return the tool of a program that loads MLIR later, or starts another process with MLIR."""
    if wanted not in (None, Way.PORTABLE):
        raise LaunchError(
            f"{str(path)!r} is {kind}, so that {_WAY}={wanted} is impossible: give the path of the "
            f"compiled tool that it starts, or unset {_WAY}."
        )
    limit = (
        f"{str(path)!r} is {kind}: its MLIR is known only when it runs, and the agent is "
        "compiled without headers."
    )
    return Tool(path, None, (), UNKNOWN_LLVM, build_id_of(path), None, Way.PORTABLE, limit)


def wanted_way() -> Way | None:
    """Return the way that the user wants: $ACTIONDBG_WAY."""
    wanted = os.environ.get(_WAY, "")
    try:
        return Way(wanted) if wanted else None
    except ValueError:
        raise LaunchError(
            f"{_WAY} is {wanted!r}: set it to {', '.join(Way)}, or unset it."
        ) from None
