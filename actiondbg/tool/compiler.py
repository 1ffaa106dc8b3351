"""The C++ compiler of the agent, and its options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import AgentBuildError
from actiondbg.support.executables import which

# Release semantics in both kinds of build: what NDEBUG adds to the headers is assertions and
# dump(), never a member; the layout follows llvm/Config/abi-breaking.h.
FLAGS = (
    "-std=c++17",
    "-O2",
    "-DNDEBUG",
    # The header's own check is a reference to a symbol of libLLVM; a process without libLLVM that
    # inherits the agent would not start. agent_compilation.check_abi compares the two instead.
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


class Compiler(NamedTuple):
    """A C++ compiler: its command, and an identity that differs between versions."""

    command: tuple[str, ...]
    identity: str


def find_compiler() -> Compiler:
    """Find the C++ compiler: $CXX, else g++, clang++ or c++ on PATH.

    Raises:
        AgentBuildError: there is none.
    """
    wanted = os.environ.get("CXX", "").strip()
    if wanted:
        return _chosen(wanted)
    for name in ("g++", "clang++", "c++"):
        found = which(name)
        if found is not None:
            return Compiler((found,), _identity(found))
    raise AgentBuildError(
        "There is no C++ compiler on PATH to compile the agent with: install one "
        "(apt-get install g++), or set CXX."
    )


def _chosen(wanted: str) -> Compiler:
    import shlex

    try:
        words = shlex.split(wanted)
    except ValueError:
        words = [wanted]
    # The identity includes a launcher before the compiler, such as ccache.
    programs = [which(word) for word in words if not word.startswith("-")]
    if programs[:1] == [None] or not programs:
        raise AgentBuildError(
            f"CXX is {wanted!r}, and there is no such program: set CXX to a C++ compiler, "
            "or unset it."
        )
    return Compiler(tuple(words), "\0".join(_identity(p) for p in programs if p) + wanted)


def _identity(program: str) -> str:
    """Identify a version of a program without running it, which would cost 10 ms at each start."""
    path = Path(program).resolve()
    stat = path.stat()
    return f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}"
