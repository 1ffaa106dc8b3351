"""IR that the agent printed into a file of the session's."""

from __future__ import annotations

import codecs
import contextlib
import itertools
import weakref
from pathlib import Path
from typing import IO, Any, cast

from actiondbg import protocol
from actiondbg.ir.line_numbers import actual_range
from actiondbg.support.closeable import Closeable
from actiondbg.support.counts import counted

_CHUNK = 1 << 20  # bytes
_MOST_BYTES = 1 << 22  # of a text in which the lines of the cursor are checked
_MOST_LINES = 2000  # in a notebook
_ARROW = "-->"
_INDENT = "  "


class PrintedText(Closeable):
    """Printed IR in a file, which is removed when the object is closed or collected.

    Attributes:
        bytes: its size.
        mark: the first and the last line of the cursor's operation, from 1, or None.
        generic: whether the generic form was printed, asked for or not.
        path: from the printed operation to the cursor: region, block, operation, ... from 0.
    """

    def __init__(self, file: Path, message: protocol.Printed) -> None:
        self._file = file
        self.bytes = message.bytes
        self.generic = message.generic
        self.path = message.path
        self.mark: tuple[int, int] | None = None
        if message.mark_first is not None and message.mark_last is not None:
            text = self.text if self.bytes <= _MOST_BYTES else ""
            self.mark = actual_range(text, message.mark_first, message.mark_last)
        self._remove = weakref.finalize(self, _remove_file, file)

    @property
    def text(self) -> str:
        """All of it; read anew at each use."""
        return self._file.read_text(encoding="utf-8", errors="replace")

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<printed IR of {counted(self.bytes, 'byte')}>"

    def _repr_html_(self) -> str:
        """Return the first lines for a notebook, coloured, with an arrow at the cursor."""
        from actiondbg.ir.html import notebook_page

        with self._file.open(encoding="utf-8", errors="replace") as file:
            lines = [line.rstrip("\n") for line in itertools.islice(file, _MOST_LINES + 1)]
        rows = [(self._gutter(at), line) for at, line in enumerate(lines[:_MOST_LINES], 1)]
        if len(lines) > _MOST_LINES:
            rows.append((f"... the first {_MOST_LINES:,} lines: see text", ""))
        return notebook_page(rows)

    def _gutter(self, line: int) -> str:
        """Return what stands left of a line, as the shell shows it."""
        if self.mark is None:
            return ""
        first, last = self.mark
        return "--> " if line == first else "  | " if first < line <= last else "    "

    def copy_to(self, file: IO[str] | IO[bytes]) -> None:
        """Copy it in pieces of 1 MiB.

        Args:
            file: a text file or a binary one, open for writing.
        """
        decoder = (
            codecs.getincrementaldecoder("utf-8")(errors="replace") if _is_text(file) else None
        )
        write = cast("Any", file).write
        with self._file.open("rb") as source:
            while chunk := source.read(_CHUNK):
                write(decoder.decode(chunk) if decoder else chunk)
        if decoder:
            write(decoder.decode(b"", final=True))

    def close(self) -> None:
        """Remove the file."""
        self._remove()


def _is_text(file: Any) -> bool:
    """Ask the file: what is written to may be of any class."""
    try:
        file.write("")
    except TypeError:
        return False
    return True


def _remove_file(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()


def without_inner_regions(text: str) -> str:
    """Return a printed function or module with dots for what is in regions of its operations."""
    kept: list[str] = []
    inner: int | None = None  # the indentation of the operations directly in it
    is_open = False  # a region of one of them
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if inner is None:
            kept.append(line)
            if line.endswith("{"):
                inner = indent + 2
        elif indent > inner and is_open:
            continue
        elif is_open and line.lstrip().startswith("}"):
            kept[-1] += f"...{line.strip()}"
            is_open = line.endswith("{")
        elif not is_open:
            kept.append(line)
            is_open = line.endswith("{")
    return "\n".join(kept) + "\n"


class Excerpt(protocol.Excerpt):
    """Consecutive lines of IR; ``print`` shows them with an arrow at the current one."""

    @property
    def text(self) -> str:
        """The lines of IR, indented."""
        return "\n".join(f"{_INDENT * line.depth}{line.text}" for line in self.lines)

    def __str__(self) -> str:
        return "\n".join(gutter + text for gutter, text in self.rows())

    def _repr_html_(self) -> str:
        from actiondbg.ir.html import notebook_page

        return notebook_page(self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return each line with what stands left of it: the arrow, and the operation id."""
        ids = [
            f"@{line.id}" if line.kind == "operation" and line.id and not line.part else ""
            for line in self.lines
        ]
        width = max(map(len, ids), default=0)
        return [
            (
                f"{_ARROW if at == self.current else '':<3} {id:>{width}}  ",
                f"{_INDENT * line.depth}{line.text}",
            )
            for at, (line, id) in enumerate(zip(self.lines, ids, strict=True))
        ]
