"""Compiler drivers, such as flang, and the compilers that they start."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from actiondbg.errors import LaunchError
from actiondbg.support.executables import answer_of

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
