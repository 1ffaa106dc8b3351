"""Removable parts of a text in any language: modules of a split input, blocks and lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from actiondbg.ir.tokens import COMMENT, STRING

_SEPARATOR = "// -----"  # of --split-input-file
_STRING = re.compile(rf"{STRING}|{COMMENT}")


class Chunks:
    """The modules of an input for --split-input-file.

    Source: mlir/include/mlir/Support/ToolUtilities.h.
    """

    unit = "modules"
    kinds = 1

    def __init__(self, text: str) -> None:
        self._chunks = re.split(rf"(?m)^{_SEPARATOR}.*\n", text)

    @property
    def size(self) -> int:
        return len(self._chunks)

    @property
    def text(self) -> str:
        return f"{_SEPARATOR}\n".join(self._chunks)

    def count(self, kind: int) -> int:
        return self.size

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        removed = set(parts)
        left = [chunk for at, chunk in enumerate(self._chunks) if at not in removed]
        return f"{_SEPARATOR}\n".join(left) if left else None

    def reparse(self, text: str) -> Chunks:
        return Chunks(text)


class Lines:
    """Lines, and blocks from a line that opens a brace to the line that closes it.

    The kinds of parts: blocks; lines; the first and the last line of a block.
    """

    unit = "lines"
    kinds = 3

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._blocks = list(_blocks(self._lines))

    @property
    def size(self) -> int:
        return len(self._lines)

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def count(self, kind: int) -> int:
        return len(self._lines if kind == 1 else self._blocks)

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        removed = set(parts)
        if kind == 0:
            removed = {line for part in parts for line in self._blocks[part]}
        elif kind == 2:
            removed = {
                line
                for part in parts
                for line in self._blocks[part][:: len(self._blocks[part]) - 1]
            }
        left = [line for at, line in enumerate(self._lines) if at not in removed]
        return "".join(left) if any(line.strip() for line in left) else None

    def reparse(self, text: str) -> Lines:
        return Lines(text)


def _blocks(lines: Sequence[str]) -> Iterable[range]:
    """Yield the blocks, inner ones first."""
    opened: list[int] = []
    for at, line in enumerate(lines):
        for character in _STRING.sub("", line):
            if character == "{":
                opened.append(at)
            elif character == "}" and opened:
                start = opened.pop()
                if start < at:
                    yield range(start, at + 1)
