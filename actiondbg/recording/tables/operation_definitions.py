"""Definitions of operations: names, functions and locations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from actiondbg.recording.format.arrow import WORD, Array, Ints, int_array, pa, word_array
from actiondbg.recording.format.items import Items, StringTables, places_of
from actiondbg.recording.format.structs import OPERATION_FACTS, SectionKind, Space
from actiondbg.recording.tables.action_rows import ActionRows, firsts
from actiondbg.recording.tables.lazy_table import Column

_STEPS = 3


class Locations:
    """The locations of all threads; -1 for a missing part."""

    def __init__(self, rows: ActionRows, strings: StringTables) -> None:
        self._items = Items(rows.file, SectionKind.LOCATIONS, rows.threads)
        self._strings = strings

    @cached_property
    def places(self) -> list[Ints]:
        """Per thread, the index of each of its ids; see ``Items.resolve``."""
        ids = self._items.field("id")
        indices = np.arange(len(ids))
        return [places_of(ids[part], indices[part]) for part in self._items.slices]

    @cached_property
    def files(self) -> Ints:
        """The file of each, as an index into the strings of FILE."""
        return self._items.resolve("file", self._strings[Space.FILE].places)

    @cached_property
    def texts(self) -> Ints:
        """The full text of each, as an index into the strings of LOCATION."""
        return self._items.resolve("text", self._strings[Space.LOCATION].places)

    @cached_property
    def lines(self) -> Ints:
        return self._number("line")

    @cached_property
    def columns(self) -> Ints:
        return self._number("col")

    def _number(self, name: str) -> Ints:
        return np.where(self.files < 0, -1, self._items.field(name).astype(np.int64))


class Definitions:
    """The definitions of operations, ordered by operation id, then by time.

    An operation is defined again after a move to another function, when its function was renamed,
    or in another thread. Tables have the columns op, file, line, col and function of definitions,
    and facts of their operations.
    """

    def __init__(self, rows: ActionRows, strings: StringTables) -> None:
        self._rows = rows
        self._strings = strings
        self._items = Items(rows.file, SectionKind.OPERATIONS, rows.threads)
        self.locations = Locations(rows, strings)

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints, Ints]:
        """The order of the definitions, their operations, and the rank from which each holds."""
        operations = self._items.field("operation")
        places = self._rows.next_places(self._items, self._items.field("row"))
        # Some belong to a row that was never written.
        ranks = np.where(places < 0, self._rows.count, self._rows.ranks_of(places))
        # Both are nearly sorted: two stable sorts are faster than lexsort.
        order = np.argsort(operations, kind="stable")
        if (ranks[1:] < ranks[:-1]).any():  # more than one thread
            order = np.argsort(ranks, kind="stable")
            order = order[np.argsort(operations[order], kind="stable")]
        return order, operations[order], ranks[order]

    @property
    def operations(self) -> Ints:
        """The operation id of each definition."""
        return self._sorted[1]

    @cached_property
    def names(self) -> Ints:
        """The name of each, as an index into the strings of OPERATION."""
        return self._resolved("name", self._strings[Space.OPERATION].places)

    @cached_property
    def functions(self) -> Ints:
        """The function of each, as an index into the strings of FUNCTION."""
        return self._resolved("function", self._strings[Space.FUNCTION].places)

    @cached_property
    def location_places(self) -> Ints:
        """The location of each, as an index into ``locations``."""
        return self._resolved("location", self.locations.places)

    def _resolved(self, name: str, places: list[Ints]) -> Ints:
        return self._items.resolve(name, places)[self._sorted[0]]

    def find(self, operations: Ints, ranks: Ints) -> Ints:
        """Return each operation's definition at an action; -1 for none.

        Args:
            operations: operation ids, 0 for none.
            ranks: the rank of each action; see ``ActionRows.ranks_of``.
        """
        _, defined, since = self._sorted
        last = self.find_newest()
        found = np.take(places_of(defined[last], last), operations, mode="clip")
        # A sentinel after the last definition, at index -1, always holds.
        holds_from = np.append(since, -1)
        which = np.flatnonzero(holds_from[found] > ranks)
        # Few operations have more than two definitions: step back from the last one.
        for _ in range(_STEPS):
            before = found[which] - 1
            has_one = (before >= 0) & (defined[before] == operations[which])
            which = which[has_one]
            found[which] = before[has_one]
            which = which[since[found[which]] > ranks[which]]
        if len(which):
            self._search(found, which, operations, ranks)
        return found

    def _search(self, found: Ints, which: Ints, operations: Ints, ranks: Ints) -> None:
        """Find the definitions of the remaining operations by binary search."""
        _, defined, since = self._sorted
        scale = self._rows.count + 1  # operation and rank as one number
        wanted = operations[which].astype(np.int64) * scale + ranks[which]
        known = defined.astype(np.int64) * scale + since
        newest = np.searchsorted(known, wanted, side="right") - 1
        # Before the first definition, the first one serves.
        found[which] = np.maximum(newest, np.searchsorted(defined, operations[which]))

    def find_newest(self) -> Ints:
        """Return each operation's last definition, in the order of the ids."""
        defined = self.operations
        return np.flatnonzero(np.r_[defined[1:] != defined[:-1], True][: len(defined)])

    def first_functions(self) -> dict[int, str]:
        """Return by id the function in which an operation was first; none outside functions."""
        inside = np.flatnonzero(self.functions >= 0)
        operations = self.operations[inside]
        oldest = firsts(operations)
        words = self._word(Space.FUNCTION, self.functions, inside[oldest])
        return dict(zip(operations[oldest].tolist(), words.to_pylist(), strict=True))

    # --- columns that describe an operation ---

    def columns(self, found: Callable[[], Ints]) -> list[Column]:
        """Return the columns; ``found`` gives the index of each definition, -1 for none."""
        return [
            ("op", WORD, lambda: self._word(Space.OPERATION, self.names, found())),
            ("file", WORD, lambda: self._file(found())),
            ("line", pa.int32(), lambda: self._number(self.locations.lines, found())),
            ("col", pa.int32(), lambda: self._number(self.locations.columns, found())),
            ("function", WORD, lambda: self._word(Space.FUNCTION, self.functions, found())),
            *((name, pa.int32(), partial(self._fact, name, found)) for name in OPERATION_FACTS),
        ]

    def location(self, found: Ints) -> Array:
        """Return the location texts: the full location, or file:line:col."""
        import pyarrow.compute as compute  # pyright: ignore[reportMissingTypeStubs]

        whole = self._word(Space.LOCATION, self.locations.texts, self._place(found))
        parts = [
            self._file(found).dictionary_decode(),
            self._number(self.locations.lines, found).cast(pa.string()),
            self._number(self.locations.columns, found).cast(pa.string()),
        ]
        short = compute.binary_join_element_wise(*parts, ":")  # pyright: ignore
        return compute.coalesce(whole.dictionary_decode(), short)  # pyright: ignore

    def _fact(self, name: str, found: Callable[[], Ints]) -> Array:
        items = Items(self._rows.file, OPERATION_FACTS[name], self._rows.threads)
        known = places_of(items.field("operation"), items.field(name))
        # 0 is no operation.
        numbers = np.take(known, np.append(self.operations, 0)[found()], mode="clip")
        return int_array(numbers, pa.int32(), numbers < 0)

    def _place(self, found: Ints) -> Ints:
        return taken(self.location_places, found)

    def _word(self, space: Space, values: Ints, places: Ints) -> Array:
        return word_array(taken(values, places), self._strings[space].words)

    def _file(self, found: Ints) -> Array:
        return self._word(Space.FILE, self.locations.files, self._place(found))

    def _number(self, values: Ints, found: Ints) -> Array:
        numbers = taken(values, self._place(found))
        return int_array(numbers, pa.int32(), numbers < 0)


def taken(values: Ints, places: Ints) -> Ints:
    """Return the value at each index, and -1 at index -1."""
    return np.append(values, -1)[places]
