"""Output of text: redirection to files and commands, the pager, colours and styles."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol, TextIO, cast

from actiondbg.commands.render.tables import fitted
from actiondbg.errors import UsageError
from actiondbg.support.executables import which
from actiondbg.support.recording_file import refuse_recording

_PAGER = "less -R -F -X"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")  # a colour
_SHELL = re.compile(r"[^\w./+-]")  # a character that the shell interprets
BOLD, DIM = "1", "2"
RED, GREEN, YELLOW = "31", "32", "33"


def styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text else text


class Output(Protocol):
    """Where text goes, which may show colours."""

    @property
    def colored(self) -> bool: ...


def emphasize(output: Output, text: str, style: str) -> str:
    """Return a text with an escape sequence for its style, if the output is coloured."""
    return styled(text, style) if output.colored else text


class Redirect(NamedTuple):
    """The redirection of a command; ``operator`` is >, >> or |."""

    operator: str
    target: str


def print_notice(sentence: str) -> None:
    """Print a message of actiondbg on stderr, where it breaks at words on a terminal."""
    width = _terminal_size()[0] if sys.stderr.isatty() else None
    begin_message()
    print(fitted(f"actiondbg: {sentence}", width), file=sys.stderr)


def begin_message() -> None:
    """Erase what a ``ProgressLine`` has drawn on the line of a terminal where stderr goes on."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        print("\x1b[K", end="", file=sys.stderr, flush=True)


def print_result(result: dict[str, Any] | Iterable[str]) -> None:
    """Print an object as JSON, or the lines of a text."""
    if isinstance(result, dict):
        print(json.dumps(result, ensure_ascii=False), flush=True)
    else:
        print("\n".join(result), flush=True)


def color_allowed() -> bool:
    """Whether the environment allows colour (https://no-color.org, TERM=dumb)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def open_redirect(
    redirect: Redirect, out: TextIO, command_out: TextIO | None
) -> Generator[TextIO, None, None]:
    """Open the target of a redirection; a command writes to ``command_out``, by default stdout.

    Raises:
        UsageError: the file cannot be written, or is a recording.
    """
    if redirect.operator != "|":
        path = os.path.expanduser(redirect.target)
        refuse_recording(path)
        mode = "w" if redirect.operator == ">" else "a"
        try:
            with open(path, mode, encoding="utf-8") as file:
                yield file
        except OSError as error:
            # A failed write, as on a full disk, names no file; errors of other files pass through.
            if error.filename not in (None, path):
                raise
            raise UsageError(
                f"{path!r} cannot be written ({error.strerror}): name another file."
            ) from None
        return
    out.flush()
    with piped(redirect.target, command_out) as stdin:
        yield stdin


@contextmanager
def piped(command: str, stdout: TextIO | None = None) -> Generator[TextIO, None, None]:
    """Run a shell command, and yield its standard input; the command may exit early."""
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
        while process.returncode is None:
            with suppress(KeyboardInterrupt):  # which is directed to the command
                process.wait()


@contextmanager
def paged(out: TextIO, line: int | None = None) -> Generator[TextIO]:
    """Yield the input of the pager, open at a line from 1, or ``out`` if the pager is not found."""
    given = os.environ.get("PAGER")
    missing = _missing(given or _PAGER)
    if missing is None:
        # less shows the line in the middle of the screen.
        start = "" if line is None else f" -j.5 +{line}"
        with piped(given or _PAGER + start) as pager:
            yield pager
        return
    if given:
        print(
            f"actiondbg: The pager {missing!r} was not found, the output is not paged: "
            "set PAGER to a command on PATH.",
            file=sys.stderr,
        )
    yield out
    out.flush()


def fills_screen(text: str, gutter: int = 0) -> bool:
    """Whether text takes as many rows of the terminal as it has, with a row for the prompt.

    Args:
        text: the text, which may contain colours.
        gutter: the columns before each line.
    """
    columns, rows = _terminal_size()
    if text.count("\n") >= rows:
        return True
    lengths = (len(line) + gutter for line in _ESCAPE.sub("", text).splitlines())
    return sum(max(1, math.ceil(length / max(columns, 1))) for length in lengths) >= rows


def _missing(command: str) -> str | None:
    """Return the program of a shell command if it is not found."""
    try:
        word = next(iter(shlex.split(command)), "")
    except ValueError:
        return None  # the shell reports the error
    if not word or _SHELL.search(word):
        return None
    return None if which(word) else word


def terminal_width() -> int | None:
    """Return the columns of the terminal; None if the output is a file or a pipe.

    The environment variable COLUMNS decides in any case.
    """
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return _terminal_size()[0]
    return None


def _terminal_size() -> tuple[int, int]:
    import shutil  # late: a recording begins without it

    return shutil.get_terminal_size()
