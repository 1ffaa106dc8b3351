"""What operations are called, and where they are."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from actiondbg.recording.arrow import Ints
from actiondbg.recording.items import Items, places_of
from actiondbg.recording.rows import Rows
from actiondbg.recording.strings import StringTables
from actiondbg.recording.structs import Kind, Space


class Locations:
    """The locations of all threads; -1 stands for what one does not have."""

    def __init__(self, rows: Rows, strings: StringTables) -> None:
        self._items = Items(rows.file, Kind.LOCATIONS, rows.threads)
        self._strings = strings

    @cached_property
    def places(self) -> list[Ints]:
        """For each thread, the index of each of its ids; see ``Items.resolve``."""
        ids = self._items.field("id")
        indices = np.arange(len(ids))
        return [places_of(ids[part], indices[part]) for part in self._items.slices]

    @cached_property
    def files(self) -> Ints:
        """The file of each, as an index into the strings of FILE."""
        return self._items.resolve(self._items.field("file"), self._strings[Space.FILE].places)

    @cached_property
    def texts(self) -> Ints:
        """The whole text of each, as an index into the strings of LOCATION."""
        return self._items.resolve(self._items.field("text"), self._strings[Space.LOCATION].places)

    @cached_property
    def lines(self) -> Ints:
        return self._number("line")

    @cached_property
    def columns(self) -> Ints:
        return self._number("col")

    def _number(self, name: str) -> Ints:
        return np.where(self.files < 0, -1, self._items.field(name).astype(np.int64))


class Definitions:
    """The definitions of operations, in the order of their numbers and of when they hold.

    An operation is defined again when it has moved to another function, or in another thread.
    """

    def __init__(self, rows: Rows, strings: StringTables) -> None:
        self._rows = rows
        self._strings = strings
        self._items = Items(rows.file, Kind.OPERATIONS, rows.threads)
        self.locations = Locations(rows, strings)

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints, Ints]:
        """The order of the definitions, their operations, and from which rank they hold."""
        operations = self._items.field("operation")
        places = self._rows.next_places(self._items, self._items.field("row"))
        # Some are made for a row that never came.
        ranks = np.where(places < 0, self._rows.count, self._rows.ranks_of(places))
        # Nearly sorted already, of which a stable sort by one key makes more than lexsort does.
        order = np.argsort(ranks, kind="stable")
        order = order[np.argsort(operations[order], kind="stable")]
        return order, operations[order], ranks[order]

    @property
    def operations(self) -> Ints:
        """The number of the operation of each."""
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
        return self._items.resolve(self._items.field(name), places)[self._sorted[0]]

    def find(self, operations: Ints, ranks: Ints) -> Ints:
        """Return which definition holds of each operation at an action; -1 for none.

        Args:
            operations: numbers, 0 for none.
            ranks: of the action of each; see ``Rows.ranks``.
        """
        _, defined, since = self._sorted
        first = np.flatnonzero(np.r_[True, defined[1:] != defined[:-1]][: len(defined)])
        found = np.take(places_of(defined[first], first), operations, mode="clip")
        again = np.diff(np.r_[first, len(defined)]) > 1
        if not again.any():
            return found
        several = np.zeros(len(defined), np.bool_)
        several[first[again]] = True
        which = np.flatnonzero((found >= 0) & several[found])
        # Operation and rank as one number: the newest definition that is not behind it.
        scale = self._rows.count + 1
        wanted = operations[which].astype(np.int64) * scale + ranks[which]
        newest = np.searchsorted(defined.astype(np.int64) * scale + since, wanted, side="right") - 1
        found[which] = np.maximum(newest, found[which])  # none holds yet: the first
        return found

    def find_newest(self) -> Ints:
        """Return the last definition of each operation, sorted by its number."""
        defined = self.operations
        return np.flatnonzero(np.r_[defined[1:] != defined[:-1], True][: len(defined)])
