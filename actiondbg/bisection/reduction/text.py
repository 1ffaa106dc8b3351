"""Parts of a text that can be left out, where nothing is known of what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SEPARATOR = "// -----"  # of --split-input-file
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')


class Chunks:
    """The modules of an input for --split-input-file.

    Source: mlir/include/mlir/Support/ToolUtilities.h.
    """

    unit = "modules"
    ways = 1

    def __init__(self, text: str) -> None:
        self._chunks = re.split(rf"(?m)^{_SEPARATOR}.*\n", text)

    @property
    def size(self) -> int:
        return len(self._chunks)

    @property
    def text(self) -> str:
        return f"{_SEPARATOR}\n".join(self._chunks)

    def count(self, way: int) -> int:
        return self.size

    def without(self, way: int, units: Sequence[int]) -> str | None:
        out = set(units)
        left = [chunk for at, chunk in enumerate(self._chunks) if at not in out]
        return f"{_SEPARATOR}\n".join(left) if left else None

    def again(self, text: str) -> Chunks:
        return Chunks(text)


class Lines:
    """Lines, and blocks of them: those that open a brace, up to the line that closes it.

    What can be left out, way by way: blocks; lines; the two lines that a block is in.
    """

    unit = "lines"
    ways = 3

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._blocks = list(_blocks(self._lines))

    @property
    def size(self) -> int:
        return len(self._lines)

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def count(self, way: int) -> int:
        return len(self._lines if way == 1 else self._blocks)

    def without(self, way: int, units: Sequence[int]) -> str | None:
        out = set(units)
        if way == 0:
            out = {line for unit in units for line in self._blocks[unit]}
        elif way == 2:
            out = {
                line
                for unit in units
                for line in self._blocks[unit][:: len(self._blocks[unit]) - 1]
            }
        left = [line for at, line in enumerate(self._lines) if at not in out]
        return "".join(left) if any(line.strip() for line in left) else None

    def again(self, text: str) -> Lines:
        return Lines(text)


def _blocks(lines: Sequence[str]) -> Iterable[range]:
    """Yield the blocks, each after those in it."""
    opened: list[int] = []
    for at, line in enumerate(lines):
        for character in _STRING.sub("", line):
            if character == "{":
                opened.append(at)
            elif character == "}" and opened:
                start = opened.pop()
                if start < at:
                    yield range(start, at + 1)
