"""Diffs of a page: rows of line numbers, and each distinct highlighted line once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.ir.diff import Diff, Row, make_diff
from actiondbg.ir.html import Piece, marks, sides
from actiondbg.recording.recorded_text import compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from actiondbg.ir.value_names import ValueNames
    from actiondbg.recording.recording import Recording

_WIDE = 100_000  # columns of a side: the page wraps lines itself
_LONGEST = 2_000  # characters of a line
_PER_PIECE = 9  # bytes of a piece of a line in the page, apart from its text
_PER_ROW = 15  # bytes of a row in the page
MARKED = "!"  # suffix of the class of a piece that the other side lacks


class PaintedDiffs:
    """Collects diffs up to a size.

    Args:
        most_rows: rows of one diff.
        most_bytes: bytes of all diffs in the page; the diff that exceeds the limit is the last.
    """

    def __init__(self, most_rows: int, most_bytes: int) -> None:
        self._most_rows = most_rows
        self._left = most_bytes
        self._lines: dict[tuple[str, ...], int] = {}
        self._of: dict[int, dict[str, object]] = {}
        self._skipped: list[int] = []

    @property
    def is_full(self) -> bool:
        """Whether the limit of bytes is reached."""
        return self._left <= 0

    @property
    def ordinals(self) -> list[int]:
        """The actions with a diff, and those whose IR is too long for one."""
        return [*self._of, *self._skipped]

    def add(self, ordinal: int, diff: Diff | None) -> None:
        """Add the diff of an action; None if its IR is too long to compare."""
        if diff is None:
            self._skipped.append(ordinal)
            return
        rows = diff.side_by_side(_WIDE)
        shown = [self._row(row) for row in rows[: self._most_rows]]
        self._left -= _PER_ROW * len(shown)
        self._of[ordinal] = {"rows": shown, "left_out": max(len(rows) - self._most_rows, 0)}

    def as_json(self) -> dict[str, object]:
        """Return the lines, each a list of class, text, class, text ..., and the rows of diffs."""
        return {"lines": list(self._lines), "of": self._of, "skipped": self._skipped}

    def _row(self, row: Row) -> list[Any]:
        """Return the kind of a row and its line numbers; -1 for a missing side."""
        if row.left is None and row.right is None:
            return []
        row = Row(_cut(row.left), _cut(row.right), row.kind)
        left, right = sides(row)
        if row.kind == " ":
            number = self._line(left, ())
            return [row.kind, number, number]
        marked = marks(left, right) if row.kind == "!" else ((), ())
        numbers = [
            -1 if text is None else self._line(parts, mark)
            for text, parts, mark in zip((row.left, row.right), (left, right), marked, strict=True)
        ]
        return [row.kind, *numbers]

    def _line(self, parts: Sequence[Piece], marked: Sequence[bool]) -> int:
        line: list[str] = []
        for at, (name, text) in enumerate(parts):
            name = name + MARKED if marked and marked[at] else name
            if line and line[-2] == name:
                line[-1] += text
            else:
                line += (name, text)
        key = tuple(line)
        if key not in self._lines:
            self._lines[key] = len(self._lines)
            self._left -= sum(map(len, key)) + _PER_PIECE * len(key) // 2
        return self._lines[key]


def _cut(line: str | None) -> str | None:
    if line is None or len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]} ... // and {len(line) - _LONGEST:,} characters"


def recorded_diff(
    recording: Recording, ordinal: int, names: ValueNames, longest: int
) -> Diff | None:
    """Compare the IR before and after an action.

    With ``--ir function`` the IR is a function; with ``--ir changed`` one line per operation, with
    stable value numbers.

    Returns:
        The diff, empty without recorded IR; None if a side has more than ``longest`` characters.
    """
    found = recording.snapshots(ordinal)
    before = _text(one.before for one in found)
    after = _text(one.after for one in found)
    if max(len(before), len(after)) > longest:
        return None
    if recording.header.imported:
        return make_diff(before, after, (), ())
    return compare(found, names, recording.header.has_texts)


def _text(parts: Iterable[str | None]) -> str:
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)
