"""The command line without a process of its own, which would import all packages again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import IO

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
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in _STREAMS]
        files[0].write(stdin)
        files[0].seek(0)
        stack.enter_context(_environment(env))
        with contextlib.chdir(cwd or Path.cwd()), _standard_streams(files), _signals():
            try:
                code: object = cli.main(given)
            except SystemExit as leaving:
                code = leaving.code
        for file in files[1:]:
            file.seek(0)
        assert isinstance(code, int)
        done = subprocess.CompletedProcess(given, code, files[1].read(), files[2].read())
    if check and code:
        raise AssertionError(f"{' '.join(given)} failed with {code}:\n{done.stdout}{done.stderr}")
    return done


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
def _standard_streams(files: Sequence[IO[str]]) -> Generator[None]:
    """Put files in the place of the standard streams, for Python and for child processes."""
    saved = [(getattr(sys, name), os.dup(number)) for number, name in enumerate(_STREAMS)]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        for number, (name, file) in enumerate(zip(_STREAMS, files, strict=True)):
            os.dup2(file.fileno(), number)
            mode, lines = ("w" if number else "r"), (1 if name == "stderr" else -1)
            errors = "backslashreplace" if name == "stderr" else "strict"
            setattr(sys, name, os.fdopen(number, mode, lines, errors=errors, closefd=False))
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
