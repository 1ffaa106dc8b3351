"""The compilers of the agent and of the counting library, and the agent's options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import AgentBuildError
from actiondbg.support.executables import which
from actiondbg.tool.way import Way

# Release semantics in both kinds of build: what NDEBUG adds to the headers is assertions and
# dump(), never a member; the layout follows llvm/Config/abi-breaking.h.
FLAGS = (
    "-std=c++17",
    "-O2",
    "-DNDEBUG",
    # The header's own check is a reference to a symbol of libLLVM; a process without libLLVM that
    # inherits the agent would not start. headers.check_abi compares the two instead.
    "-DLLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING=1",
    "-fno-rtti",
    "-fno-exceptions",
    "-fPIC",
    "-fno-access-control",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-Wall",
    "-Wextra",
)
STRICT = "-Werror"
LINK_FLAGS = ("-shared", "-pthread", "-ldl", "-lrt")  # before glibc 2.34 these are libraries
# For what agent/glibc binds to versions that were in libraries of their own.
OLD_LIBRARIES = (
    "-Wl,--push-state,--no-as-needed",
    "-l:libpthread.so.0",
    "-l:libdl.so.2",
    "-l:librt.so.1",
    "-Wl,--pop-state",
)
_DETOUR_FLAGS = ("-DADBG_DETOUR",)
# References to the tool are bound when it is known: not all at load, and in memory that stays
# writable.
_DETOUR_LINK = ("-Wl,-z,lazy", "-Wl,-z,norelro")
_WAY_FLAGS = {
    Way.NATIVE: (),
    Way.DETOUR: _DETOUR_FLAGS,
    Way.PORTABLE: (*_DETOUR_FLAGS, "-DADBG_PORTABLE"),
}
_WAY_LINK = {
    Way.NATIVE: (),
    Way.DETOUR: _DETOUR_LINK,
    # The program may have another C++ library, or an older one.
    Way.PORTABLE: (*_DETOUR_LINK, "-static-libstdc++", "-static-libgcc", *OLD_LIBRARIES),
}


def flags_of(way: Way) -> tuple[str, ...]:
    """List the compiler's options for the agent of a way."""
    return FLAGS + _WAY_FLAGS[way]


def link_flags_of(way: Way) -> tuple[str, ...]:
    """List the linker's options for the agent of a way."""
    return LINK_FLAGS + _WAY_LINK[way]


class Compiler(NamedTuple):
    """A compiler: its command, and an identity that differs between versions."""

    command: tuple[str, ...]
    identity: str


def find_compiler() -> Compiler:
    """Find the C++ compiler: $CXX, else g++, clang++ or c++ on PATH.

    Raises:
        AgentBuildError: there is none.
    """
    return _find("CXX", "C++", ("g++", "clang++", "c++"))


def find_c_compiler() -> Compiler:
    """Find the C compiler: $CC, else gcc, clang or cc on PATH.

    Raises:
        AgentBuildError: there is none.
    """
    return _find("CC", "C", ("gcc", "clang", "cc"))


def _find(variable: str, language: str, names: tuple[str, ...]) -> Compiler:
    wanted = os.environ.get(variable, "").strip()
    if wanted:
        return _chosen(wanted, variable, language)
    for name in names:
        found = which(name)
        if found is not None:
            return Compiler((found,), _identity(found))
    raise AgentBuildError(
        f"There is no {language} compiler on PATH to compile the agent with: install one "
        f"(apt-get install {names[0]}), or set {variable}."
    )


def _chosen(wanted: str, variable: str, language: str) -> Compiler:
    import shlex

    try:
        words = shlex.split(wanted)
    except ValueError:
        words = [wanted]
    # The identity includes a launcher before the compiler, such as ccache.
    programs = [which(word) for word in words if not word.startswith("-")]
    if programs[:1] == [None] or not programs:
        raise AgentBuildError(
            f"{variable} is {wanted!r}, and there is no such program: set {variable} to a "
            f"{language} compiler, or unset it."
        )
    return Compiler(tuple(words), "\0".join(_identity(p) for p in programs if p) + wanted)


def _identity(program: str) -> str:
    """Identify a version of a program without running it, which would cost 10 ms at each start."""
    path = Path(program).resolve()
    stat = path.stat()
    return f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}"
