"""The columns of a tree, filled while its text is scanned."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Mapping

from actiondbg.ir.tokens import symbol_name
from actiondbg.ir.tree import grammar
from actiondbg.ir.tree.tree import Tree
from actiondbg.ir.written_locations import WrittenLocations

_INSIDE = re.compile(r"[(\[<%]")  # a symbol behind these is a part of something else


class Columns:
    """What is known of each operation; the columns of a Tree, and those of its locations."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.last_lines = array("q")
        self.offsets = array("q")  # where the names begin
        self.symbols: dict[int, str] = {}
        self._results: list[str] = []
        self._parents, self._lines = array("q"), array("q")
        self._location_keys = array("q")
        self._location_texts: dict[str, int] = {"": 0}
        self._uses: dict[int, list[str]] = {}

    def begin(self, results: str | None, name: str, parent: int, line: int, offset: int) -> int:
        """Add an operation; return its index."""
        index = len(self.names)
        self.names.append(sys.intern(name))
        self._results.append(_first(results) if results else "")
        self._parents.append(parent)
        self._lines.append(line)
        self.last_lines.append(line)
        self.offsets.append(offset)
        self._location_keys.append(0)
        return index

    def locate(self, index: int, text: str) -> None:
        """Set the location of an operation."""
        key = self._location_texts.setdefault(text, len(self._location_texts))
        self._location_keys[index] = key

    def refer(self, index: int, symbol: str, between: str) -> None:
        """Add a symbol that an operation defines or uses.

        Args:
            index: the operation.
            symbol: with the ``@``.
            between: the text between the name of the operation and the symbol.
        """
        plain = symbol_name(symbol)
        is_first = index not in self.symbols and index not in self._uses
        if (
            is_first
            and not self._results[index]
            and "::" not in symbol
            and not _INSIDE.search(between)
            and self._defines(index)
        ):
            self.symbols[index] = plain
        else:
            self._uses.setdefault(index, []).append(plain)

    def _defines(self, index: int) -> bool:
        name, parent = self.names[index], self._parents[index]
        if grammar.USES.search(name):
            return False
        holder = "" if parent < 0 else self.names[parent]
        return bool(grammar.DEFINES.search(name) or grammar.HOLDS_SYMBOLS.search(holder))

    def tree(self, text: str) -> Tree:
        """Return the tree of the operations."""
        return Tree(
            text=text,
            names=self.names,
            parents=self._parents,
            lines=self._lines,
            last_lines=self.last_lines,
            results=self._results,
            symbols=self.symbols,
            symbol_uses={index: tuple(uses) for index, uses in self._uses.items()},
        )

    def locations(self, aliases: Mapping[str, str]) -> WrittenLocations:
        """Return the locations of the operations; ``aliases`` are those that the text defines."""
        texts = list(self._location_texts)
        return WrittenLocations(self._location_keys, texts, aliases, self.offsets)


def _first(results: str) -> str:
    """Return the first name of ``%a, %b:2 =``."""
    return results.partition(",")[0].partition(":")[0].partition("=")[0].strip()
