"""The command line without a process of its own, which would import all packages again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from actiondbg import cli

_STREAMS = ("stdin", "stdout", "stderr")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(
    *words: object,
    stdin: str = "",
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the command line in this process, as subprocess.run does in one of its own.

    What it starts writes to the same streams. It must not need signals or an exit of
    its own.

    Args:
        words: of the command line, after the name of the program.
        stdin: the text of the standard input.
        cwd: the working directory.
        env: the environment; variables that are read when a process starts do nothing.
        check: whether an exit code other than 0 is an error.
    """
    given = [str(word) for word in words]
    code: object = None
    with ThreadPoolExecutor(len(_STREAMS)) as threads:
        pipes = [os.pipe() for _ in _STREAMS]
        threads.submit(_write, pipes[0][1], stdin)
        outputs = [threads.submit(_read, reading) for reading, _ in pipes[1:]]
        ours = (pipes[0][0], pipes[1][1], pipes[2][1])
        try:
            with (
                _environment(env),
                contextlib.chdir(cwd or Path.cwd()),
                _standard_streams(ours),
                _signals(),
            ):
                code = cli.main(given)
        except SystemExit as leaving:
            code = leaving.code
        finally:
            for each in ours:
                os.close(each)
        stdout, stderr = (each.result() for each in outputs)
    assert isinstance(code, int)
    done = subprocess.CompletedProcess(given, code, stdout, stderr)
    if check and code:
        raise AssertionError(f"{' '.join(given)} failed with {code}:\n{done.stdout}{done.stderr}")
    return done


def _write(pipe: int, text: str) -> None:
    with contextlib.suppress(BrokenPipeError), open(pipe, "w", encoding="utf-8") as file:
        file.write(text)


def _read(pipe: int) -> str:
    with open(pipe, encoding="utf-8", newline=None) as file:
        return file.read()


@contextlib.contextmanager
def _environment(env: Mapping[str, str] | None) -> Generator[None]:
    """Put an environment in the place of ours; keep ours where there is none."""
    if env is None:
        yield
        return
    ours = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(env)
        yield
    finally:
        os.environ.clear()
        os.environ.update(ours)


@contextlib.contextmanager
def _standard_streams(pipes: Sequence[int]) -> Generator[None]:
    """Put pipes in the place of the standard streams, for Python and for child processes."""
    saved = [(getattr(sys, name), os.dup(number)) for number, name in enumerate(_STREAMS)]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        for number, (name, pipe) in enumerate(zip(_STREAMS, pipes, strict=True)):
            os.dup2(pipe, number)
            mode, lines = ("w" if number else "r"), (1 if name == "stderr" else -1)
            errors = "backslashreplace" if name == "stderr" else "strict"
            stream = os.fdopen(number, mode, lines, errors=errors, closefd=False)
            setattr(sys, name, stream)
        yield
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        sys.stderr.flush()
        for number, (name, (stream, copy)) in enumerate(zip(_STREAMS, saved, strict=True)):
            os.dup2(copy, number)
            os.close(copy)
            setattr(sys, name, stream)


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """Restore the handlers of signals that the command line sets."""
    handlers = [(number, signal.getsignal(number)) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)
