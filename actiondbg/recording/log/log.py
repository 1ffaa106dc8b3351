"""The text log of a recording or of a running tool."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from actiondbg.recording import open_recording
from actiondbg.recording.format.arrow import Array, Ints, Table, pa
from actiondbg.recording.format.layout import FOLDS, OUTCOMES, UNFINISHED
from actiondbg.recording.format.structs import Space
from actiondbg.recording.log.follower import Batch, Follower
from actiondbg.recording.log.lines import (
    BEFORE,
    NOTES,
    UNKNOWN_DURATION,
    Coded,
    Fields,
    LogActions,
    Paint,
    distinct,
    no_paint,
    note_codes,
    operation_texts,
    piece,
    reason_note,
    subject,
)

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_ROWS = 1 << 16  # per write
# After this time without growth everything is written. Before, most actions of the newest chunk are
# unfinished and would have to be overwritten.
_QUIET_SECONDS = 0.5
_WORD_COLUMNS = {"op": Space.OPERATION, "function": Space.FUNCTION, "file": Space.FILE}
_OPERATION_COLUMNS = ("operation", *_WORD_COLUMNS, "line", "col")
COLUMNS = (
    *("ordinal", "thread", "depth", "tag", "name", *_OPERATION_COLUMNS),
    *("outcome", "changed", "fold", "reason", "duration_ns"),
)


def write_log(
    recording: Recording, out: IO[bytes], where: str | None = None, paint: Paint = no_paint
) -> int:
    """Write the actions of a recording, one a line, in the order of the ordinals.

    ``where`` is SQL that selects actions, from ``query.filters.where``; None for all.

    Returns:
        The number of actions written.

    Raises:
        OSError: the lines cannot be written.
    """
    fields = Fields(paint)
    table = _selected(recording, COLUMNS, where)
    actions = TableActions(table, paint)
    for start in range(0, table.num_rows, _ROWS):
        out.write(_content(actions.part(start, _ROWS).lines(fields)))
    return table.num_rows


def write_json(recording: Recording, out: IO[bytes], where: str | None = None) -> int:
    """Write the actions as JSON lines with all columns of the table; see ``write_log``."""
    table = _selected(recording, recording.columns("actions"), where)
    from actiondbg.recording.query.database import open_database
    from actiondbg.recording.query.interruption import fetch_rows

    with contextlib.closing(open_database(recording)) as database:
        for start in range(0, table.num_rows, _ROWS):
            database.register("selected", table.slice(start, _ROWS))
            lines = fetch_rows(
                database, "SELECT CAST(to_json(selected) AS VARCHAR) || chr(10) FROM selected"
            )
            for (line,) in lines:
                out.write(line.encode())
    return table.num_rows


def _selected(recording: Recording, columns: Sequence[str], where: str | None) -> Table:
    table = recording.table("actions", columns)
    if where is None:
        return table
    from actiondbg.recording.query.database import ordinals_where

    known = recording.table("actions", ["ordinal"]).column("ordinal").to_numpy()
    return table.take(pa.array(np.searchsorted(known, ordinals_where(recording, where))))


def _truncated(path: Path) -> BufferedWriter:
    """Open a file for writing and truncate it.

    A new file is not truncated: after a truncation, ext4 flushes the whole file on close.
    """
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666), "wb")
    if os.fstat(file.fileno()).st_size:
        file.truncate()
    return file


def _content(lines: Array) -> memoryview:
    """Return the text of some lines, never null, without copying it."""
    offsets, text = lines.buffers()[1:]
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(text)[ends[lines.offset] : ends[lines.offset + len(lines)]]


class LiveLog:
    """Writes the log of a run to a file, which is replaced, while the tool runs.

    The outcome and duration of an unfinished action are overwritten when it ends. With actions in
    several threads the order is only known at the end: then the log is rewritten. The recording of
    the tool's actions need not exist yet.

    Attributes:
        count: the number of actions written.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, recording: Path, output: Path, paint: Paint = no_paint) -> None:
        self.count = 0
        self._paint = paint
        self._recording = recording
        self._follower = Follower(recording, paint)
        self._fields = Fields(paint)
        self._open: dict[int, int] = {}  # offset of the ending of each unfinished row
        self._is_noted = False  # an ended action needs a note, for which its line has no room
        self._size = 0  # of the recording, and the time of its last growth
        self._grew = time.monotonic()
        self._file = _truncated(output)

    def update(self) -> None:
        """Write the new actions; raises OSError if the file cannot be written."""
        size = self._recording.stat().st_size if self._recording.exists() else 0
        if size != self._size:
            self._size, self._grew = size, time.monotonic()
        self._write_batches(final=time.monotonic() - self._grew >= _QUIET_SECONDS)

    def finish(self) -> None:
        """Write the rest after the end of the tool, and close the file.

        Raises:
            OSError: the file cannot be written.
            RecordingError: the recording is damaged.
        """
        with self._file:
            self._write_batches(final=True)
            if self._follower.several or self._is_noted:
                self._file.seek(0)
                self._file.truncate()
                recording = open_recording(self._recording, partial=True)
                self.count = write_log(recording, self._file, paint=self._paint)

    def _write_batches(self, final: bool) -> None:
        while (batch := self._follower.read(final=final)) is not None:
            self._write(batch)
        self._file.flush()

    def _write(self, batch: Batch) -> None:
        self._patch(batch)
        actions = batch.actions
        lines = actions.lines(self._fields)
        unfinished = np.flatnonzero(actions.outcomes == UNFINISHED)
        starts = np.frombuffer(lines.buffers()[1], np.int32)[unfinished].astype(np.int64)
        starts += self._file.tell() + self._fields.ending_start(actions.ordinals)
        rows = unfinished + batch.first_row
        self._open.update(zip(rows.tolist(), starts.tolist(), strict=True))
        self._file.write(_content(lines))
        self.count += len(lines)

    def _patch(self, batch: Batch) -> None:
        """Overwrite the endings of the actions that are over now."""
        late = batch.late
        if not len(late.rows):
            return
        self._file.flush()
        self._is_noted |= bool(late.noted.any())
        for row, outcome, duration in zip(late.rows, late.outcomes, late.durations, strict=True):
            start = self._open.pop(int(row), None)
            if start is not None:
                ending = self._fields.ending(outcome, int(duration))
                os.pwrite(self._file.fileno(), ending, start)


class TableActions:
    """The rows of a table of actions with the columns ``COLUMNS``."""

    def __init__(self, table: Table, paint: Paint) -> None:
        self._columns = {name: _one_chunk(table.column(name)) for name in COLUMNS}
        self._paint = paint
        # Format each word of a dictionary column once.
        self._words = {
            name: self._formatted(name, partial(piece, BEFORE[space]))
            for name, space in _WORD_COLUMNS.items()
        }
        self._notes: Array = pa.concat_arrays([NOTES, self._formatted("reason", reason_note)])
        self._outcomes = self._places("outcome", OUTCOMES)
        self._folds = self._places("fold", FOLDS) + 1

    def part(self, start: int, count: int) -> LogActions:
        """Return the actions in some rows."""
        columns = {name: column.slice(start, count) for name, column in self._columns.items()}
        outcomes = self._outcomes[_codes(columns["outcome"])]
        return LogActions(
            ordinals=columns["ordinal"].to_numpy(),
            threads=columns["thread"].to_numpy(),
            depths=columns["depth"].to_numpy(),
            outcomes=outcomes,
            durations=_numbers(columns["duration_ns"], UNKNOWN_DURATION),
            subjects=self._subjects(columns["tag"], columns["name"]),
            operations=self._operations(columns),
            notes=self._noted(columns, outcomes),
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

    def _noted(self, columns: dict[str, Array], outcomes: Ints) -> Coded:
        changed = columns["changed"].fill_null(False).to_numpy(zero_copy_only=False)
        folds = self._folds[_codes(columns["fold"])]
        codes = note_codes(folds, changed, outcomes, _codes(columns["reason"]))
        return Coded(codes, self._notes)

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
