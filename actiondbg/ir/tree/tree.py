"""The operations of a text of IR as a light tree: columns in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

Key = TypeVar("Key")


@dataclass(eq=False, kw_only=True)
class Tree:
    """The operations of a text, each before those in its regions.

    Args:
        text: the IR.
        names: the names of the operations.
        parents: of each, the index of the operation around it; -1 for none.
        lines: the line on which each begins, from 1; ascending.
        last_lines: the line on which each ends, its regions included.
        results: the name of the first result of each; empty for none.
        symbols: by index, the symbols that operations define, without the ``@``.
        symbol_uses: by index, the symbols to which operations refer, as written without the
            ``@``: ``kernels::f`` for ``@kernels::@f``.
    """

    text: str
    names: Sequence[str]
    parents: Sequence[int]
    lines: Sequence[int]
    last_lines: Sequence[int]
    results: Sequence[str]
    symbols: dict[int, str]
    symbol_uses: dict[int, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def text_lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        return grouped(self.parents)

    def children(self, index: int) -> Sequence[int]:
        """Return the indices of the operations directly in the regions of one; -1: outermost."""
        return self._children.get(index, ())

    def around(self, index: int) -> Iterator[int]:
        """Iterate over the indices of the operations around one, the innermost first."""
        while (index := self.parents[index]) >= 0:
            yield index

    def nested(self, index: int) -> range:
        """Return the indices of an operation and of all in its regions."""
        end = index + 1
        while end < len(self) and self.parents[end] >= index:
            end += 1
        return range(index, end)

    def text_of(self, index: int) -> str:
        """Return the lines of an operation."""
        return "\n".join(self.text_lines[self.lines[index] - 1 : self.last_lines[index]])

    def is_module(self, index: int) -> bool:
        """Whether an operation is a module, of any dialect; -1: what is around the outermost."""
        return index < 0 or self.names[index].rpartition(".")[2] == "module"


def grouped(keys: Sequence[Key]) -> dict[Key, list[int]]:
    """Return the places of each key."""
    groups: dict[Key, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    return groups
