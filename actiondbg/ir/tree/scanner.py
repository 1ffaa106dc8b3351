"""A tolerant scanner of IR: the operations of a text, of any dialect, as a tree.

MLIR's grammar cannot be parsed without the dialects. What is common to all is enough: brackets and
strings; regions, told from dictionaries by what stands behind the brace; results, names, labels,
symbols and locations. An operation begins on a line of its own, or behind the brace or the label
before it. What is neither the beginning of an operation nor a part of one is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from actiondbg.errors import ActiondbgError
from actiondbg.ir.tokens import unescaped
from actiondbg.ir.tree import grammar
from actiondbg.ir.tree.tree import AliasedPart, Columns, Tree
from actiondbg.ir.written_locations import WrittenLocations
from actiondbg.support.counts import counted

_CLOSES = {")": "(", "]": "[", "}": "{"}


class BrokenText(ActiondbgError):
    """The brackets or strings of a text do not match: it is cut off, or no IR."""


class Unread(NamedTuple):
    """A place of a text that could not be read."""

    line: int  # its line, from 1
    why: str  # what is wrong there


class ScannedText(NamedTuple):
    """The operations of a text, their locations, and what could not be read of the text."""

    name: str
    tree: Tree
    locations: WrittenLocations
    unread: tuple[Unread, ...]

    @property
    def note(self) -> str:
        """One sentence about what could not be read; empty if all was."""
        if not self.unread:
            return ""
        first, count = self.unread[0], len(self.unread)
        places = counted(count, "place")
        return (
            f"{places} of {self.name} could not be read,"
            f"{' the first' if count > 1 else ''} on line {first.line}: {first.why}."
        )


def scan(text: str, name: str, *, partial: bool = False) -> ScannedText:
    """Scan the text of an IR, perhaps of several modules; users call it ``name``.

    With ``partial``, use what can be read of a text whose brackets do not match.

    Raises:
        BrokenText: the brackets do not match.
    """
    scanner = _Scanner(text, partial)
    try:
        scanner.run()
    except BrokenText as error:
        raise BrokenText(f"{name} {error}") from None
    columns = scanner.columns
    return ScannedText(
        name, columns.tree(text), columns.locations(scanner.parts), tuple(scanner.unread)
    )


class _Bracket:
    """An open bracket; the bottom one is around the whole text.

    Args:
        kind: ``(``, ``[``, ``{`` of a dictionary, or ``R`` of a region.
        line: where it opens.
        owner: the operation around it; -1 for none.
        dialect: of names without one, in a region.
    """

    __slots__ = ("dialect", "indent", "kind", "line", "owner", "resumes")

    def __init__(self, kind: str, line: int, owner: int, dialect: str = "") -> None:
        self.kind, self.line, self.owner, self.dialect = kind, line, owner, dialect
        self.resumes = owner  # the operation that continues behind a region
        self.indent = -1  # the column of the operations in the region; -1 before the first


class _Scanner:
    def __init__(self, text: str, partial: bool) -> None:
        self._text, self._partial = text, partial
        self.columns = Columns()
        self.parts = [AliasedPart(0, {})]
        self.unread: list[Unread] = []
        self._stack = [_Bracket("R", 1, -1, "builtin")]
        self._top = self._stack[0]
        self._current = -1  # the operation that is open in the innermost region
        self._line = 1
        self._content = 1  # the last line with a part of an operation
        self._fresh = True  # at the beginning of a line, of a region or behind a label
        self._name_end = 0  # where the name of the current operation ends
        self._read: dict[str | None, Callable[[re.Match[str]], int]] = {
            "string": self._string,
            "comment": self._skip,
            "flat": self._skip,
            "line": self._newline,
            "open": self._open,
            "close": self._close,
            "loc": self._location,
            "symbol": self._symbol_use,
            "value": self._value,
            "quote": self._quote,
        }

    def run(self) -> None:
        at, end = 0, len(self._text)
        while at < end:
            if self._fresh and self._top.kind == "R":
                at = self._statement(self._simple_lines(at))
            else:
                at = self._token(at)
        self._end_statement()
        for bracket in reversed(self._stack[1:]):
            sign = "{" if bracket.kind == "R" else bracket.kind
            self._broken(bracket.line, f"the {sign!r} is not closed", now=True)
            if bracket.owner >= 0:
                self.columns.last_lines[bracket.owner] = self._content

    # ---- lines ----

    def _simple_lines(self, at: int) -> int:
        """Read lines that are one operation without braces each; return where the next begins."""
        text, match_line = self._text, grammar.SIMPLE_LINE.match
        while match := match_line(text, at):
            results, generic, name, rest = match.groups()
            if not _is_simple(results or generic, name, rest):
                return at
            location = ""
            if "loc(" in rest:
                location, rest = _trailing_location(rest)
            place = (
                match.end(1) + 3 if results else match.start(2) - 1 if generic else match.start(3)
            )
            start = match.start(1) if results else place
            index = self._begin(results, generic or name, place, start, generic=name is None)
            if location:
                self.columns.locate(index, location)
            if "@" in rest:
                for symbol in grammar.SYMBOL.finditer(rest):
                    self.columns.refer(index, symbol[0], rest[: symbol.start()])
            at = match.end()
            self._line += 1
        return at

    def _statement(self, at: int) -> int:
        """Read what begins here: an operation, a label, an alias, or the rest of an operation."""
        text = self._text
        blank = grammar.BLANK.match(text, at)
        begin = blank.end() if blank else at
        sign = text[begin : begin + 1]
        if sign == "\n":
            self._line += 1
            return begin + 1
        if sign == "/" and text.startswith("//", begin):
            if len(self._stack) == 1 and text.startswith(_SEPARATOR, begin):
                self.parts.append(AliasedPart(len(self.columns.names), {}))
            end = text.find("\n", begin)
            return len(text) if end < 0 else end
        self._fresh = False
        if sign == "^":
            return self._label(begin)
        if len(self._stack) == 1:
            if sign in "#!" and sign:
                return self._alias(begin)
            if text.startswith("{-#", begin):
                return self._resources(begin)
        return self._operation(begin)

    def _operation(self, begin: int) -> int:
        text = self._text
        match = grammar.START.match(text, begin)
        if match and self._is_start(match, begin):
            results, name = match["results"], match["generic"] or match["name"]
            # The location of a generic operation is that of the quote.
            place = match.start("name") if match["name"] else match.start("generic") - 1
            self._line += results.count("\n") if results else 0
            self._begin(results, name, place, begin, generic=bool(match["generic"]))
            return match.end()
        if text[begin : begin + 1] in "})]":
            return begin
        outermost = len(self._stack) == 1
        if self._current < 0 or (outermost and self._is_stray(begin)):
            self._unread_line(begin)
            if outermost:
                self._end_statement()
                self._current = -1
                return self._line_end(begin)
        return begin

    def _is_stray(self, begin: int) -> bool:
        """Whether an outermost line belongs to no operation: it begins with a word, unindented."""
        text, word = self._text, grammar.WORD.match(self._text, begin)
        if not word or word[0] in grammar.CONTINUES or text[begin - 1 : begin] not in ("", "\n"):
            return False
        return "{" not in text[begin : self._line_end(begin)]

    def _is_start(self, match: re.Match[str], begin: int) -> bool:
        name = match["name"]
        if name is None or match["results"] or "." in name:
            return True
        if len(self._stack) == 1:
            return name in grammar.BUILTIN
        dialect = self._top.dialect
        if self._current >= 0 and (name in grammar.CONTINUES or dialect in grammar.FULL_NAMES):
            return False
        if grammar.ASSIGNS.match(self._text, match.end()):
            return False
        in_function = dialect == "func" and name not in grammar.BARE
        if in_function and grammar.OPENS.match(self._text, match.end()):
            return False  # a further region of the operation above
        column = begin - self._text.rfind("\n", 0, begin) - 1
        return self._current < 0 or column <= self._top.indent or name in grammar.BARE

    def _unread_line(self, begin: int) -> None:
        found = self._text[begin : self._line_end(begin)].strip()
        shown = found if len(found) <= 40 else found[:37] + "..."
        self.unread.append(Unread(self._line, f"no operation begins with {shown!r}"))

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _label(self, begin: int) -> int:
        text = self._text
        match = grammar.LABEL.match(text, begin)
        end = match.end() if match else begin + 1
        after = grammar.SPACE.match(text, end)
        at = after.end() if after else end
        if text.startswith("(", at):
            at = self._closing(at + 1)
            space = grammar.SPACE.match(text, at)
            at = space.end() if space else at
        if not text.startswith(":", at):  # a successor of the operation above
            return end
        self._end_statement()
        self._current = -1
        self._line += text.count("\n", begin, at)
        self._content = self._line
        self._fresh = True
        return at + 1

    def _alias(self, begin: int) -> int:
        """Read the definition of an alias, to the end of its last line."""
        text = self._text
        self._end_statement()
        self._current = -1
        while match := grammar.SIMPLE_ALIAS.match(text, begin):
            self.parts[-1].aliases[match[1]] = match[2]
            self._line += 1
            begin = match.end()
            self._fresh = True
        match = grammar.ALIAS.match(text, begin)
        if match is None:
            if not self._fresh:
                self._unread_line(begin)
                return self._line_end(begin)
            return begin
        self._fresh = False
        at = match.end()
        location = grammar.LOCATION.match(text, at)
        if location:
            end = self._closing(location.end())
            self.parts[-1].aliases[match["name"]] = text[location.end() : end - 1]
        else:
            end = self._value_end(at)
        self._line += text.count("\n", begin, end)
        return end

    def _value_end(self, at: int) -> int:
        """Return the end of an attribute or a type: the first line end outside of brackets."""
        depth = 0
        for match in grammar.VALUE_TOKEN.finditer(self._text, at):
            sign = match[0]
            if sign in _OPENS:
                depth += 1
            elif sign in _ENDS:
                depth -= 1
            elif sign == "\n" and depth <= 0:
                return match.start()
        return self._line_end(at)

    def _resources(self, begin: int) -> int:
        self._end_statement()
        self._current = -1
        end = self._text.find("#-}", begin)
        if end < 0:
            self._broken(self._line, "the '{-#' is not closed")
            return len(self._text)
        self._line += self._text.count("\n", begin, end)
        return end + 3

    # ---- tokens inside an operation ----

    def _token(self, at: int) -> int:
        match = grammar.TOKEN.search(self._text, at)
        if match is None:
            return len(self._text)
        return self._read[match.lastgroup](match)

    def _skip(self, match: re.Match[str]) -> int:
        return match.end()

    def _newline(self, match: re.Match[str]) -> int:
        self._content = self._line
        self._line += 1
        self._fresh = True
        return match.end()

    def _string(self, match: re.Match[str]) -> int:
        """Read a string; in the dictionary of an operation it may name its symbol."""
        owner = self._top.owner
        if (
            self._top.kind == "{"
            and owner >= 0
            and self._text.endswith(_NAMES_SYMBOL, 0, match.start())
        ):
            self.columns.symbols.setdefault(owner, unescaped(match[0][1:-1]))
        return match.end()

    def _open(self, match: re.Match[str]) -> int:
        sign, at, top = match[0], match.end(), self._top
        if sign == "{" and top.kind in "R(":
            name = self.columns.names[self._current] if self._current >= 0 else ""
            if grammar.opens_region(self._text, at, name):
                # A region without an operation, which could not be read, is of the one around it.
                owner = self._current if name else top.owner
                bracket = _Bracket("R", self._line, owner, name.partition(".")[0] or top.dialect)
                bracket.resumes = self._current
                self._push(bracket)
                self._current = -1
                self._fresh = True
                return at
        self._push(_Bracket(sign, self._line, self._current))
        return at

    def _push(self, bracket: _Bracket) -> None:
        self._stack.append(bracket)
        self._top = bracket

    def _close(self, match: re.Match[str]) -> int:
        sign, top = match[0], self._top
        kind = "{" if top.kind == "R" else top.kind
        if kind != _CLOSES[sign] or len(self._stack) == 1:
            self._mismatch(sign)
            return match.end()
        if top.kind == "R":
            if not self._begins_line(match.start()):
                self._content = self._line
            self._end_statement()
            self._current = top.resumes
        self._stack.pop()
        self._top = self._stack[-1]
        self._content = self._line
        self._fresh = False
        return match.end()

    def _begins_line(self, at: int) -> bool:
        """Whether only blanks are before a position on its line."""
        while at > 0 and self._text[at - 1] in " \t":
            at -= 1
        return at == 0 or self._text[at - 1] == "\n"

    def _mismatch(self, sign: str) -> None:
        top, wanted = self._top, _CLOSES[sign]
        if len(self._stack) == 1:
            self._broken(self._line, f"{sign!r} closes nothing")
            return
        kind = "{" if top.kind == "R" else top.kind
        self._broken(self._line, f"{sign!r} does not close the {kind!r} of line {top.line}")
        # Which bracket is missing? If the closing one fits an outer bracket, those in it.
        kinds = ["{" if one.kind == "R" else one.kind for one in self._stack[1:]]
        if wanted not in kinds:
            return
        while ("{" if self._top.kind == "R" else self._top.kind) != wanted:
            self._leave()
        self._leave()

    def _leave(self) -> None:
        bracket = self._stack.pop()
        self._top = self._stack[-1]
        if bracket.kind == "R":
            self._end_statement()
            self._current = bracket.resumes

    def _location(self, match: re.Match[str]) -> int:
        if self._top.kind != "R" or self._current < 0:
            self._push(_Bracket("(", self._line, self._current))
            return match.end()
        end = self._closing(match.end())
        self.columns.locate(self._current, self._text[match.end() : end - 1])
        self._line += self._text.count("\n", match.end(), end)
        return end

    def _value(self, match: re.Match[str]) -> int:
        """Read a value, at which another operation may begin."""
        if self._top.kind == "R" and grammar.START_INSIDE.match(self._text, match.start()):
            self._content = self._line
            return max(self._operation(match.start()), match.end())
        return match.end()

    def _symbol_use(self, match: re.Match[str]) -> int:
        if self._current >= 0:
            level = self._top.kind == "R"
            between = self._text[self._name_end : match.start()] if level else "("
            self.columns.refer(self._current, match[0], between)
        return match.end()

    def _quote(self, match: re.Match[str]) -> int:
        self._broken(self._line, "a string is not closed")
        return self._line_end(match.start())

    def _begin(
        self, results: str | None, name: str, place: int, start: int, *, generic: bool = False
    ) -> int:
        """Begin an operation; return its index."""
        self._end_statement()
        top = self._top
        if top.indent < 0:
            top.indent = start - self._text.rfind("\n", 0, start) - 1
        if not generic and "." not in name:
            name = grammar.complete_name(top.dialect, name)
        self._current = self.columns.begin(results, name, top.owner, self._line, place)
        self._content = self._line
        self._name_end = place + len(name)
        return self._current

    def _end_statement(self) -> None:
        if self._current >= 0:
            self.columns.last_lines[self._current] = self._content

    # ---- brackets ----

    def _closing(self, at: int) -> int:
        """Return the position behind the parenthesis that closes the one before a position."""
        depth = 1
        for match in grammar.PARENTHESES.finditer(self._text, at):
            depth += {"(": 1, ")": -1}.get(match[0], 0)
            if not depth:
                return match.end()
        self._broken(self._line, "the '(' is not closed")
        return len(self._text)

    def _broken(self, line: int, why: str, *, now: bool = False) -> None:
        if not self._partial:
            raise BrokenText(
                f"does not parse: on line {line}, {why}; --partial uses what can be read."
            )
        self.unread.append(Unread(line, why))


_OPENS, _ENDS = frozenset("<({["), frozenset(">)}]")
_SEPARATOR = "// -----"  # of --split-input-file, and of the dumps of a log
_NAMES_SYMBOL = "sym_name = "


def _is_simple(first: str | None, name: str | None, rest: str) -> bool:
    """Whether a line begins an operation, leaves no bracket open and has no comment."""
    if not first and (name is None or "." not in name):
        return False
    if rest.count("(") != rest.count(")") or rest.count("[") != rest.count("]"):
        return False
    return "//" not in rest and "sym_name" not in rest


def _trailing_location(rest: str) -> tuple[str, str]:
    """Return the location at the end of a line, empty if there is none, and what is before it."""
    stripped = rest.rstrip()
    start = stripped.rfind("loc(")
    inside = stripped[start + 4 : -1]
    if not stripped.endswith(")") or inside.count("(") != inside.count(")"):
        return "", rest
    if stripped[start - 1 : start] not in " \t":
        return "", rest
    return inside, rest[:start]
