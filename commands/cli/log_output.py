"""The output of the log: a file, a pipe, or a pager."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO, NamedTuple

from actiondbg.commands.interpreter.error_text import writing

_OFF = "\x1b[39m"
# All of the same length, as the outcome of an unfinished action is overwritten in place.
_COLORS = {
    "name": "\x1b[36m",
    "succeeded": "\x1b[32m",
    "unchanged": _OFF,
    "failed": "\x1b[31m",
    "skipped": "\x1b[33m",
    "unfinished": "\x1b[35m",
}


class Destination(NamedTuple):
    """The output of the log.

    Args:
        path: the file; None for standard output.
        colors: use colours on a terminal.
    """

    path: Path | None
    colors: bool = True

    @property
    def is_file(self) -> bool:
        """Whether the output is a seekable file."""
        return self.path is not None and (not self.path.exists() or self.path.is_file())

    def paint(self, role: str, text: str) -> str:
        """Colour a text, see ``log_lines.LineWriter``."""
        return colored(role, text) if self._is_colored else text

    @property
    def _is_colored(self) -> bool:
        from actiondbg.commands.render.terminal.output import color_allowed

        return self.colors and self.path is None and sys.stdout.isatty() and color_allowed()

    def file(self, directory: Path) -> Path:
        """Return the file to write the log to while the tool runs.

        Args:
            directory: the directory of a temporary file, which ``show`` copies.

        Raises:
            FileNotWritten: the file cannot be written.
        """
        if self.path is None or not self.is_file:
            return directory / "log"
        with writing(self.path), self.path.open("ab"):
            return self.path

    def show(self, file: Path) -> None:
        """Copy the log from a temporary file; raise FileNotWritten or BrokenPipeError."""
        if file != self.path:
            import shutil  # after the run of the tool

            with self.open() as out, file.open("rb") as log:
                shutil.copyfileobj(log, out)

    @contextlib.contextmanager
    def open(self) -> Generator[IO[bytes]]:
        """Open the output; raise FileNotWritten or BrokenPipeError."""
        if self.path is not None:
            with writing(self.path), self.path.open("wb") as file:
                yield file
        elif sys.stdout.isatty():
            from actiondbg.commands.render.terminal.output import paged

            with paged(sys.stdout) as pager:
                yield pager.buffer
        else:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()


def colored(role: str, text: str) -> str:
    """Return a text in the colour of its role."""
    return f"{_COLORS[role]}{text}{_OFF}"
