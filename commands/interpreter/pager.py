"""Long text on a terminal goes through a pager."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Generator
from typing import TextIO

from actiondbg.commands.cli.child_process import say
from actiondbg.commands.interpreter.console import piped
from actiondbg.support.executables import which

_PAGER = "less -R -F -X"
_SHELL = re.compile(r"[^\w./+-]")  # in a word that the shell does more with than run it


@contextlib.contextmanager
def paged(out: TextIO) -> Generator[TextIO]:
    """Yield what the pager reads; or ``out``, a terminal, where that pager is not there."""
    given = os.environ.get("PAGER")
    missing = _missing(given or _PAGER)
    if missing is None:
        with piped(given or _PAGER) as pager:
            yield pager
        return
    if given:
        say(
            f"There is no pager {missing!r}: what follows is shown without one; set PAGER to a "
            "command on PATH."
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
