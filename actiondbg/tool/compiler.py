"""The compilers of what is shipped, and the agent's options."""

from __future__ import annotations

import os

from actiondbg.errors import AgentBuildError
from actiondbg.support.executables import which

FLAGS = (
    "-std=c++20",
    "-O2",
    "-DNDEBUG",
    "-fno-rtti",
    "-fno-exceptions",
    "-fPIC",
    "-fno-access-control",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-Wall",
    "-Wextra",
)
# For what agent/glibc binds to versions that were in libraries of their own, before glibc 2.34.
OLD_LIBRARIES = (
    "-Wl,--push-state,--no-as-needed",
    "-l:libpthread.so.0",
    "-l:libdl.so.2",
    "-l:librt.so.1",
    "-Wl,--pop-state",
)
LINK_FLAGS = (
    "-shared",
    "-pthread",
    "-ldl",
    "-lrt",
    # References to the tool are bound when it is known: not all at load, and in memory that stays
    # writable.
    "-Wl,-z,lazy",
    "-Wl,-z,norelro",
    # The program may have another C++ library, or an older one.
    "-static-libstdc++",
    "-static-libgcc",
    *OLD_LIBRARIES,
)


def find_compiler() -> list[str]:
    """Return the command of the C++ compiler: $CXX, else g++, clang++ or c++ on PATH.

    Raises:
        AgentBuildError: there is none.
    """
    return _find("CXX", "C++", ("g++", "clang++", "c++"))


def find_c_compiler() -> list[str]:
    """Return the command of the C compiler: $CC, else gcc, clang or cc on PATH.

    Raises:
        AgentBuildError: there is none.
    """
    return _find("CC", "C", ("gcc", "clang", "cc"))


def _find(variable: str, language: str, names: tuple[str, ...]) -> list[str]:
    wanted = os.environ.get(variable, "").strip()
    if wanted:
        return _chosen(wanted, variable, language)
    for name in names:
        found = which(name)
        if found is not None:
            return [found]
    raise AgentBuildError(
        f"There is no {language} compiler on PATH to compile the agent with: install one "
        f"(apt-get install {names[0]}), or set {variable}."
    )


def _chosen(wanted: str, variable: str, language: str) -> list[str]:
    import shlex

    try:
        words = shlex.split(wanted)
    except ValueError:
        words = [wanted]
    if which(words[0]) is None:
        raise AgentBuildError(
            f"{variable} is {wanted!r}, and there is no such program: set {variable} to a "
            f"{language} compiler, or unset it."
        )
    return words
