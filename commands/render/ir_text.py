"""Write IR for people: a gutter with an arrow at the cursor, and colours, in bounded memory."""

from __future__ import annotations

import re
from typing import TextIO

_CHUNK = 1 << 16  # characters that are coloured at once
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # not splitlines, which knows other ends of lines
_LONGEST = 1 << 20  # characters of a line without end that are held back


class IRWriter:
    """A file-like object that passes IR on with a gutter and colours.

    Args:
        out: where the text goes.
        mark: first and last line of the cursor's operation, from 1; None: no gutter.
        style: a style's name, None for no colours.
    """

    def __init__(self, out: TextIO, mark: tuple[int, int] | None, style: str | None) -> None:
        self._out = out
        self._mark = mark
        self._style = style
        self._line = 1
        self._at_start = True  # of a line
        self._parts: list[str] = []  # what waits for the end of its line
        self._size = 0

    def write(self, text: str) -> int:
        """Write a piece of IR, wherever it was cut."""
        self._parts.append(text)
        self._size += len(text)
        if self._size >= _CHUNK:
            waiting = "".join(self._parts)
            cut = waiting.rfind("\n") + 1
            if not cut and self._size >= _LONGEST:
                cut = self._size
            self._flush(waiting[:cut], waiting[cut:])
        return len(text)

    def finish(self) -> None:
        """Write what is left, and end the last line."""
        self._flush("".join(self._parts), "")
        if not self._at_start:
            self._out.write("\n")

    def _flush(self, text: str, rest: str) -> None:
        self._parts = [rest]
        self._size = len(rest)
        if not text:
            return
        painted = self._paint(text)
        if self._mark is None:
            self._out.write(painted)
        else:
            self._write_lines(painted)
        self._at_start = text.endswith("\n")

    def _write_lines(self, text: str) -> None:
        for line in _LINE.findall(text):
            self._out.write((self._gutter() if self._at_start else "") + line)
            self._at_start = line.endswith("\n")
            self._line += self._at_start

    def _gutter(self) -> str:
        first, last = self._mark or (0, 0)
        if self._line == first:
            return "--> "
        return "  | " if first < self._line <= last else "    "

    def _paint(self, lines: str) -> str:
        if self._style is None:
            return lines
        from actiondbg.ir.lexer import colorize

        return colorize(lines, self._style)
