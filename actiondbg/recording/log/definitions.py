"""Names, locations and operations defined so far in the chunks of one thread."""

from __future__ import annotations

import numpy as np

from actiondbg.recording.format.arrow import Array, Ints, pa
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.structs import Space
from actiondbg.recording.log.fields import Paint
from actiondbg.recording.log.lines import (
    BEFORE,
    operation_texts,
    reason_note,
    subject,
)
from actiondbg.recording.log.text import Coded, piece

_FEWEST = 1024  # items of initial capacity


class Column:
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


class Words:
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
        self._words = {space: Words() for space in Space}
        self._words[Space.REASON] = Words(reason_note(""))
        self._places = {name: Column() for name in ("file", "line", "col")}
        self._definitions = {
            name: Column() for name in ("operation", "name", "location", "function")
        }
        self._newest = Column()  # the definition of each operation
        self._again: tuple[Ints, Ints, Ints] | None = None

    @property
    def subjects(self) -> Array:
        return self._words[Space.ACTION].array

    @property
    def reasons(self) -> Array:
        return self._words[Space.REASON].array

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
        return Coded(np.maximum(ids, 0), self._words[space].array)
