"""IR texts without what has no meaning: names of values and aliases, and the order of operations
without side effects.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from actiondbg.ir.resolved_text import ResolvedText
from actiondbg.ir.tokens import OPERATION, RESULTS

# Operations whose place in a block has no meaning, and that have no region.
_PURE = re.compile(
    r"[ \t]*(?P<results>%[^=\n]*?) = \"?(?:(?:arith|math|complex|index)\.\w+"
    r"|affine\.(?:apply|min|max)|tensor\.(?:empty|dim|cast|extract|extract_slice)"
    r"|llvm\.mlir\.(?:constant|undef|poison|zero|addressof)|vector\.(?:broadcast|extract|insert)"
    r"|(?:tosa|stablehlo|mhlo|emitc|spirv|torch|hw|comb|smt|ub)[\w.]*\.(?:const\w*|poison|Constant))"
    r"(?![\w.])"
)
_OPERATION = re.compile(rf"[ \t]*(?:{RESULTS})?\"?(?P<name>{OPERATION})")
_LABEL = re.compile(r"[ \t]*\^")
_COMMENT = re.compile(r"(?<![ \t])[ \t]*//.*")


def canonical(text: str) -> str:
    """Return a text that is equal for two texts which differ in nothing that has a meaning.

    Values are named by what computes them, or in the order of the text. Operations that are known
    to have no side effects, such as those of arith, come first in their block, sorted. The text is
    an operation as printed, without aliases.
    """
    return _Canonical(text).text()


@dataclass
class _Block:
    """The lines of a block so far: those that are sorted, and the others."""

    pure: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])

    def lines(self) -> Iterator[str]:
        yield from sorted(self.pure)
        yield from self.others


class _Canonical:
    def __init__(self, text: str) -> None:
        self._text = text
        self._resolved = ResolvedText(text, None)
        self._names: dict[int, str] = {}  # by value
        self._count = 0

    def text(self) -> str:
        starts = self._resolved.starts
        blocks = [_Block()]
        at, line_start = 0, 0
        for line in self._text.splitlines(keepends=True):
            line_end = line_start + len(line)
            end = bisect_left(starts, line_end, at)
            self._add(blocks, line.rstrip(), line_start, range(at, end))
            at, line_start = end, line_end
        while len(blocks) > 1:  # of a text that is cut off
            self._close(blocks)
        return "\n".join(blocks[0].lines())

    def _add(self, blocks: list[_Block], line: str, start: int, occurrences: range) -> None:
        stripped = line.lstrip()
        if _LABEL.match(line):
            line = _COMMENT.sub("", line)
            self._close(blocks)
            blocks.append(_Block())
        elif stripped.startswith("}") and len(blocks) > 1:
            self._close(blocks)
        pure = _PURE.match(line)
        if pure and not line.endswith("{"):
            results = bisect_left(self._resolved.starts, start + pure.end("results"))
            if self._is_new(range(occurrences.start, results)):
                blocks[-1].pure.append(self._pure(line, start, occurrences, results))
                return
        blocks[-1].others.append(self._renamed(line, start, occurrences))
        if line.endswith("{"):
            blocks.append(_Block())

    @staticmethod
    def _close(blocks: list[_Block]) -> None:
        if len(blocks) > 1:
            block = blocks.pop()
            blocks[-1].others += block.lines()

    def _is_new(self, results: range) -> bool:
        """Whether no line before uses one of the results, as in a graph region."""
        return all(self._resolved.values[at] not in self._names for at in results)

    def _pure(self, line: str, start: int, occurrences: range, results: int) -> str:
        """Return the line of a pure operation, whose results are named by it."""
        for at in range(occurrences.start, results):
            self._names[self._resolved.values[at]] = "%_"
        written = self._renamed(line, start, occurrences)
        digest = hashlib.blake2b(written.encode(errors="replace"), digest_size=12).hexdigest()
        for number, at in enumerate(range(occurrences.start, results)):
            self._names[self._resolved.values[at]] = f"%{number or ''}h{digest}"
        return written

    def _renamed(self, line: str, start: int, occurrences: range) -> str:
        pieces: list[str] = []
        end = 0
        for at in occurrences:
            place = self._resolved.starts[at] - start
            pieces += (line[end:place], self._name(self._resolved.values[at]))
            end = place + len(self._resolved.names[at])
        return "".join((*pieces, line[end:]))

    def _name(self, value: int) -> str:
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = f"%{self._count}"
            self._count += 1
        return name


def first_difference(one: str, other: str) -> str:
    """Return the names of the operations in the first lines that differ, as a phrase."""
    lines = (canonical(text).splitlines() for text in (one, other))
    for pair in zip_longest(*lines, fillvalue=""):
        if pair[0] != pair[1]:
            names = dict.fromkeys(_operation_of(line) for line in pair)
            return " and ".join(name for name in names if name) or "a line"
    return "nothing"


def _operation_of(line: str) -> str:
    """Return the name of the operation in a line; "" for none."""
    match = _OPERATION.match(line)
    return match["name"] if match else ""
