"""The follower: reads a recording as it grows."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actiondbg.recording.format.arrow import Array, Bools, Ints, pa
from actiondbg.recording.format.file import Chunk, Header, RecordingFile, scan_chunks
from actiondbg.recording.format.items import Items, stored_strings
from actiondbg.recording.format.layout import CHANGED, FOLD_MASK, FOLD_SHIFT
from actiondbg.recording.format.structs import FILE_HEADER, SectionKind, Space
from actiondbg.recording.log.lines import (
    BEFORE,
    NOTES,
    Coded,
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
from actiondbg.recording.tables.action_rows import clock_rate

# Fields of an item of ACTIONS, with types wide enough for patches (a patched duration is longer).
_COLUMNS = {
    **{"duration": np.int64, "operation": np.int32, "name": np.int32},
    **{"depth": np.int32, "outcome": np.uint8, "flags": np.uint8},
}
_PATCHED = ("outcome", "flags", "duration")
_READ_BYTES = 1 << 21  # per read
_FEWEST = 1024  # items of initial capacity


@dataclass(frozen=True)
class Late:
    """Actions of earlier batches that have ended.

    Args:
        outcomes: indices in ``layout.OUTCOMES``.
        durations: in ns.
        noted: whether the line of each needs a note too, see ``note_codes``.
    """

    rows: Ints
    outcomes: Ints
    durations: Ints
    noted: Bools


@dataclass(frozen=True)
class Batch:
    """New actions, the first at the row ``first_row``, and earlier actions that have ended."""

    first_row: int
    actions: LogActions
    late: Late


class Follower:
    """Reads a recording, which need not exist yet, incrementally.

    The actions of one thread arrive in the order of their ordinals. With actions in a second
    thread the order is only known at the end: then ``several`` is true and nothing more is read.
    """

    def __init__(self, path: Path, paint: Paint = no_paint) -> None:
        self.several = False
        self._path = path
        self._offset = FILE_HEADER.size
        self._thread: int | None = None
        self._next_row = 0
        self._known = LogDefinitions(paint)
        self._unit = 1
        self._clock: tuple[tuple[int, int], tuple[int, int]] | None = None

    def read(self, *, final: bool) -> Batch | None:
        """Read the next batch of limited size; return None if nothing is new.

        Args:
            final: the recording has ended or pauses. Otherwise the newest chunk is left for the
                next read: most of its unfinished actions will have ended by then.
        """
        size = _READ_BYTES
        while not self.several:
            content, is_all = self._content(size)
            chunks = scan_chunks(content, self._offset).chunks
            if not (final and is_all):
                chunks = chunks[:-1]
            if chunks:
                self._offset += sum(chunk.size for chunk in chunks)
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
        """Read chunks; None if they hold no action, or actions of several threads."""
        self._unit = FILE_HEADER.unpack_from(content)[2]
        first = self._clock[0] if self._clock else chunks[0].flushed
        self._clock = first, chunks[-1].flushed
        for chunk in chunks:
            kinds = {section.kind for section in chunk.sections}
            if self._thread is None and kinds & {SectionKind.STRINGS, SectionKind.ACTIONS}:
                self._thread = chunk.thread
            self.several |= chunk.thread != self._thread and SectionKind.ACTIONS in kinds
        own = [chunk for chunk in chunks if chunk.thread == self._thread]
        if self.several or not own:
            return None
        return self._read(RecordingFile(str(self._path), self._unit, Header(), own, None, content))

    def _read(self, file: RecordingFile) -> Batch | None:
        for _, space, number, start, end in stored_strings(file):
            text = file.mapped[start:end].decode(errors="replace")
            self._known.add_string(space, number, text)
        threads = [file.chunks[0].thread]
        self._known.add_locations(Items(file, SectionKind.LOCATIONS, threads))
        self._known.add_operations(Items(file, SectionKind.OPERATIONS, threads))
        kinds = (SectionKind.ACTIONS, SectionKind.PATCHES, SectionKind.REASONS)
        items, patches, reasons = (Items(file, kind, threads) for kind in kinds)
        if not items.count and not patches.count:
            return None
        first = file.chunks[0].first_row if items.count else self._next_row
        self._next_row = first + items.count
        ended = {name: patches.field(name).astype(np.int64) for name in ("row", *_PATCHED)}
        is_late = ended["row"] < first
        columns = {name: items.field(name).astype(kind) for name, kind in _COLUMNS.items()}
        for name in _PATCHED:
            columns[name][ended["row"][~is_late] - first] = ended[name][~is_late]
        rows = first + np.arange(items.count)
        late = {name: values[is_late] for name, values in ended.items()}
        return Batch(
            first,
            self._actions(columns, rows, _first_reasons(reasons, first, items.count)),
            self._late(late, reasons.field("row")),
        )

    def _actions(self, items: Mapping[str, Ints], rows: Ints, reasons: Ints) -> LogActions:
        known = self._known
        return LogActions(
            ordinals=rows + 1,
            threads=np.full(len(rows), self._thread),
            depths=items["depth"],
            outcomes=items["outcome"],
            durations=self._nanoseconds(items["duration"]),
            subjects=Coded(items["name"], known.words(Space.ACTION)),
            operations=self._operations(items["operation"], rows),
            notes=Coded(
                _note_codes(items["flags"], items["outcome"], reasons),
                pa.concat_arrays([NOTES, known.words(Space.REASON)]),
            ),
        )

    def _late(self, patches: Mapping[str, Ints], reasoned: Ints) -> Late:
        none = np.full(len(patches["row"]), -1)
        return Late(
            rows=patches["row"],
            outcomes=patches["outcome"],
            durations=self._nanoseconds(patches["duration"]),
            noted=(_note_codes(patches["flags"], patches["outcome"], none) > 0)
            | np.isin(patches["row"], reasoned),
        )

    def _operations(self, operations: Ints, rows: Ints) -> Coded:
        found = self._known.definitions_of(operations, rows)
        which, places = distinct(found)
        return Coded(np.where(found >= 0, places, -1), self._known.texts(found[which]))

    def _nanoseconds(self, units: Ints) -> Ints:
        """Convert durations by the readings of both clocks so far."""
        assert self._clock is not None
        return np.rint(units * (self._unit * clock_rate(*self._clock))).astype(np.int64)


def _note_codes(flags: Ints, outcomes: Ints, reasons: Ints) -> Ints:
    return note_codes(flags >> FOLD_SHIFT & FOLD_MASK, flags & CHANGED != 0, outcomes, reasons)


def _first_reasons(items: Items, first: int, count: int) -> Ints:
    """Return the first reason of each of ``count`` rows from ``first``; -1 for none."""
    reasons, rows = np.full(count, -1, np.int64), items.field("row")
    mine = rows >= first
    reasons[rows[mine][::-1] - first] = items.field("reason")[mine][::-1]
    return reasons


class GrowingColumn:
    """A growing array of numbers, -1 where unset."""

    def __init__(self) -> None:
        self._items = np.full(_FEWEST, -1, np.int32)
        self.count = 0

    def put(self, places: Ints, values: Ints) -> None:
        """Set values at some indices; the last value of an index wins."""
        if not len(places):
            return
        self.count = max(self.count, int(places.max()) + 1)
        if self.count >= len(self._items):
            room = np.full(2 * self.count - len(self._items), -1, np.int32)
            self._items = np.concatenate([self._items, room])
        self._items[places] = values

    def at(self, places: Ints) -> Ints:
        """Return the numbers at some indices; -1 at index -1 and beyond the end."""
        # The item after the last one is always unset.
        return self._items[np.minimum(places, self.count)]


class LinePieces:
    """Pieces of lines by id; unset ids, such as 0, have the piece ``absent``."""

    def __init__(self, absent: str = "") -> None:
        self._absent = absent
        self._array: Array = pa.array([absent])
        self._new: list[str] = []

    def __setitem__(self, number: int, text: str) -> None:
        while len(self._array) + len(self._new) <= number:
            self._new.append(self._absent)
        self._new[number - len(self._array)] = text

    @property
    def array(self) -> Array:
        if self._new:
            self._array = pa.concat_arrays([self._array, pa.array(self._new)])
            self._new = []
        return self._array


class LogDefinitions:
    """Strings, locations and operations, added chunk by chunk."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._words = {space: LinePieces() for space in Space}
        self._words[Space.REASON] = LinePieces(reason_note(""))
        self._places = {name: GrowingColumn() for name in ("file", "line", "col")}
        self._definitions = {
            name: GrowingColumn() for name in ("operation", "name", "location", "function")
        }
        self._newest = GrowingColumn()  # the definition of each operation
        self._again: tuple[Ints, Ints, Ints] | None = None

    def words(self, space: Space) -> Array:
        """Return the pieces of a space by id."""
        return self._words[space].array

    def add_string(self, space: int, number: int, text: str) -> None:
        """Add a string."""
        if space == Space.ACTION:
            tag, name, *_ = (*text.split("\0"), "")
            self._words[Space.ACTION][number] = subject(tag, name, self._paint)
        elif space == Space.REASON:
            self._words[Space.REASON][number] = reason_note(text)
        elif space in BEFORE:
            self._words[Space(space)][number] = piece(BEFORE[space], text)

    def add_locations(self, items: Items) -> None:
        """Add the items of sections LOCATIONS."""
        for name, column in self._places.items():
            column.put(items.field("id"), items.field(name))

    def add_operations(self, items: Items) -> None:
        """Add the items of sections OPERATIONS, which are in the order of their rows."""
        operations = items.field("operation")
        definitions = self._definitions["name"].count + np.arange(len(operations))
        for name, column in self._definitions.items():
            column.put(definitions, items.field(name))
        before = self._newest.at(operations)
        self._newest.put(operations, definitions)
        # Operations with several definitions: the row decides which one holds.
        defined_again = self._newest.at(operations) != definitions
        again = np.isin(operations, operations[(before >= 0) | defined_again])
        old = again & (before >= 0)
        self._again = None
        if again.any():
            self._again = (
                np.r_[operations[old], operations[again]].astype(np.int64),
                np.r_[np.zeros(old.sum(), np.int64), items.field("row")[again] + 1],
                np.r_[before[old], definitions[again]],
            )

    def definitions_of(self, operations: Ints, rows: Ints) -> Ints:
        """Return each operation's definition at an action; -1 for none.

        Args:
            operations: operation ids; 0 for none.
            rows: the rows of the actions, from the same chunks as the operations added last.
        """
        found = self._newest.at(operations).copy()
        if self._again is None:
            return found
        defined, since, definitions = self._again
        which = np.flatnonzero(np.isin(operations, defined))
        scale = int(max(rows.max(initial=0), since.max())) + 2
        keys = defined * scale + since
        order = np.argsort(keys, kind="stable")
        wanted = operations[which].astype(np.int64) * scale + rows[which] + 1
        at = np.searchsorted(keys[order], wanted, side="right") - 1
        # Before the first definition, the first one serves.
        at += defined[order][at] != operations[which]
        found[which] = definitions[order][at]
        return found

    def texts(self, definitions: Ints) -> Array:
        """Return the texts of operations; see ``operation_texts``."""
        of = {name: column.at(definitions) for name, column in self._definitions.items()}
        place = {name: column.at(of["location"]) for name, column in self._places.items()}
        absent = place["file"] <= 0
        words = (
            self._coded(of["name"], Space.OPERATION),
            self._coded(of["function"], Space.FUNCTION),
            self._coded(place["file"], Space.FILE),
        )
        lines, columns = (np.where(absent, -1, place[name]) for name in ("line", "col"))
        return operation_texts(of["operation"], words, lines, columns)

    def _coded(self, ids: Ints, space: Space) -> Coded:
        # Id 0 and unset ids have an empty text.
        return Coded(np.maximum(ids, 0), self.words(space))
