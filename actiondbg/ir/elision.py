"""Elision of large constants in printed IR, as MLIR's printer leaves out their elements.

Source: mlir/lib/IR/AsmPrinter.cpp, ``shouldElideElementsAttr`` and ``printAttributeImpl``.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

from actiondbg.ir.tokens import STRING

# The bytes of a resource, a string, which may hold anything, or the beginning of a constant.
_START = re.compile(
    rf'(?<=: )"0x(?P<bytes>[0-9A-F]++)"|{STRING}|(?<![\w.$#!-])(?P<kind>dense|sparse)<'
)
# Within a constant, the next token that matters: a list without others in it is one.
_TOKEN = re.compile(
    rf"{STRING}|->|[<>]=|\[(?P<list>[^][(){{}}<>\"]*+)\]"
    r"|(?P<open>[\[({<])|(?P<close>[])}>])|(?P<comma>,)"
)
_HEX = re.compile(r'"0x[0-9A-F]*+"')  # elements that are numbers, or one text
_SHAPE = r": !?[\w.$]+<(?P<shape>(?>(?:\d+x)*))(?!!)"  # of numbers
_TYPE_BEHIND = re.compile(f" {_SHAPE}")
_TYPE_BEFORE = re.compile(rf"{_SHAPE}[^={{}}\n]* = $")  # as memref.global has it


class _Constant(NamedTuple):
    """A constant in a text, or the bytes of a resource.

    Args:
        start: where it begins.
        end: where its text ends, without the type.
        elements: the text of its elements.
        size: the number of elements or bytes; 0 where a single value is written for all elements.
        is_resource: whether it is the bytes of a resource.
    """

    start: int
    end: int
    elements: str
    size: int
    is_resource: bool = False


def without_elements(text: str, most: int) -> str:
    """Leave out the elements of ``dense`` and ``sparse`` constants of more than ``most``.

    The text is what MLIR's printer prints with ``--mlir-elide-elementsattrs-if-larger``: constants
    whose elements are all equal stay, and so do arrays and resources. Of a sparse constant, its
    indices count too.
    """
    return _replaced(text, most)


def elided(before: Sequence[str], after: Sequence[str], most: int) -> tuple[list[str], list[str]]:
    """Leave out constants of more than ``most`` elements in the lines of two texts, and resources
    of more than ``most`` bytes.

    Where that would make two lines equal that differ, a checksum tells them apart.
    """
    old, new = set(before), set(after)
    return _elided(before, new, new - old, most), _elided(after, old, old - new, most)


def _elided(lines: Sequence[str], others: set[str], changed: set[str], most: int) -> list[str]:
    short = partial(_replaced, most=most, resources=True)
    same = set(map(short, changed))
    exact = partial(short, checksum=True)
    return [
        exact(line) if line not in others and short(line) in same else short(line) for line in lines
    ]


def _replaced(text: str, most: int, *, resources: bool = False, checksum: bool = False) -> str:
    """Return a text with marks in the place of large constants."""
    parts: list[str] = []
    end = 0
    for one in _constants(text):
        if one.size > most and (resources or not one.is_resource):
            mark = "__elided__"
            if checksum:
                mark += f" #{zlib.crc32(one.elements.encode()):08x}"
            parts.append(text[end : one.start])
            parts.append(f'"{mark}"' if one.is_resource else f"dense_resource<{mark}>")
            end = one.end
    return "".join((*parts, text[end:]))


def _constants(text: str) -> Iterator[_Constant]:
    position = 0
    while (found := _START.search(text, position)) is not None:
        position = found.end()
        if found["bytes"] is not None:
            yield _Constant(*found.span(), found[0], len(found["bytes"]) // 2, True)
        elif found["kind"] is not None:
            close, count = _end_and_count(text, position)
            if close < 0:
                continue
            elements = text[position:close]
            if _HEX.fullmatch(elements):
                count = _shape_around(text, found.start(), close + 1)
            yield _Constant(found.start(), close + 1, elements, count)
            position = close + 1


def _end_and_count(text: str, start: int) -> tuple[int, int]:
    """Return where the elements of a constant end, and the length of the longest list.

    The end is -1 if there is none. A list counts with those in it.
    """
    lists = others = 0  # open brackets; within others, lists are parts of elements
    longest = count = 0
    for token in _TOKEN.finditer(text, start):
        kind, is_list = token.lastgroup, token[0][0] == "["
        if kind == "close" and not lists and not others:
            return token.start(), max(longest, count)
        if others or (kind == "open" and not is_list):
            others += (kind == "open") - (kind == "close")
        elif is_list:
            lists += kind == "open"
            count += (token["list"] or "").count(",") + (not count)
        elif kind == "close":
            lists -= 1
        elif kind == "comma" and lists:
            count += 1
        elif kind == "comma":  # between the indices and the values of a sparse constant
            longest, count = max(longest, count), 0
    return -1, 0


def _shape_around(text: str, start: int, end: int) -> int:
    """Return the number of elements by the type of a constant; 0 if they are no numbers."""
    if text.startswith(" : ", end):
        found = _TYPE_BEHIND.match(text, end)
    else:
        found = _TYPE_BEFORE.search(text, text.rfind("\n", 0, start) + 1, start)
    return prod(map(int, re.findall(r"\d+", found["shape"]))) if found else 0
