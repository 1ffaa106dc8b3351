"""Where the text of results goes: the terminal, a pager, a file or a command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

import msgspec

from actiondbg.errors import UsageError
from actiondbg.support.executables import which

_PAGER = "less -R -F -X"
_SHELL = re.compile(r"[^\w./+-]")  # in a word that the shell does more with than run it


class Redirect(msgspec.Struct, frozen=True):
    """Where a command's text goes: ``operator`` is >, >> or |."""

    operator: str
    target: str


def color_allowed() -> bool:
    """Return whether the environment allows colour (https://no-color.org, TERM=dumb)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def open_redirect(
    redirect: Redirect, out: TextIO, command_out: TextIO | None
) -> Generator[TextIO, None, None]:
    """Open what a redirection names; a command inherits ``out`` or gets ``command_out``."""
    if redirect.operator != "|":
        path = os.path.expanduser(redirect.target)
        mode = "w" if redirect.operator == ">" else "a"
        try:
            with open(path, mode, encoding="utf-8") as file:
                yield file
        except OSError as error:
            # A failed write, as on a full disk, names no file; any other file is not ours.
            if error.filename not in (None, path):
                raise
            raise UsageError(f"{path!r} cannot be written: {error.strerror}.") from None
        return
    out.flush()
    with piped(redirect.target, command_out) as stdin:
        yield stdin


@contextmanager
def piped(command: str, stdout: TextIO | None = None) -> Generator[TextIO, None, None]:
    """Run a shell command, and give the file that it reads; it may end before we do."""
    process = subprocess.Popen(
        command, shell=True, stdin=subprocess.PIPE, stdout=stdout, encoding="utf-8"
    )
    stdin = cast("TextIO", process.stdin)
    try:
        yield stdin
    except BrokenPipeError:
        pass
    finally:
        with suppress(BrokenPipeError):
            stdin.close()
        _wait(process)


def _wait(process: subprocess.Popen[str]) -> None:
    """Wait for a command of the user's; Ctrl-C is for it, not for us."""
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return


@contextmanager
def paged(out: TextIO) -> Generator[TextIO]:
    """Yield what the pager reads; or ``out``, a terminal, where that pager is not there."""
    given = os.environ.get("PAGER")
    missing = _missing(given or _PAGER)
    if missing is None:
        with piped(given or _PAGER) as pager:
            yield pager
        return
    if given:
        print(
            f"actiondbg: There is no pager {missing!r}: what follows is shown without one; set "
            "PAGER to a command on PATH.",
            file=sys.stderr,
        )
    yield out
    out.flush()


def _missing(command: str) -> str | None:
    """Return the program of a shell command, if it is not there."""
    try:
        word = next(iter(shlex.split(command)), "")
    except ValueError:
        return None  # the shell says what is wrong
    if not word or _SHELL.search(word):
        return None
    return None if which(word) else word
