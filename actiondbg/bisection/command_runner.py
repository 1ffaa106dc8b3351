"""Run commands with a time limit; they end with this process, also when it is killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

STDOUT, STDERR = "command.out", "command.err"  # the files of a command
_SHOWN = 2000  # characters of stderr that are kept
# The leader of a process group: when this process ends, the leader reads the end of its standard
# input and kills the group.
_LEADER = "read -r line; kill -KILL 0"


class Completed(NamedTuple):
    """A finished command.

    Attributes:
        status: the exit status, negative for a signal; None if the command timed out.
        output: the file of its stdout.
        errors: why it died, such as a failed assertion, or the last lines of its stderr.
        in_compiler: whether it died while LLVM made code: a program that it runs did not begin.
    """

    status: int | None
    output: Path
    errors: str
    in_compiler: bool = False


class Cancelled(Exception):
    """Another thread cancelled the trial or the command."""


class CommandRunner:
    """Runs commands one after another, each in a process group of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._leader: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    def run(
        self,
        command: str | Sequence[str],
        stdin: Path | None = None,
        seconds: float | None = None,
        cwd: Path | None = None,
        tools: Path | None = None,
    ) -> Completed:
        """Run a command and wait for it.

        Args:
            command: a command of the shell, or a list of words.
            stdin: the file on its standard input; None for no input.
            seconds: the time limit; None for no limit.
            cwd: its working directory; None for this process's.
            tools: a directory that is searched for programs before PATH.

        Raises:
            OSError: the command cannot be started.
            Cancelled: ``cancel`` was called.
        """
        output, errors = self._directory / STDOUT, self._directory / STDERR
        with (
            open(stdin or os.devnull, "rb") as source,
            open(output, "wb") as out,
            open(errors, "wb") as err,
        ):
            streams = source.fileno(), out.fileno(), err.fileno()
            process = self._start(command, streams, cwd, tools)
            try:
                status = process.wait(seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                # Kill background processes too: they would disturb later trials.
                self._kill()
                process.wait()
        self._check()
        in_compiler = (status or 0) < 0 and any(map(_COMPILING.match, error_lines(errors)))
        return Completed(status, output, fatal_error(errors) or _end_of(errors), in_compiler)

    def cancel(self) -> None:
        """Kill the running command and refuse later ones; another thread may call this."""
        self._cancelled = True
        self._kill()

    def _start(
        self,
        command: str | Sequence[str],
        streams: tuple[int, int, int],
        cwd: Path | None,
        tools: Path | None,
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            self._check()
            self._leader = subprocess.Popen(
                ["/bin/sh", "-c", _LEADER],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
            try:
                return subprocess.Popen(
                    command,
                    shell=isinstance(command, str),
                    stdin=streams[0],
                    stdout=streams[1],
                    stderr=streams[2],
                    cwd=cwd,
                    env=_environment(tools),
                    process_group=self._leader.pid,
                )
            except BaseException:
                _end(self._leader)
                self._leader = None
                raise

    def _kill(self) -> None:
        with self._lock:
            leader, self._leader = self._leader, None
            if leader is not None:
                _end(leader)

    def _check(self) -> None:
        if self._cancelled:
            raise Cancelled


def _environment(tools: Path | None) -> dict[str, str] | None:
    if tools is None:
        return None
    # The last entry has filecheck, if it was installed with actiondbg.
    path = [str(tools), os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    return {**os.environ, "PATH": os.pathsep.join(path)}


def _end(leader: subprocess.Popen[bytes]) -> None:
    """Kill a process group. Its leader is not reaped yet, so the pid cannot have been reused."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()
    if leader.stdin is not None:
        leader.stdin.close()


def _end_of(file: Path) -> str:
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 4 * _SHOWN, 0))
        text = stream.read().decode(errors="replace").strip()
    return text if len(text) <= _SHOWN else "... " + text[-_SHOWN:]


_FATAL = re.compile(
    r"Assertion [`'\"].*['\"] failed|LLVM ERROR: |UNREACHABLE executed|terminate called after|"
    r"ERROR: AddressSanitizer"
)
# As glibc's assert writes it: the program, the file, the line and the signature come before.
_ASSERTION = re.compile(r"(?:.*[ /])?([^ /]+:\d+): .*?(Assertion .* failed)")
# LLVM's crash handler, and the frames of its stack trace.
_TRACE = re.compile(
    r"PLEASE submit a bug report|Stack dump|\d+\.\t|\s*#\d+ |\s*\.\.\. |Aborted|\S+\(\+0x"
)
_LAST = 3  # lines
# In what LLVM prints of a crash of its own.
_COMPILING = re.compile(r"LLVM ERROR: |\d+\.\s+Running pass '")


def fatal_error(errors: Path) -> str:
    """Return the line with the reason of a crash, such as a failed assertion, or nothing."""
    found = fatal_line(error_lines(errors))
    assertion = _ASSERTION.match(found)
    return f"{assertion[1]}: {assertion[2]}" if assertion else found


def failure_text(errors: Path) -> str:
    """Return why a program failed, on one line.

    That is the reason of a crash, else the first error, else the last lines. Stack traces are left
    out.
    """
    lines = [line for line in error_lines(errors) if not _TRACE.match(line)]
    error = next((line for line in lines if "error:" in line), "")
    return fatal_error(errors) or error or " / ".join(lines[-_LAST:])


def fatal_line(lines: Iterable[str]) -> str:
    """Return the whole line with the reason of a crash, or nothing."""
    return next((line for line in lines if _FATAL.search(line)), "")


def without_trace(text: str) -> str:
    """Return what a tool wrote to stderr without LLVM's stack trace of a crash, if it has one."""
    if "Stack dump" not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not _TRACE.match(line))


def error_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file of stderr that are not empty; none if it cannot be read."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            yield from (line.strip() for line in stream if line.strip())
    except OSError:
        return
