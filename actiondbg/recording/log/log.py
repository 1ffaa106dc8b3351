"""The text log of a recording or of a running tool."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from actiondbg.recording import open_recording
from actiondbg.recording.format.arrow import Array, Ints, Table, pa
from actiondbg.recording.format.file import Chunk, Header, RecordingFile, count_actions, scan_chunks
from actiondbg.recording.format.layout import FOLDS, OUTCOMES, UNFINISHED
from actiondbg.recording.format.structs import FILE_HEADER, Kind
from actiondbg.recording.log.lines import (
    UNKNOWN_DURATION,
    Coded,
    Fields,
    LogActions,
    Paint,
    distinct,
    joined,
    no_paint,
    number_parts,
    one_line,
    piece,
)
from actiondbg.recording.recording import part_of

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_ROWS = 1 << 16  # per write
_READ_BYTES = 1 << 22  # of a growing recording per read
# And at least this fraction of what is read: each part costs time for all before it.
_SHARE = 16
_SECONDS = 1.0  # after which all growth is read
# After this time without growth everything is written. Before, most actions of the newest chunk are
# unfinished and would have to be overwritten.
_QUIET_SECONDS = 0.5
# The text before each word that describes an operation.
_BEFORE = {"op": " ", "function": " in @", "file": " at "}
_OPERATION_COLUMNS = ("operation", *_BEFORE, "line", "col")
COLUMNS = (
    *("ordinal", "thread", "depth", "tag", "name", *_OPERATION_COLUMNS),
    *("outcome", "changed", "fold", "reason", "duration_ns"),
)
_FAILED = OUTCOMES.index("failed")
_FOLD_NOTES = [
    ": folded in place" if fold == "in-place" else f": folded to {fold}" for fold in FOLDS
]
_ODD_NOTE = ": though it changed the IR"
_NOTES: Array = pa.array([f"{note}\n" for note in ("", *_FOLD_NOTES, _ODD_NOTE)])


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


class Batch(NamedTuple):
    """New actions, and those of earlier batches that were not over then."""

    actions: LogActions
    earlier: LogActions


class Follower:
    """Reads a recording, which need not exist yet, incrementally.

    The actions of one thread arrive in the order of their ordinals. With actions in a second
    thread the order is only known at the end: then ``several`` is true and nothing more is read.
    """

    def __init__(self, path: Path, paint: Paint = no_paint) -> None:
        self.several = False
        self._path = path
        self._paint = paint
        self._chunks: list[Chunk] = []  # read so far
        self._offset = FILE_HEADER.size
        self._next = 1  # the ordinal of the first action that is not read
        self._open: list[int] = []  # the ordinals of the actions that are not over

    def read(self, *, final: bool) -> Batch | None:
        """Read the next batch of limited size; return None if nothing is new.

        Args:
            final: the recording has ended or pauses. Otherwise the newest chunk is left for the
                next read: most of its unfinished actions will have ended by then.
        """
        size = max(_READ_BYTES, self._offset // _SHARE)
        while not self.several:
            content, is_all = self._content(size)
            chunks = scan_chunks(content, self._offset).chunks
            if not (final and is_all):
                chunks = chunks[:-1]
            if chunks:
                batch = self._batch(content, chunks)
                if batch is not None:
                    return batch
            elif is_all:
                return None
            else:
                size *= 2
        return None

    def _content(self, size: int) -> tuple[mmap.mmap | bytes, bool]:
        """Map the file up to some bytes after the last chunk read.

        Returns:
            The content, and whether it reaches the end of the file.
        """
        with contextlib.suppress(FileNotFoundError), self._path.open("rb", buffering=0) as file:
            whole = os.fstat(file.fileno()).st_size
            end = min(whole, self._offset + size)
            if end > self._offset:
                return mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ), end == whole
        return b"", True

    def _batch(self, content: mmap.mmap | bytes, chunks: list[Chunk]) -> Batch | None:
        """Read chunks; None if they hold nothing about actions, or actions of several threads."""
        first = len(self._chunks)
        self._chunks += chunks
        self._offset += sum(chunk.size for chunk in chunks)
        self.several = len({each.thread for each in self._chunks if count_actions([each])}) > 1
        kinds = {section.kind for chunk in chunks for section in chunk.sections}
        if self.several or not kinds & {Kind.ACTIONS, Kind.PATCHES}:
            return None
        unit = FILE_HEADER.unpack_from(content)[2]
        file = RecordingFile(str(self._path), unit, Header(), self._chunks, None, content)
        part = part_of(file, first, len(self._chunks), self._open, self._next)
        rows = TableActions(part.table("actions", COLUMNS), self._paint)
        every = rows.part(0, part.count)
        new = int(np.searchsorted(every.ordinals, self._next))
        self._open = every.ordinals[every.outcomes == UNFINISHED].tolist()
        self._next = max(self._next, int(every.ordinals.max(initial=0)) + 1)
        return Batch(rows.part(new, part.count - new), rows.part(0, new))


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
        self._open: dict[int, int] = {}  # offset of the ending of each unfinished action
        self._is_noted = False  # an ended action needs a note, for which its line has no room
        self._size = 0  # of the recording, and the time of its last growth
        self._grew = time.monotonic()
        self._read_size = 0  # of what was read last, and the time
        self._read_at = 0.0
        self._file = _truncated(output)

    def update(self) -> None:
        """Write the new actions; raises OSError if the file cannot be written."""
        size = self._recording.stat().st_size if self._recording.exists() else 0
        now = time.monotonic()
        if size != self._size:
            self._size, self._grew = size, now
        is_quiet = now - self._grew >= _QUIET_SECONDS
        has_grown = size - self._read_size >= self._read_size // _SHARE
        if is_quiet or has_grown or now - self._read_at >= _SECONDS:
            self._read_size, self._read_at = size, now
            self._write_batches(final=is_quiet)

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
        self._patch(batch.earlier)
        actions = batch.actions
        lines = actions.lines(self._fields)
        unfinished = np.flatnonzero(actions.outcomes == UNFINISHED)
        starts = np.frombuffer(lines.buffers()[1], np.int32)[unfinished].astype(np.int64)
        starts += self._file.tell() + self._fields.ending_start(actions.ordinals)
        self._open.update(zip(actions.ordinals[unfinished].tolist(), starts.tolist(), strict=True))
        self._file.write(_content(lines))
        self.count += len(lines)

    def _patch(self, earlier: LogActions) -> None:
        """Overwrite the endings of the actions that are over now."""
        self._file.flush()
        has_note = earlier.notes.codes > 0
        for at in np.flatnonzero(earlier.outcomes != UNFINISHED).tolist():
            start = self._open.pop(int(earlier.ordinals[at]), None)
            if start is not None:
                self._is_noted |= bool(has_note[at])
                ending = self._fields.ending(earlier.outcomes[at], int(earlier.durations[at]))
                os.pwrite(self._file.fileno(), ending, start)


class TableActions:
    """The rows of a table of actions with the columns ``COLUMNS``."""

    def __init__(self, table: Table, paint: Paint) -> None:
        self._columns = {name: _one_chunk(table.column(name)) for name in COLUMNS}
        self._paint = paint
        # Format each word of a dictionary column once.
        self._words = {
            name: self._formatted(name, partial(piece, before)) for name, before in _BEFORE.items()
        }
        reasons = self._formatted("reason", lambda reason: piece(": ", reason) + "\n")
        self._notes: Array = pa.concat_arrays([_NOTES, reasons])
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
            one_line(tag or "") + (f" ({self._paint('name', one_line(name))})" if name else "")
            for tag, name in zip(*texts, strict=True)
        ]
        return Coded(places, pa.array(words, pa.string()))

    def _operations(self, columns: dict[str, Array]) -> Coded:
        """Format ``on @5 arith.addi in @f at in.mlir:3:4``, without missing parts.

        Each distinct operation and function is formatted once: an operation may move.
        """
        numbers, functions = _numbers(columns["operation"]), _codes(columns["function"])
        rows, places = distinct(numbers * (len(self._words["function"]) + 1) + functions + 1)
        of = {name: columns[name].take(pa.array(rows)) for name in _OPERATION_COLUMNS}
        words = [Coded(_codes(of[name]), self._words[name]) for name in _BEFORE]
        lines, positions = (number_parts(":", _numbers(of[name], -1)) for name in ("line", "col"))
        ids = number_parts(" on @", _numbers(of["operation"]))
        return Coded(np.where(numbers > 0, places, -1), joined([*ids, *words, *lines, *positions]))

    def _noted(self, columns: dict[str, Array], outcomes: Ints) -> Coded:
        changed = columns["changed"].fill_null(False).to_numpy(zero_copy_only=False)
        codes = self._folds[_codes(columns["fold"])].astype(np.int32)
        codes[(outcomes == _FAILED) & changed & (codes == 0)] = len(_NOTES) - 1
        reasons = _codes(columns["reason"])
        return Coded(np.where(reasons >= 0, reasons + len(_NOTES), codes), self._notes)

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
