"""The output of commands in the full-screen view, kept as lines to scroll."""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.utils import explode_text_fragments

_MOST_LINES = 20_000
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Transcript:
    """The last lines that commands wrote, and the part of them in view.

    The view is at the end, or where the user scrolled to, or at the beginning of the output of the
    last command if that does not fit the pane.
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._open = ""  # a line without its end
        self._added = 0  # lines since the last command began
        self._below = 0  # rows below the view
        self._is_new = False
        self._unread: list[str] = []

    def write(self, text: str) -> None:
        self._unread.append(text)
        *lines, self._open = (self._open + text).split("\n")
        self._lines.extend(line.expandtabs() for line in lines)
        self._added += len(lines)

    def begin(self) -> None:
        """Note that a command begins: its output will be in view."""
        self._added, self._below, self._is_new = 0, 0, True
        self._unread = []

    def unread(self) -> str:
        """Return what was written since the last command began, or since the last call."""
        text = "".join(self._unread)
        self._unread = []
        return text

    def scroll(self, rows: int) -> None:
        """Move the view down by rows; up for a negative number."""
        self._below = max(self._below - rows, 0)

    @property
    def rows_below(self) -> int:
        return self._below

    def rows(self, width: int, height: int) -> list[StyleAndTextTuples]:
        lines = [*self._lines, *([self._open.expandtabs()] if self._open else [])]
        if self._is_new:
            self._is_new = False
            newest = lines[len(lines) - min(self._added, len(lines)) :]
            self._below = max(sum(_count(line, width) for line in newest) - height, 0)
        counts = [_count(line, width) for line in lines]
        first = max(sum(counts) - height - self._below, 0)
        self._below = max(sum(counts) - height - first, 0)
        rows: list[StyleAndTextTuples] = []
        for line, count in zip(lines, counts, strict=True):
            if first < count and len(rows) < height:
                rows += wrapped(line, width)[max(first, 0) :]
            first -= count
        return rows[:height]


def _count(line: str, width: int) -> int:
    text = _COLOR.sub("", line) if "\x1b" in line else line
    return max(-(-len(text) // max(width, 1)), 1)


def wrapped(line: str, width: int) -> list[StyleAndTextTuples]:
    """Return the rows of a line that may contain colours."""
    if "\x1b" not in line:
        starts = range(0, max(len(line), 1), max(width, 1))
        return [[("", line[start : start + width])] for start in starts]
    cells = explode_text_fragments(to_formatted_text(ANSI(line)))
    length = max(len(fragment_list_to_text(cells)), 1)
    return [list(cells[start : start + width]) for start in range(0, length, max(width, 1))]


class TranscriptStream(io.TextIOBase):
    """A stream into a transcript, which counts as a terminal: text may be coloured.

    Args:
        copy_to: a stream of the terminal behind the panes.
        copies: whether the text goes there, too, as while a tool runs and nothing is drawn.
    """

    def __init__(
        self,
        transcript: Transcript,
        copy_to: TextIO | None = None,
        copies: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__()
        self._transcript = transcript
        self._copy_to = copy_to
        self._copies = copies

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._transcript.write(text)
        if self._copy_to is not None and self._copies():
            self._copy_to.write(text)
            self._copy_to.flush()
        return len(text)
