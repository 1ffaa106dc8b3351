"""Source locations as IR writes them: at the ends of lines, and by aliases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from actiondbg.ir.tokens import CHARACTERS, ID, STRING, unescaped

_BLANKS = r"(?<!\s)\s*"  # all before a location: tried once, however far a line is indented
_FLAT = rf"(?:[^()\"\n]++|{STRING})"  # without parentheses
_AT_LINE_ENDS = re.compile(
    rf"{_BLANKS}\bloc\((?>(?:{_FLAT}|\((?>{_FLAT}*)\))*)\)[ \t]*$", re.MULTILINE
)
_NESTED = re.compile(rf"{STRING}|{_BLANKS}\bloc\(|[()]")
# A location by its alias at the end of a text.
ALIASED = re.compile(rf"{_BLANKS}\bloc\(\#{ID}\)\s*\Z")
_FILE_LOCATION = re.compile(rf'loc\((?:{STRING}\()?"({CHARACTERS})":(\d+):(\d+)')
_LAST_LOCATION = re.compile(r"loc\((#[\w$-]+|.*)\)$")


class WrittenLocations(NamedTuple):
    """The locations of the operations of a text, each distinct one kept once."""

    keys: Sequence[int]  # of each operation, the number of its text; 0 if it has no location
    # The distinct texts, without ``loc()``; aliases stand as they are. The first is not used.
    texts: Sequence[str]
    aliases: Mapping[str, str]  # the texts of aliases, by name with the ``#``
    offsets: Sequence[int]  # of each operation, where its name begins in the text


def last_file_position(operation: str, text: str) -> tuple[str, int, int] | None:
    """Return file, line and column of an operation printed with its location, or an alias."""
    last = operation.rstrip().rpartition("\n")[2]
    found = _LAST_LOCATION.search(last)
    if found is None:
        return None
    written = f"loc({found[1]})"
    if found[1].startswith("#"):
        definition = re.search(rf"^{re.escape(found[1])} = (.*)$", text, re.MULTILINE)
        written = definition[1] if definition is not None else ""
    place = _FILE_LOCATION.match(written)
    return None if place is None else (unescaped(place[1]), int(place[2]), int(place[3]))


def without_all_locations(text: str) -> str:
    """Return a text without any location: at the ends of lines, and of arguments of blocks."""
    parts: list[str] = []
    end = 0
    for span in _spans(text):
        parts.append(text[end : span.start])
        end = span.stop
    return "".join((*parts, text[end:]))


def without_trailing_locations(text: str) -> str:
    """Return a text without the locations at the ends of its lines."""
    bare = _AT_LINE_ENDS.sub("", text)
    if "loc(" not in bare:
        return bare
    return "\n".join(split_location(line)[0] for line in bare.split("\n"))


def split_location(line: str) -> tuple[str, str]:
    """Split a line into itself and the text of the location at its end, whatever is nested in that.

    The text is what stands between ``loc(`` and ``)``; empty for none.
    """
    end = len(line.rstrip())
    if "loc(" in line and line.endswith(")", 0, end):
        last = max(_spans(line), key=lambda span: span.stop, default=range(0))
        if last.stop == end:
            return line[: last.start], line[last.start : end - 1].lstrip().removeprefix("loc(")
    return line, ""


def _spans(text: str) -> Iterator[range]:
    """Iterate over the places of locations, with the blanks before them, that are in no other."""
    start = depth = inside = 0
    for match in _NESTED.finditer(text):
        sign = match[0][-1]
        if sign == "(":
            depth += 1
            if match[0] != "(" and not inside:
                start, inside = match.start(), depth
        elif sign == ")":
            if inside == depth > 0:
                inside = 0
                yield range(start, match.end())
            depth = max(depth - 1, 0)
