"""Where the log goes: a file, a pipe, or a pager."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO, NamedTuple

from actiondbg.commands.cli.output_file import writing

_OFF = "\x1b[39m"
# All as long as each other: the outcome of an unfinished action is written over in place.
_COLORS = {
    "name": "\x1b[36m",
    "succeeded": "\x1b[32m",
    "unchanged": _OFF,
    "failed": "\x1b[31m",
    "skipped": "\x1b[33m",
    "unfinished": "\x1b[35m",
}


class Destination(NamedTuple):
    """Where the log goes.

    Args:
        path: of the file; None for our standard output.
        colors: whether colours are wanted, if it goes to a terminal.
    """

    path: Path | None
    colors: bool = True

    @property
    def is_file(self) -> bool:
        """Whether it is a file in which one can go back."""
        return self.path is not None and (not self.path.exists() or self.path.is_file())

    def paint(self, role: str, text: str) -> str:
        """Colour a text, see ``log_lines.LineWriter``."""
        return colored(role, text) if self._is_colored else text

    @property
    def _is_colored(self) -> bool:
        from actiondbg.commands.render.output import color_allowed

        return self.colors and self.path is None and sys.stdout.isatty() and color_allowed()

    def file(self, directory: Path) -> Path:
        """Return the file to write the log into while the tool runs.

        Args:
            directory: for a temporary one, which ``show`` then copies.

        Raises:
            FileNotWritten: it cannot be written.
        """
        if self.path is None or not self.is_file:
            return directory / "log"
        with writing(self.path), self.path.open("ab"):
            return self.path

    def show(self, file: Path) -> None:
        """Copy the log out of a temporary file; raises FileNotWritten, BrokenPipeError."""
        if file != self.path:
            import shutil  # the tool has ended by now

            with self.opened() as out, file.open("rb") as log:
                shutil.copyfileobj(log, out)

    @contextlib.contextmanager
    def opened(self) -> Generator[IO[bytes]]:
        """Open what the log is written to; raises FileNotWritten, BrokenPipeError."""
        if self.path is not None:
            with writing(self.path), self.path.open("wb") as file:
                yield file
        elif sys.stdout.isatty():
            from actiondbg.commands.render.output import paged

            with paged(sys.stdout) as pager:
                yield pager.buffer
        else:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()


def colored(role: str, text: str) -> str:
    """Return a text in the colour of its role."""
    return f"{_COLORS[role]}{text}{_OFF}"
