"""Find a tool; of a compiler driver, such as flang, the compiler that it starts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import LaunchError, UnusableMLIR
from actiondbg.support.executables import answer_of
from actiondbg.tool.agent_environment import is_sanitizer
from actiondbg.tool.identification import (
    UNUSABLE,
    LoadedLibraries,
    abi_checks,
    build_id_of,
    find_mlir_object,
    llvm_version,
    locate,
    read_executable,
    symbols_of,
)

_DRIVER = r"^flang(-new)?(-\d+)?$"
_WORD = r'"((?:[^"\\]|\\.)*)"|(\S+)'
_DRIVER_SECONDS = 60


def is_driver(argv: list[str]) -> bool:
    """Whether a command line calls a driver, which would start a compiler."""
    return bool(argv and re.match(_DRIVER, Path(argv[0]).name)) and "-fc1" not in argv


def expand_driver(argv: list[str], cwd: Path | None = None) -> list[str]:
    """Replace a flang driver's command line by that of the compiler that it would start.

    The agent works in one process, and the driver starts flang -fc1 as another. If the command
    links too, only the compiler is debugged, without its object, the driver's temporary file.

    Args:
        argv: a command line; returned unchanged unless it calls the driver.
        cwd: the working directory of the command; None for the current one.

    Returns:
        The command line to debug.

    Raises:
        LaunchError: the driver cannot be run, or would not start exactly one compiler.
    """
    if not is_driver(argv):
        return argv
    jobs, messages = _ask_driver(argv, cwd)
    compilers = [job for job in jobs if "-fc1" in job[:2]]
    if len(compilers) == 1:
        return _without_temporary(compilers[0]) if len(jobs) > 1 else compilers[0]
    error = next((line for line in messages if "error:" in line), None)
    if error is not None:
        raise LaunchError(f"{argv[0]} refused the command line: {error.strip()}")
    raise LaunchError(
        f"{argv[0]} would start {len(compilers)} compilers, and only one can be debugged: "
        "give one source file, or debug one of the -fc1 commands that -### prints."
    )


def _ask_driver(argv: list[str], cwd: Path | None) -> tuple[list[list[str]], list[str]]:
    """Return the jobs that the driver would start, and its other lines."""
    try:
        answer = answer_of([argv[0], "-###", *argv[1:]], _DRIVER_SECONDS, cwd=cwd)
    except FileNotFoundError as error:
        raise LaunchError(f"There is no tool {argv[0]!r}: check its path, or PATH.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(
            f"The query of {argv[0]!r} for its compiler failed ({error}): "
            "give the command line of the compiler itself, with -fc1."
        ) from error
    lines = answer.stderr.splitlines()
    jobs = [_words(line) for line in lines if line.startswith(' "')]
    return jobs, [line for line in lines if not line.startswith(' "')]


def _words(line: str) -> list[str]:
    """Split a line of -###, with double quotes and backslash escapes, into words.

    Source: clang and flang, llvm::sys::printArg in llvm/lib/Support/Program.cpp.
    """
    return [
        re.sub(r"\\(.)", r"\1", quoted) if quoted or not bare else bare
        for quoted, bare in re.findall(_WORD, line)
    ]


def _without_temporary(job: list[str]) -> list[str]:
    if "-o" not in job[:-1]:
        return job
    at = job.index("-o") + 1
    return [*job[:at], "/dev/null", *job[at + 1 :]]


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
    sanitizers: tuple[Path, ...] = ()  # the shared runtimes of sanitizers that it is linked with

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
        raise UnusableMLIR(f"{str(libmlir)!r} {UNUSABLE[symbols]}.", libmlir)
    sanitizers = tuple(one for one in libraries.found() if is_sanitizer(one))
    return Tool(path, libmlir, build_id_of(libmlir), libllvm, sanitizers)


def _program(path: Path) -> Tool:
    """Return the tool of a program that loads MLIR later, or starts another process with MLIR."""
    return Tool(path, None, build_id_of(path))
