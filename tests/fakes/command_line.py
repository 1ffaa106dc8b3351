"""The command line in a process that need not import all packages again."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from functools import cache
from pathlib import Path

from tests.paths import ROOT

# Of no test. OpenBLAS starts no threads, which forks would lack.
_ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def run(
    *words: object,
    stdin: str = "",
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = False,
    merged: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the command line as ``subprocess.run`` does, in a fork of a process that waits for it.

    Args:
        words: of the command line, after the name of the program.
        stdin: the text of the standard input.
        cwd: the working directory.
        env: the environment; variables that are read when Python starts do nothing.
        check: whether an exit code other than 0 is an error.
        merged: whether both outputs are one text, that of ``stdout``.
    """
    given = [str(word) for word in words]
    request = {
        "words": given,
        "cwd": str(Path.cwd() / (cwd or "")),
        "env": dict(os.environ if env is None else env),
    }
    try:
        code, out, err = _started().run(request, stdin, merged)
    except BaseException:
        _started().kill()
        _started.cache_clear()
        raise
    if check and code:
        raise AssertionError(f"{' '.join(given)} failed with {code}:\n{out}{err}")
    return subprocess.CompletedProcess(given, code, out, err)


def kept_processes() -> set[int]:
    """Return the process that the next command line is a fork of, if one waits."""
    return {_started().pid} if _started.cache_info().currsize else set()


class _WarmProcess:
    """A process that has imported the command line; see warm_process."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._child = 0  # that runs a command line
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fakes.warm_process", str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_ENVIRONMENT,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def run(self, request: Mapping[str, object], stdin: str, merged: bool) -> tuple[int, str, str]:
        """Return the exit status, and both outputs."""
        with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
            streams = [stack.enter_context(_input(stdin))]
            texts: list[bytearray] = []
            writers = contextlib.ExitStack()
            for _ in range(1 if merged else 2):
                reader, writer = os.pipe()
                stack.callback(os.close, reader)
                writers.callback(os.close, writer)
                streams.append(writer)
                texts.append(bytearray())
                selector.register(reader, selectors.EVENT_READ, texts[-1])
            if merged:
                streams.append(streams[-1])
            with writers:
                message = json.dumps(request).encode()
                socket.send_fds(self._connection, [message], streams)
                self._child = self._answer()
            while selector.get_map():
                for key, _ in selector.select():
                    if part := os.read(key.fd, 1 << 16):
                        key.data.extend(part)
                    else:
                        selector.unregister(key.fd)
        code = self._answer()
        self._child = 0
        out, *err = (_text(each) for each in texts)
        return code, out, "".join(err)

    def _answer(self) -> int:
        text = self._connection.recv(64)
        assert text, "the process of the command line has ended"
        return int(text)

    def kill(self) -> None:
        """End it, and the command line that it runs."""
        self._process.kill()
        self._process.wait()
        if self._child:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
        self._connection.close()


@contextlib.contextmanager
def _input(text: str) -> Generator[int]:
    """Open a standard input; without text /dev/null, which a suite knows again."""
    with tempfile.TemporaryFile() if text else Path(os.devnull).open("r+b") as file:
        file.write(text.encode())
        file.seek(0)
        yield file.fileno()


def _text(output: bytes | bytearray) -> str:
    return output.decode().replace("\r\n", "\n").replace("\r", "\n")


@cache
def _started() -> _WarmProcess:
    return _WarmProcess()
