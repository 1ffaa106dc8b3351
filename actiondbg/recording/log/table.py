"""Conversion of the table of actions to the arrays of the log's lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from actiondbg.recording.format.arrow import Array, Ints, Table, pa
from actiondbg.recording.format.layout import FOLDS, OUTCOMES
from actiondbg.recording.format.structs import Space
from actiondbg.recording.log.fields import UNKNOWN_DURATION, Paint
from actiondbg.recording.log.lines import (
    BEFORE,
    LogActions,
    operation_texts,
    reason_note,
    subject,
)
from actiondbg.recording.log.text import Coded, distinct, piece

_WORD_COLUMNS = {"op": Space.OPERATION, "function": Space.FUNCTION, "file": Space.FILE}
_OPERATION_COLUMNS = ("operation", *_WORD_COLUMNS, "line", "col")
COLUMNS = (
    *("ordinal", "thread", "depth", "tag", "name", *_OPERATION_COLUMNS),
    *("outcome", "changed", "fold", "reason", "duration_ns"),
)


class TableActions:
    """The rows of the table of actions.

    Args:
        table: with the columns ``COLUMNS``.
        paint: see ``LineWriter``.
    """

    def __init__(self, table: Table, paint: Paint) -> None:
        self._columns = {name: _one_chunk(table.column(name)) for name in COLUMNS}
        self._paint = paint
        # Format each word of a dictionary column once.
        self._words = {
            name: self._formatted(name, partial(piece, BEFORE[space]))
            for name, space in _WORD_COLUMNS.items()
        }
        self._reasons = self._formatted("reason", reason_note)
        self._outcomes = self._places("outcome", OUTCOMES)
        self._folds = self._places("fold", FOLDS) + 1

    def part(self, start: int, count: int) -> LogActions:
        """Return the actions in some rows."""
        columns = {name: column.slice(start, count) for name, column in self._columns.items()}
        return LogActions(
            ordinals=columns["ordinal"].to_numpy(),
            threads=columns["thread"].to_numpy(),
            depths=columns["depth"].to_numpy(),
            outcomes=self._outcomes[_codes(columns["outcome"])],
            durations=_numbers(columns["duration_ns"], UNKNOWN_DURATION),
            subjects=self._subjects(columns["tag"], columns["name"]),
            operations=self._operations(columns),
            reasons=Coded(_codes(columns["reason"]), self._reasons),
            folds=self._folds[_codes(columns["fold"])],
            changed=columns["changed"].fill_null(False).to_numpy(zero_copy_only=False),
        )

    def _subjects(self, tags: Array, names: Array) -> Coded:
        rows, places = distinct(_codes(tags) * len(names.dictionary) + _codes(names))
        texts = (each.take(pa.array(rows)).to_pylist() for each in (tags, names))
        words = [
            subject(tag or "", name or "", self._paint) for tag, name in zip(*texts, strict=True)
        ]
        return Coded(places, pa.array(words, pa.string()))

    def _operations(self, columns: dict[str, Array]) -> Coded:
        """Format each distinct operation and function once: an operation may move."""
        numbers, functions = _numbers(columns["operation"]), _codes(columns["function"])
        rows, places = distinct(numbers * (len(self._words["function"]) + 1) + functions + 1)
        of = {name: columns[name].take(pa.array(rows)) for name in _OPERATION_COLUMNS}
        words = [Coded(_codes(of[name]), self._words[name]) for name in _WORD_COLUMNS]
        position = (_numbers(of[name], -1) for name in ("line", "col"))
        texts = operation_texts(_numbers(of["operation"]), words, *position)
        return Coded(np.where(numbers > 0, places, -1), texts)

    def _formatted(self, column: str, write: Callable[[str], str]) -> Array:
        words = self._columns[column].dictionary.to_pylist()
        return pa.array(list(map(write, words)), pa.string())

    def _places(self, column: str, known: tuple[str, ...]) -> Ints:
        """Return the index of each word of a column in ``known``, with -1 for null at the end."""
        words = self._columns[column].dictionary.to_pylist()
        return np.array([*map(known.index, words), -1])


def _one_chunk(column: Array) -> Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _codes(words: Array) -> Ints:
    """Return the index of each word in the dictionary, -1 for null."""
    return words.indices.fill_null(-1).to_numpy()


def _numbers(numbers: Array, absent: int = 0) -> Ints:
    """Return the numbers, with a replacement for null."""
    return numbers.fill_null(absent).to_numpy()
