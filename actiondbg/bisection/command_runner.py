"""Running the commands of an oracle: bounded in time, and never longer than we live."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_SHOWN = 2000  # characters of what a command wrote that are kept
# The leader of a group: when we are gone, its standard input ends, and it kills the group.
_LEADER = "read -r line; kill -KILL 0"


class Completed(NamedTuple):
    """How a command ended.

    Attributes:
        status: its exit status, negative for a signal; None when it did not end in time.
        output: the file that holds what it wrote to its stdout.
        errors: the end of what it wrote to its stderr.
    """

    status: int | None
    output: Path
    errors: str


class Cancelled(Exception):
    """What was waited for is not needed any more."""


class Runner:
    """Runs commands one after another, in a process group of their own.

    Args:
        directory: for what they write.
    """

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
            command: of the shell, if it is one text; else words.
            stdin: the file on its standard input; None for nothing.
            seconds: it is killed after so long; None for never.
            cwd: where it runs; None for here.
            tools: a directory whose programs it finds before those of PATH.

        Raises:
            OSError: it cannot be started.
            Cancelled: ``cancel`` was called.
        """
        output, errors = self._directory / "command.out", self._directory / "command.err"
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
                # Also what the command left running: it would go on while others are judged.
                self._kill()
                process.wait()
        self._check()
        return Completed(status, output, _end_of(errors))

    def cancel(self) -> None:
        """Kill what runs, and run nothing any more; another thread may call it."""
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
    # And filecheck, if it came with us.
    path = [str(tools), os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    return {**os.environ, "PATH": os.pathsep.join(path)}


def _end(leader: subprocess.Popen[bytes]) -> None:
    """Kill a group. Its leader is not reaped yet, so the number is still the group's."""
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
