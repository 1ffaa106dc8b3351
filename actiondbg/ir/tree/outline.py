"""Outlines: names, symbols and extents of the outer operations in IR as MLIR prints it.

An outline goes by the indentation of the lines, and skips what is in an operation: logs of a
compilation hold the same functions hundreds of times. A tree of the same text reads everything,
and takes thirty times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from actiondbg.ir.tokens import (
    CHARACTERS,
    OPERATION,
    RESULTS,
    SYMBOL,
    escaped,
    symbol_name,
)

MODULE = "builtin.module"
# Results, name, and words such as "private" before the symbol.
_OPERATION = re.compile(
    rf'( *)(?:{RESULTS})?"?({OPERATION})"?(?:(?: [a-z_][\w-]*(?:\([^()\n]*\))?)* ({SYMBOL}))?'
)
_GENERIC_SYMBOL = re.compile(rf'\bsym_name = "({CHARACTERS})"')
_ROOT = re.compile(r"^(?![#!/ }{\])>\n]).", re.MULTILINE)
_CLOSERS = "})]^"
_OPENERS = ("{", "({", "(", "[", ",")


class Printed(NamedTuple):
    """An operation in a text."""

    name: str
    symbol: str  # the symbol that it defines; empty for none
    begin: int  # where its first line begins
    end: int  # where the line after it begins
    indent: int  # the blanks before it

    @property
    def is_module(self) -> bool:
        """Whether it holds functions and the like."""
        return "module" in self.name or "executable" in self.name

    def of(self, text: str) -> str:
        """Return its lines in the text."""
        return text[self.begin : self.end]


def outermost(text: str) -> Printed | None:
    """Return the outermost operation of a dump; None if there is none."""
    found = _ROOT.search(text)
    if found is None:
        return None
    return _printed(text, found.start())


def _printed(text: str, begin: int) -> Printed | None:
    """Return the operation whose first line begins at an offset."""
    found = _OPERATION.match(text, begin)
    if found is None:
        return None
    indent, name, symbol = found.groups()
    end = _end(text, begin, len(indent))
    if symbol is None:
        last = text.rfind("\n", begin, end - 1) + 1
        generic = _GENERIC_SYMBOL.search(text, begin, _line_end(text, begin))
        if generic is None and text.startswith("})", last + len(indent)):  # behind its regions
            generic = _GENERIC_SYMBOL.search(text, last, end)
        symbol = "" if generic is None else f'@"{generic[1]}"'
    if "." not in name:  # printed without its dialect
        name = {"module": MODULE, "func": "func.func"}.get(name, name)
    return Printed(name, symbol_name(symbol), begin, end, len(indent))


def _line_end(text: str, begin: int) -> int:
    end = text.find("\n", begin)
    return len(text) if end < 0 else end


def _end(text: str, begin: int, indent: int) -> int:
    """Return where the line after an operation begins: lines are its own by their indentation."""
    at = _line_end(text, begin)
    next_line = _outer_line(indent)
    while True:
        found = next_line.search(text, at)
        if found is None:
            return len(text)
        first = found.end()
        at = _line_end(text, first)
        is_own = first - found.start() - 1 == indent and text[first] in _CLOSERS
        if not is_own:
            return found.start() + 1
        if text[first] != "^" and not text[first:at].endswith(_OPENERS):
            return min(at + 1, len(text))


@cache
def _outer_line(indent: int) -> re.Pattern[str]:
    """Return a pattern for the beginning of a line that is not indented more."""
    return re.compile(rf"\n {{0,{indent}}}(?=[^ \n])")


@cache
def _inner_line(indent: int) -> re.Pattern[str]:
    """Return a pattern for the first line of an operation with an indentation."""
    return re.compile(rf"\n {{{indent}}}(?=[^ \n}}^)])")


# --- inside ---


def operations_in(text: str, around: Printed) -> Iterator[Printed]:
    """Iterate over the operations directly in the region of an operation, which opens only one."""
    at = _line_end(text, around.begin)
    begins = _inner_line(around.indent + 2)
    while (child := begins.search(text, at, around.end)) is not None:
        printed = _printed(text, child.start() + 1)
        if printed is None:
            at = _line_end(text, child.end())
            continue
        yield printed
        at = max(printed.end - 1, child.end())


def symbols_in(text: str, around: Printed) -> list[Printed]:
    """Return the operations directly in the region of an operation that define a symbol."""
    return [one for one in operations_in(text, around) if one.symbol]


def find(text: str, name: str, symbol: str) -> list[Printed]:
    """Return the operations with a name and a symbol, at any depth."""
    short = re.escape(name.removeprefix("builtin."))
    begins = rf'^ +(?:{RESULTS})?"?(?:builtin\.)?{short}"?(?=[ (<]|$)'
    if not symbol:
        return _all(text, begins, name, symbol)
    generic = f'sym_name = "{escaped(symbol)}"'
    plain, quoted = re.escape(symbol), re.escape(escaped(symbol))
    named = rf'(?:@{plain}(?![\w$.\-])|@"{quoted}"|{re.escape(generic)})'
    found = _all(text, rf"{begins}[^\n]*{named}", name, symbol)
    # In the generic form it may stand behind the regions.
    return found or (_all(text, begins, name, symbol) if generic in text else [])


def _all(text: str, begins: str, name: str, symbol: str) -> list[Printed]:
    """Return the operations with a name and a symbol whose first lines begin so."""
    found = (_printed(text, each.start()) for each in re.finditer(begins, text, re.MULTILINE))
    return [one for one in found if one is not None and (one.name, one.symbol) == (name, symbol)]


def without_indent(text: str, printed: Printed) -> str:
    """Return an operation as its own dump has it, without aliases."""
    own = printed.of(text)
    if printed.indent:
        own = re.sub(rf"^ {{{printed.indent}}}", "", own, flags=re.MULTILINE)
    # Inside other dialects' operations a module is printed with its dialect.
    return own.replace(MODULE, "module", 1) if own.startswith(f"{MODULE} ") else own


# --- lines ---


def last_line(line: Callable[[int], str], height: int, first: int, inside: int = 0) -> int:
    """Return the last line of an operation: the line of the brace that closes its last region.

    Args:
        line: returns a line of the text by its index.
        height: the number of lines.
        first: the line on which the operation begins.
        inside: the last line of an operation in it; 0 if none is known.
    """
    opened = line(first)
    closes = f"{opened[: len(opened) - len(opened.lstrip())]}}}"
    last = max(first, inside)
    is_open = inside > first or opened.endswith("{")
    while is_open and last + 1 < height:
        last += 1
        if line(last).startswith(closes):
            is_open = line(last).endswith("{")  # of another region
    return last
