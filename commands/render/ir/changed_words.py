"""The words in which two versions of a line differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(r"[\w$.%#@!^-]+|\s+|.")


class Words(NamedTuple):
    """Consecutive words of a line, and whether they are not in the other version."""

    text: str
    is_changed: bool


def compare_words(before: str, after: str) -> tuple[list[Words], list[Words]]:
    """Return the words of two versions of a line."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return (
        list(_words(old, [(tag, i1, i2) for tag, i1, i2, _, _ in codes])),
        list(_words(new, [(tag, j1, j2) for tag, _, _, j1, j2 in codes])),
    )


def _words(tokens: list[str], codes: list[tuple[str, int, int]]) -> Iterator[Words]:
    for tag, start, end in codes:
        if start < end:
            yield Words("".join(tokens[start:end]), tag != "equal")
