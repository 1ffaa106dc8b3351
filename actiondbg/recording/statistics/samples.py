"""The measurements of each action, as columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actiondbg.recording.format.arrow import Array, WordColumn, pa, word_array, word_column
from actiondbg.recording.tables.recorded_tables import column_of_event
from actiondbg.statistics.quantities import Flags, Floats, Integers, all_measured
from actiondbg.support.atomic_write import made_folder, open_whole
from actiondbg.support.globs import check_glob, glob_matches

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

CSV_NAME = "samples.csv"
_NUMBERS = ("ordinal", "thread", "start", "duration")
_TEXTS = ("tag", "name", "full_name")


@dataclass(frozen=True)
class Samples:
    """The finished actions of a run; arrays have one item per action, in the same order.

    Args:
        start: nanoseconds since the first action.
        duration: nanoseconds.
        events: counts by event name; NaN where an event was not counted.
        unfinished: the number of unfinished actions, which are not included.
        early: the number of actions left out by ``from_time``.
    """

    ordinal: Integers
    thread: Integers
    tag: WordColumn
    name: WordColumn
    full_name: WordColumn
    start: Floats
    duration: Floats
    events: dict[str, Floats]
    unfinished: int = 0
    early: int = 0

    @property
    def size(self) -> int:
        """The number of actions."""
        return len(self.ordinal)

    @property
    def counted(self) -> Flags:
        """Whether all events were counted, for each action."""
        return all_measured(self.events.values(), self.size)

    def only(self, flags: Flags) -> Samples:
        """Return the actions whose flag is set."""
        numbers = {name: getattr(self, name)[flags] for name in _NUMBERS}
        texts: list[WordColumn] = [getattr(self, name) for name in _TEXTS]
        named = (each._replace(codes=each.codes[flags]) for each in texts)
        events = {name: values[flags] for name, values in self.events.items()}
        return replace(self, **numbers, **dict(zip(_TEXTS, named, strict=True)), events=events)

    def named(self, glob: str) -> Samples:
        """Return the actions whose name or full name matches a glob.

        Raises:
            UsageError: the glob is invalid.
        """
        check_glob(glob, glob, 0)
        matches = partial(glob_matches, glob)
        return self.only(self.name.where(matches) | self.full_name.where(matches))

    def from_time(self, milliseconds: float) -> Samples:
        """Return the actions that began at least some milliseconds after the first one."""
        if not milliseconds:
            return self
        late = self.start >= milliseconds * 1e6
        return replace(self.only(late), early=self.early + int(np.sum(~late)))


def samples_of(recording: Recording, own: bool = False) -> Samples:
    """Read the samples of a recording; ``own``: without the costs of nested actions."""
    columns = {name: column_of_event(name) for name in recording.header.events}
    duration = "self_ns" if own else "duration_ns"
    wanted = ["ordinal", "parent", "thread", *_TEXTS, "start_ns", "duration_ns"]
    wanted = list(dict.fromkeys((*wanted, duration, *columns.values())))
    table = dict(zip(wanted, recording.arrays("actions", *wanted), strict=True))
    events = {name: _floats(table[column]) for name, column in columns.items()}
    ordinal, thread = _integers(table["ordinal"]), _integers(table["thread"])
    if own:
        above = _rows_above(ordinal, thread, _floats(table["parent"]))
        events = {name: _own(values, above) for name, values in events.items()}
    samples = Samples(
        ordinal,
        thread,
        *(_texts(table[name]) for name in _TEXTS),
        start=_floats(table["start_ns"]),
        duration=_floats(table[duration]),
        events=events,
    )
    finished = ~np.isnan(_floats(table["duration_ns"]))
    return replace(samples.only(finished), unfinished=int(np.sum(~finished)))


# --- columns ----------------------------------------------------------------------


def _floats(column: Array) -> Floats:
    """Return a column of numbers; null becomes NaN."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _integers(column: Array) -> Integers:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _texts(column: Array) -> WordColumn:
    """Return a column of texts; null becomes the empty text."""
    words = word_column(column)
    codes = np.where(words.codes < 0, len(words.values), words.codes)
    return WordColumn(codes.astype(np.int64), [*words.values, ""])


# --- self costs -------------------------------------------------------------------


def _rows_above(ordinal: Integers, thread: Integers, parent: Floats) -> Integers:
    """Return the row of each action's parent in the same thread, -1 for none."""
    rows = np.searchsorted(ordinal, np.nan_to_num(parent, nan=0.0).astype(np.int64))
    rows = np.minimum(rows, max(len(ordinal) - 1, 0))
    is_here = ~np.isnan(parent)
    is_here &= thread[rows] == thread if len(rows) else is_here
    return np.where(is_here, rows, -1)


def _own(values: Floats, above: Integers) -> Floats:
    nested = above >= 0
    inside = np.bincount(
        above[nested], weights=np.nan_to_num(values[nested], nan=0.0), minlength=len(values)
    )
    return values - inside


# --- the CSV file -----------------------------------------------------------------


def write_csv(samples: Samples, directory: Path) -> Path:
    """Write one line per action to ``samples.csv``, in a folder that is made if it is missing.

    Missing counts are empty.

    Raises:
        OSError: the file cannot be written.
    """
    columns: dict[str, Any] = {
        "ordinal": samples.ordinal,
        "thread": samples.thread,
        **{name: _strings(getattr(samples, name)) for name in _TEXTS},
        "start_ns": _nullable_integers(samples.start),
        "duration_ns": _nullable_integers(samples.duration),
        **{
            column_of_event(name): _nullable_integers(values)
            for name, values in samples.events.items()
        },
    }
    path = directory / CSV_NAME
    with made_folder(directory), open_whole(path) as file:
        import_module("pyarrow.csv").write_csv(pa.table(columns), file)
    return path


def _strings(texts: WordColumn) -> Any:
    return word_array(texts.codes, texts.values).dictionary_decode()


def _nullable_integers(values: Floats) -> Any:
    """Return integers; NaN becomes null."""
    return pa.array(values, from_pandas=True).cast(pa.int64())
