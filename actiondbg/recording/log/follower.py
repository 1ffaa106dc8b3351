"""The follower: reads a recording as it grows."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.header import Header
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.layout import CHANGED, FOLD_MASK, FOLD_SHIFT
from actiondbg.recording.format.scan import Chunk, scan_chunks
from actiondbg.recording.format.strings import stored_strings
from actiondbg.recording.format.structs import FILE_HEADER, Kind
from actiondbg.recording.log.definitions import LogDefinitions
from actiondbg.recording.log.fields import Paint, no_paint
from actiondbg.recording.log.lines import LogActions
from actiondbg.recording.log.text import Coded, distinct
from actiondbg.recording.tables.rows import clock_rate

# Fields of an item of ACTIONS, with types wide enough for patches (a patched duration is longer).
_COLUMNS = {
    **{"duration": np.int64, "operation": np.int32, "name": np.int32},
    **{"depth": np.int32, "outcome": np.uint8, "flags": np.uint8},
}
_PATCHED = ("outcome", "flags", "duration")
_READ_BYTES = 1 << 21  # per read


@dataclass(frozen=True)
class Late:
    """Actions of earlier batches that have ended.

    Args:
        rows: the row of each.
        outcomes: indices in ``layout.OUTCOMES``.
        durations: in ns.
        noted: whether the line of each needs a note too: a reason, or the result of a fold.
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
    """Reads a recording incrementally.

    The actions of one thread arrive in the order of their ordinals. With actions in a second
    thread the order is only known at the end: then ``several`` is true and nothing more is read.

    Args:
        path: the recording, which need not exist yet.
        paint: see ``LineWriter``.
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
            if self._thread is None and kinds & {Kind.STRINGS, Kind.ACTIONS}:
                self._thread = chunk.thread
            self.several |= chunk.thread != self._thread and Kind.ACTIONS in kinds
        own = [chunk for chunk in chunks if chunk.thread == self._thread]
        if self.several or not own:
            return None
        whole = np.frombuffer(content, np.uint8)
        path, unit = str(self._path), self._unit
        return self._read(RecordingFile(path, unit, Header(), own, None, content, whole))

    def _read(self, file: RecordingFile) -> Batch | None:
        for _, space, number, start, end in stored_strings(file):
            text = file.mapped[start:end].decode(errors="replace")
            self._known.add_string(space, number, text)
        threads = [file.chunks[0].thread]
        self._known.add_locations(Items(file, Kind.LOCATIONS, threads))
        self._known.add_operations(Items(file, Kind.OPERATIONS, threads))
        kinds = (Kind.ACTIONS, Kind.PATCHES, Kind.REASONS)
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
            subjects=Coded(items["name"], known.subjects),
            operations=self._operations(items["operation"], rows),
            reasons=Coded(reasons, known.reasons),
            folds=_folds(items["flags"]),
            changed=(items["flags"] & CHANGED) != 0,
        )

    def _late(self, patches: Mapping[str, Ints], reasoned: Ints) -> Late:
        return Late(
            rows=patches["row"],
            outcomes=patches["outcome"],
            durations=self._nanoseconds(patches["duration"]),
            noted=(_folds(patches["flags"]) > 0) | np.isin(patches["row"], reasoned),
        )

    def _operations(self, operations: Ints, rows: Ints) -> Coded:
        found = self._known.definitions_of(operations, rows)
        which, places = distinct(found)
        return Coded(np.where(found >= 0, places, -1), self._known.texts(found[which]))

    def _nanoseconds(self, units: Ints) -> Ints:
        """Convert durations by the readings of both clocks so far."""
        assert self._clock is not None
        return np.rint(units * (self._unit * clock_rate(*self._clock))).astype(np.int64)


def _folds(flags: Ints) -> Ints:
    return flags >> FOLD_SHIFT & FOLD_MASK


def _first_reasons(items: Items, first: int, count: int) -> Ints:
    """Return the first reason of each of ``count`` rows from ``first``; -1 for none."""
    reasons, rows = np.full(count, -1, np.int64), items.field("row")
    mine = rows >= first
    reasons[rows[mine][::-1] - first] = items.field("reason")[mine][::-1]
    return reasons
