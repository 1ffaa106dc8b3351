"""Suggestions: the known name that is most like one that is not known."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

_LIKENESS = 0.75  # of a name that is suggested
_SHORT, _LIKENESS_OF_SHORT = 4, 0.6  # a slip in a short name changes much of it
_LIKENESS_OF_PART = 0.8  # of the last component of a name
_LESS_FOR_PART = 0.01  # a whole name comes before a part that is as like
_SEPARATORS = re.compile(r"::|[<>]")


class NamesOfKind(NamedTuple):
    """The known names of one kind."""

    kind: str
    names: Sequence[str]


def similar_file(name: str, files: Sequence[str]) -> str | None:
    """Return the file name that is most like another; None if none is like it."""
    near = difflib.get_close_matches(name, files, 1, _LIKENESS)
    return near[0] if near else None


def similar_name(glob: str, known: Sequence[NamesOfKind]) -> str | None:
    """Return the known name that is most like a glob, with its kind; None if none is like it."""
    stem = glob.strip("*").lower()
    end = len(stem) + 1 if glob.endswith("*") else None
    likeness = _Likeness(stem)
    best = (_LIKENESS_OF_SHORT if len(stem) <= _SHORT else _LIKENESS), ""
    for kind, names in known:
        spellings = _spellings(tuple(names))
        for spelling, name in likeness.possible(spellings.whole, end, best[0]):
            if (found := likeness.of(spelling, best[0])) > best[0]:
                best = found, f"{kind}:{name}"
        for spelling, name in likeness.possible(spellings.parts, end, best[0]):
            found = likeness.of(spelling, max(best[0], _LIKENESS_OF_PART)) - _LESS_FOR_PART
            if found > best[0]:
                best = found, f"{kind}:{name}"
    return best[1] or _beginning(stem, known)


def last_component(name: str) -> str:
    """Return the part after the last :: outside of template arguments, as the agent does.

    A function canonicalize keeps its class: many operations have one, and a pass has the name.
    """
    nesting = start = before = 0
    for found in _SEPARATORS.finditer(name):
        if found[0] != "::":
            nesting += 1 if found[0] == "<" else -1
        elif nesting == 0:
            before, start = start, found.end()
    return name[before if name[start:] == "canonicalize" else start :]


def _beginning(stem: str, known: Sequence[NamesOfKind]) -> str | None:
    """Return the shortest known name that begins with a text of some length."""
    if len(stem) < _SHORT:
        return None
    found = [
        (len(name), f"{kind}:{name}")
        for kind, names in known
        for spellings in [_spellings(tuple(names))]
        if f"\n{stem}" in spellings.lines
        for spelling, name in (*spellings.whole, *spellings.parts)
        if spelling.startswith(stem)
    ]
    return min(found, default=(0, None))[1]


class _Spellings(NamedTuple):
    """What a user may write for names, in lower case, each with its name.

    Attributes:
        whole: the names themselves.
        parts: their last components.
        lines: all of these in one text, each after a newline.
    """

    whole: Sequence[tuple[str, str]]
    parts: Sequence[tuple[str, str]]
    lines: str


# Of all names of a kind: each name that is not known is compared with the same ones.
@lru_cache(maxsize=16)
def _spellings(names: tuple[str, ...]) -> _Spellings:
    whole = [(name.lower(), name) for name in names]
    lasts = (last_component(name) if "::" in name else name.rpartition(".")[2] for name in names)
    parts = [(last.lower(), name) for name, last in zip(names, lasts, strict=True) if last != name]
    return _Spellings(whole, parts, "".join(f"\n{spelling}" for spelling, _ in (*whole, *parts)))


class _Likeness:
    """How alike a text and others are, from 0 to 1."""

    def __init__(self, text: str) -> None:
        # It keeps an index of the second text, which is the same for all others.
        self._matcher = difflib.SequenceMatcher(None, "", text, autojunk=False)
        self._size = len(text)
        self._counts = Counter(text)
        self._letters = set(text)

    def possible(
        self, spellings: Sequence[tuple[str, str]], end: int | None, least: float
    ) -> Iterable[tuple[str, str]]:
        """Return the spellings, up to ``end``, whose size allows a likeness over ``least``.

        Each comes with its first name: many names begin alike.
        """
        shortest, longest = self._size * least / (2 - least), self._size * (2 - least) / least
        found: dict[str, str] = {}
        for spelling, name in spellings:
            beginning = spelling[:end]
            if shortest < len(beginning) < longest:
                found.setdefault(beginning, name)
        return found.items()

    def of(self, other: str, least: float) -> float:
        """Return how alike the texts are; 0 if that is at most ``least`` by a quick bound."""
        missing = self._letters.difference(other)
        shared = self._size - sum([self._counts[letter] for letter in missing])
        if 2 * shared <= least * (self._size + len(other)):
            return 0.0
        self._matcher.set_seq1(other)
        return self._matcher.ratio() if self._matcher.quick_ratio() > least else 0.0
