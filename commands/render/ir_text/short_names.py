"""Short names of affine maps, affine sets and long attributes in lines of IR."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actiondbg.ir.tokens import STRING

# `affine_map<`, or an attribute of a dialect, such as `#ttg.blocked<`.
_BEGIN = re.compile(r"affine_(?P<affine>map|set)<|(?<![\w.])#\w+\.(?P<attribute>[\w.]+)<")
_NAME = re.compile(rf"{STRING}|(#\w+)(?![\w.<])")
_LEAST = 24  # characters of an attribute that is given a name


class ShortNames:
    """Short names of affine maps, affine sets and long attributes of dialects.

    They are numbered in the order in which they were first shown, and stay the same from stop to
    stop; MLIR's printer numbers them anew in each module that it prints. An attribute around others
    keeps its own text: ``#ttg.slice<{dim = 1, parent = #blocked}>``.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._undefined: dict[str, str] = {}

    def shorten(self, text: str) -> str:
        """Return a line of IR with short names."""
        return "".join(self._parts(text))

    def new_in(self, text: str) -> list[tuple[str, str]]:
        """Return the names in a line with what they stand for, each of them once for all calls."""
        names = _names_in(self.shorten(text))
        return [(name, self._undefined.pop(name)) for name in names if name in self._undefined]

    def _parts(self, text: str) -> Iterator[str]:
        end = 0
        for match in _BEGIN.finditer(text):
            close = _end_of_brackets(text, match.end())
            if match.start() < end or close is None or _is_in_string(text, end, match.start()):
                continue
            yield text[end : match.start()]
            yield self._short(text[match.start() : close], match)
            end = close
        yield text[end:]

    def _short(self, text: str, match: re.Match[str]) -> str:
        attribute = match["attribute"]
        if attribute is None:
            return self._name(text, match["affine"])
        inner = self.shorten(text[len(match[0]) :])
        if not _names_in(inner) and _BEGIN.search(inner) is None and len(text) >= _LEAST:
            return self._name(text, attribute.replace(".", "_"))
        return match[0] + inner

    def _name(self, text: str, stem: str) -> str:
        if text not in self._names:
            count = self._counts.get(stem, 0)
            self._counts[stem] = count + 1
            name = f"#{stem}{count or ''}"
            self._names[text] = name
            self._undefined[name] = text
        return self._names[text]


def _names_in(text: str) -> list[str]:
    """Return the short names in a line, but not those in strings."""
    return list(dict.fromkeys(match[1] for match in _NAME.finditer(text) if match[1]))


def _end_of_brackets(text: str, start: int) -> int | None:
    """Return the place after the bracket that closes the one before ``start``, or None."""
    depth = 1
    at = start
    while at < len(text):
        if text[at] == '"':
            at = _end_of_string(text, at)
            continue
        if text[at] == "<":
            depth += 1
        elif text[at] == ">" and text[at - 1] != "-" and text[at + 1 : at + 2] != "=":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return None


def _end_of_string(text: str, start: int) -> int:
    at = start + 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _is_in_string(text: str, start: int, place: int) -> bool:
    """Whether a place is in a string, where the text from ``start`` on begins outside of one."""
    while (start := text.find('"', start, place)) >= 0:
        if (start := _end_of_string(text, start)) > place:
            return True
    return False
