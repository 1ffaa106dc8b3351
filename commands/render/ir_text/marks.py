"""What an action changed in lines of IR: lines inserted, erased or modified, and changed words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from actiondbg.protocol import Change, Excerpt, Line

Sign = Literal["+", "-", "~", " "]

_MOST_ERASED = 6  # lines that are gone, shown among those that are there
_ELIDED = "__elided__"
_TOKEN = re.compile(r"[\w$.%#@!^-]+|\s+|.")


class MarkedLine(NamedTuple):
    """A line to show: ``+`` inserted, ``-`` erased, ``~`` modified; ``before`` is its old text."""

    line: Line
    sign: Sign = " "
    before: str = ""


def key_of(line: Line) -> tuple[object, ...]:
    """Return the identity of a line, which a change of its operation keeps."""
    return line.kind, line.id, line.part, line.text if line.kind == "label" else ""


def compare(
    before: Sequence[Line],
    after: Sequence[Line],
    inserted: Collection[int],
    erased: Collection[int],
) -> list[MarkedLine]:
    """Return the lines after an action, with the erased lines at their old places.

    The lines before it may be others; ``inserted`` and ``erased`` are ids of operations.
    """
    keys = [[key_of(line) for line in lines] for lines in (before, after)]
    old = {key_of(line): line.text for line in before}
    marked: list[MarkedLine] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag != "equal":
            gone = (line for line in before[i1:i2] if line.id in erased)
            marked += (MarkedLine(line, "-") for line in gone if line.kind != "label")
        for line in after[j1:j2]:
            text = None if line.id is None else old.get(key_of(line))
            if line.kind != "label" and line.id in inserted:
                marked.append(MarkedLine(line, "+"))
            elif text is not None and _is_other(text, line.text):
                marked.append(MarkedLine(line, "~", text))
            else:
                marked.append(MarkedLine(line))
    return marked


def _is_other(before: str, after: str) -> bool:
    """Whether a text is another one, not the same with the elements of constants elided."""
    return before != after and (_ELIDED in before) == (_ELIDED in after)


def mark_changes(
    before: Sequence[Line], excerpt: Excerpt, changes: Sequence[Change]
) -> list[MarkedLine]:
    """Return lines marked with the changes of an action, and the first lines that it erased.

    There are no lines ``before`` it if others were shown then.
    """
    marked = mark_all_changes(before, excerpt, changes)
    current = excerpt.lines[excerpt.current]
    return _shorten(marked, current, len(excerpt.lines) + 2)


def mark_all_changes(
    before: Sequence[Line], excerpt: Excerpt, changes: Sequence[Change]
) -> list[MarkedLine]:
    """Return lines marked as by ``mark_changes``, and all lines that the action erased."""
    inserted = {change.id for change in changes if change.kind == "inserted"}
    erased = {change.id for change in changes if change.kind in ("erased", "replaced")}
    modified = {change.id for change in changes if change.kind == "modified"}
    marked = compare(
        before,
        excerpt.lines,
        {id for id in inserted - erased if id is not None},
        {id for id in erased if id is not None},
    )
    # The old text of an operation that was modified may be unknown.
    return [
        MarkedLine(each.line, "~", each.line.text)
        if each.sign == " " and each.line.kind == "operation" and each.line.id in modified
        else each
        for each in marked
    ]


def _shorten(marked: list[MarkedLine], current: Line, most: int) -> list[MarkedLine]:
    """Leave out all but the first erased lines, and then lines at the ends."""
    erased = [at for at, each in enumerate(marked) if each.sign == "-"]
    hidden = set(erased[_MOST_ERASED:])
    kept = [each for at, each in enumerate(marked) if at not in hidden]
    while len(kept) > most:
        above = next((at for at, each in enumerate(kept) if each.line is current), 0)
        if kept[0].sign == " " and above and (kept[-1].sign != " " or 2 * above >= len(kept)):
            kept.pop(0)
        else:
            kept.pop()
    return kept


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
