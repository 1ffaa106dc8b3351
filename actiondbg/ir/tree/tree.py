"""The operations of a text of IR as a light tree: columns in the order of the text."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from actiondbg.ir.aliases import with_names
from actiondbg.ir.tokens import symbol_name
from actiondbg.ir.tree import grammar
from actiondbg.ir.written_locations import WrittenLocations

Key = TypeVar("Key")


@dataclass(eq=False, kw_only=True)
class Tree:
    """The operations of a text, each before those in its regions."""

    text: str
    names: Sequence[str]
    parents: Sequence[int]  # of each, the index of the operation around it; -1 for none
    lines: Sequence[int]  # the line on which each begins, from 1; ascending
    last_lines: Sequence[int]  # the line on which each ends, its regions included
    results: Sequence[str]  # the name of the first result of each; empty for none
    symbols: dict[int, str]  # by index, the symbols that operations define, without the ``@``
    # By index, the symbols to which operations refer, as written without the ``@``: ``kernels::f``
    # for ``@kernels::@f``.
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


_INSIDE = re.compile(r"[(\[<%]")  # a symbol behind these is a part of something else


class AliasedPart(NamedTuple):
    """A part of a text with its own aliases, such as a part of a split input."""

    first: int  # the index of its first operation
    aliases: dict[str, str]  # the texts of its locations, by alias with the ``#``


class Columns:
    """The columns of a Tree, and the columns of its locations, one value for each operation."""

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
        """Add a symbol with its ``@``; ``between`` is the text behind the operation's name."""
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

    def locations(self, parts: Sequence[AliasedPart]) -> WrittenLocations:
        """Return the locations of the operations; each part of the text has aliases of its own."""
        aliases = dict(parts[0].aliases)
        ends = [part.first for part in parts[1:]] + [len(self.names)]
        for number, (part, end) in enumerate(zip(parts, ends, strict=True)):
            if number and part.aliases:
                aliases |= self._rename_aliases(part, end, f"${number}")
        texts = list(self._location_texts)
        return WrittenLocations(self._location_keys, texts, aliases, self.offsets)

    def _rename_aliases(self, part: AliasedPart, end: int, suffix: str) -> dict[str, str]:
        """Give the aliases of a part other names; return their definitions."""
        names = part.aliases

        def renamed(text: str) -> str:
            return with_names(text, lambda name: f"{name}{suffix}" if name in names else name)

        texts = list(self._location_texts)
        keys: dict[int, int] = {}
        for index in range(part.first, end):
            key = self._location_keys[index]
            if key not in keys:
                text = renamed(texts[key])
                keys[key] = self._location_texts.setdefault(text, len(self._location_texts))
            self._location_keys[index] = keys[key]
        return {f"{name}{suffix}": renamed(text) for name, text in names.items()}


def _first(results: str) -> str:
    """Return the first name of ``%a, %b:2 =``."""
    return results.partition(",")[0].partition(":")[0].partition("=")[0].strip()
