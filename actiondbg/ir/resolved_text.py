"""Printed IR whose names are resolved to values.

Names follow the printer's scopes (SSANameState in mlir/lib/IR/AsmPrinter.cpp): a name is unique
among a region, the regions around it and those in it, but sibling regions reuse it, even in one
function. A ``{`` at the end of a line opens a region. It defines the names at the beginning of a
line (``%a, %b:2 =``), the arguments of its labels, and those names of the opening line that no
region around it defines: a function's arguments, ``scf.for %i =``, ``iter_args(%x = %y)``.
"""

from __future__ import annotations

import itertools
import re
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from actiondbg.ir.line_numbers import without_spanning
from actiondbg.ir.tokens import COMMENT, RESULT, STRING, VALUE
from actiondbg.ir.value_names import NamedKey

NAMES = re.compile(VALUE)
NUMBERED_ARGUMENT = re.compile(r"%arg\d+")
# Each alternative begins with a distinct character, so that re skips fast to the next match.
_TOKEN = re.compile(
    rf"(?P<name>{VALUE})"
    rf"|(?P<line>\n[ \t]*+(?:{RESULT}(?>(?:,[ ]{RESULT})*)[ ]=(?!=)|(?P<label>\^)))"
    rf"|{STRING}|{COMMENT}"
    r"|(?P<region>\{(?=[ \t]*+\n))|(?P<open>\{)|(?P<close>\})"
)
_RESULT, _ARGUMENT = 1, 2  # of an operation, of a block
# The regions of a switch: the default one is the first, and printed behind the others.
_CASE, _DEFAULT = re.compile(r"\s*case -?\d+\s*"), re.compile(r"\s*default\s*")
_LONGEST = 1000  # characters in front of a region that are searched
_FIRST_CASE = re.compile(rf"\n{_CASE.pattern}\Z")


class _Switches:
    """The switches in a text, whose default region is the first, but is printed last.

    Attributes:
        moved: of each switch with cases, inner ones first, the first occurrences of a name in its
            cases and in its default region, and the first one behind it.
    """

    def __init__(self) -> None:
        self.moved: list[tuple[int, int, int]] = []
        self._cases: dict[int, int] = {}  # by region around: where the cases begin
        self._defaults: dict[int, tuple[int, int]] = {}  # likewise, and the default region

    def open(self, before: str, around: int, occurrence: int) -> None:
        """Note that a region begins.

        Args:
            before: the end of the text between it and the end of the region before it.
            around: the region around it.
            occurrence: the next one.
        """
        if _DEFAULT.fullmatch(before) and around in self._cases:
            self._defaults[around] = self._cases.pop(around), occurrence
        elif not _CASE.fullmatch(before) and _FIRST_CASE.search(before):
            self._cases[around] = occurrence

    def close(self, around: int, occurrence: int) -> None:
        """Note that a region in another one has ended."""
        if around in self._defaults:
            self.moved.append((*self._defaults.pop(around), occurrence))


class ResolvedText:
    """A text whose names are resolved to values: the index of the defining occurrence, from 0.

    ``listed`` holds the names of the values that the text defines, None if unknown.

    Attributes:
        names, starts, values: of each occurrence of a name.
        regions: the defining region of each value, in order; 0 is the whole text.
        outside: the values that the text uses but does not define.
        around: for each region, itself and the regions around it, innermost first.
    """

    def __init__(self, text: str, listed: Collection[str] | None) -> None:
        self.text = text
        self.names: list[str] = []
        self.starts, self._inside, self._next = array("q"), array("q"), array("q")
        self._defines = bytearray()  # of each occurrence: _RESULT, _ARGUMENT, or 0 if unknown
        self.around: list[tuple[int, ...]] = [(0,)]
        self._opened = array("q", [0])  # of each region, the occurrence where its operation opens
        self._switches = _Switches()
        self._scan()
        self.around.append((-1, -1))  # none opens next
        known: dict[tuple[int, str], int] = {}  # region and name -> value
        for at, name in enumerate(self.names):
            if self._defines[at]:
                known.setdefault((self._inside[at], name), at)
        self.values, self.outside = array("q"), array("q")
        for at, name in enumerate(self.names):
            visible = (*self.around[self._inside[at]], self._next[at])
            found = next((known[each, name] for each in visible if (each, name) in known), None)
            if found is None:
                opens = self.around[self._next[at]][1] == self._inside[at]
                inner = opens and (listed is None or name in listed)
                found = known[self._next[at] if inner else 0, name] = at
                self.outside += array("q", () if inner else (at,))
            self.values.append(found)
        self.regions = dict(sorted((at, region) for (region, _), at in known.items()))

    def _scan(self) -> None:
        stack, label_end, last, closed = [0], 0, 0, 0
        text = "\n" + without_spanning(self.text)  # a newline before every line
        for match in _TOKEN.finditer(text):
            kind, start = match.lastgroup, match.start()
            if kind == "name":
                self._occurs(match, stack[-1], _ARGUMENT if start < label_end else 0)
            elif kind == "line" and match["label"]:
                label_end = text.find("\n", match.end())
            elif kind == "line":
                for name in NAMES.finditer(text, *match.span()):
                    self._occurs(name, stack[-1], _RESULT)
            elif kind == "region":
                beside = text.find("\n", closed, start) < 0  # as in "} else {", "}, {"
                before = text[max(closed + 1, start - _LONGEST) : start]
                self._switches.open(before, stack[-1], len(self.starts))
                self._opened.append(self._opened[last] if beside else len(self.starts))
                self.around.append((len(self.around), *self.around[stack[-1]]))
                stack.append(self.around[-1][0])
            elif kind == "open":
                stack.append(stack[-1])
            elif kind == "close" and len(stack) > 1 and (inner := stack.pop()) != stack[-1]:
                last, closed = inner, start
                self._switches.close(stack[-1], len(self.starts))

    def _occurs(self, match: re.Match[str], region: int, defines: int) -> None:
        self.names.append(sys.intern(match.group()))
        self.starts.append(match.start() - 1)
        self._inside.append(region)
        self._next.append(len(self.around))
        self._defines.append(defines)

    def is_definition(self, value: int) -> bool:
        """Whether the form says that the text defines a value: no list of names is needed."""
        end = self.starts[value] + len(self.names[value])
        opens = self.regions[value] == self._next[value]
        return bool(self._defines[value]) or (opens and self.text.startswith((": ", " = "), end))

    def walked(self) -> list[int]:
        """Return the values in the agent's order: an operation's arguments before what is in it.

        The printer numbers the arguments of a block in order, whatever the order in which an
        operation prints them: gpu.launch does not keep it.
        """
        place = self._places
        places = {
            value: (
                float(place[value])
                if self._defines[value] == _RESULT
                else place[self._opened[region] - 1] + 0.5
            )
            for value, region in self.regions.items()
        }
        ordered = sorted(self.regions, key=lambda value: (places[value], value))
        arguments: defaultdict[int, list[int]] = defaultdict(list)
        for value in ordered:
            if not self._defines[value] and NUMBERED_ARGUMENT.fullmatch(self.names[value]):
                arguments[self.regions[value]].append(value)
        by_number = {
            region: iter(sorted(values, key=lambda value: int(self.names[value][len("%arg") :])))
            for region, values in arguments.items()
        }
        numbered = {value for values in arguments.values() for value in values}
        return [
            next(by_number[self.regions[value]]) if value in numbered else value
            for value in ordered
        ]

    def printed(self) -> list[int]:
        """Return the values in the order of the text, but for regions that are printed later."""
        place = self._places
        return sorted(self.regions, key=lambda value: place[value])

    @cached_property
    def _places(self) -> Sequence[int]:
        """The place of each occurrence in the order of regions; -1 behind the last one."""
        order = [*range(len(self.starts))]
        for first, start, end in self._switches.moved:
            order[first:end] = order[start:end] + order[first:start]
        places = array("q", [-1]) * (len(order) + 1)
        for place, at in enumerate(order):
            places[at] = place
        return places

    def renamed(self, names: Mapping[int, str]) -> str:
        """Return the text with another name for each value."""
        parts: list[str] = []
        end = 0
        for start, name, value in zip(self.starts, self.names, self.values, strict=True):
            parts += (self.text[end:start], names[value])
            end = start + len(name)
        return "".join((*parts, self.text[end:]))


def certain_keys(text: ResolvedText, pairs: Sequence[tuple[str, str]]) -> dict[int, str]:
    """Return the keys of the values whose keys are certain."""
    orders = (_keys_in_order(text, order, pairs) for order in (text.walked(), text.printed()))
    if found := [keys.items() for keys in orders if keys is not None]:
        return dict(sorted(found[0] & found[-1]))
    # The text is in another order: only a name that is defined once is certain.
    return _keys_of_unique(text, text.printed(), pairs)


def keys_by_scope(text: ResolvedText, named: Sequence[NamedKey]) -> dict[int, str]:
    """Return the certain keys, where the order differs within scopes such as functions only."""
    order, end = text.walked(), 0
    keys: dict[int, str] = {}
    for _, group in itertools.groupby(named, key=lambda each: each.scope):
        pairs = [(each.name, each.key) for each in group]
        values = order[end : end + len(pairs)]
        end += len(pairs)
        if Counter(text.names[value] for value in values) != Counter(name for name, _ in pairs):
            return {}
        keys |= _keys_of_unique(text, values, pairs)
    return keys if end == len(order) else {}


def _keys_of_unique(
    text: ResolvedText, values: Sequence[int], pairs: Sequence[tuple[str, str]]
) -> dict[int, str]:
    """Return the keys of the values whose names are defined and listed once."""
    names = {value: text.names[value] for value in values}
    listed, defined, keys = Counter(name for name, _ in pairs), Counter(names.values()), dict(pairs)
    return {at: keys[name] for at, name in names.items() if listed[name] == defined[name] == 1}


def _keys_in_order(
    text: ResolvedText, order: Sequence[int], pairs: Sequence[tuple[str, str]]
) -> dict[int, str] | None:
    """Return the certain keys, or None if the values are in another order than the pairs.

    Some pairs are of values that are not printed. Where the leftmost way to find the names in the
    list and the rightmost one agree, there is no other.
    """
    offered, listed = [name for name, _ in pairs], {name for name, _ in pairs}
    values = [value for value in order if text.names[value] in listed]
    wanted = [text.names[value] for value in values]
    first, last = _places(wanted, offered), _places(wanted[::-1], offered[::-1])
    if -1 in first:
        return None
    found = zip(values, first, reversed(last), strict=True)
    return {value: pairs[at][1] for value, at, end in found if at == len(pairs) - 1 - end}


def _places(wanted: Sequence[str], offered: Sequence[str]) -> list[int]:
    """Return the leftmost places of ``wanted`` in ``offered``, in order; -1 when there is none."""
    rest = iter(enumerate(offered))
    return [next((at for at, other in rest if other == name), -1) for name in wanted]
