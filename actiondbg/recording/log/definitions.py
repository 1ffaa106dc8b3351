"""What the chunks of one thread have said so far of names, locations and operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from actiondbg.recording.format.arrow import Array, Ints, pa
from actiondbg.recording.format.structs import Space
from actiondbg.recording.log.fields import Paint
from actiondbg.recording.log.lines import (
    BEFORE,
    LogOperations,
    operation_texts,
    reason_note,
    subject,
)
from actiondbg.recording.log.text import Coded, piece

_FEWEST = 1024  # items that there is room for


class Column:
    """Numbers at places from 0; more can be put there at any time. -1 where none was put."""

    def __init__(self) -> None:
        self._items = np.full(_FEWEST, -1, np.int32)
        self.count = 0

    def put(self, places: Ints, values: Ints) -> None:
        """Put values at some places; the last counts where a place stands twice."""
        if not len(places):
            return
        self.count = max(self.count, int(places.max()) + 1)
        if self.count >= len(self._items):
            room = np.full(2 * self.count - len(self._items), -1, np.int32)
            self._items = np.concatenate([self._items, room])
        self._items[places] = values

    def at(self, places: Ints) -> Ints:
        """Return the numbers at some places; at the place -1 there is none."""
        # The last item is free.
        return self._items[np.minimum(places, self.count)]


class Words:
    """Pieces of lines, in the order of their ids; the first, which has none, is ``absent``."""

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
    """The strings, and the locations and operations that are made of them.

    Args:
        paint: see ``LineWriter``.
    """

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
        """Learn a string."""
        if space == Space.ACTION:
            tag, name, *_ = (*text.split("\0"), "")
            self._words[Space.ACTION][number] = subject(tag, name, self._paint)
        elif space == Space.REASON:
            self._words[Space.REASON][number] = reason_note(text)
        elif space in BEFORE:
            self._words[Space(space)][number] = piece(BEFORE[space], text)

    def add_locations(self, items: npt.NDArray[Any]) -> None:
        """Learn the items of a section LOCATIONS."""
        for name, column in self._places.items():
            column.put(items["id"], items[name])

    def add_operations(self, items: Mapping[str, Ints]) -> None:
        """Learn what operations are.

        Args:
            items: of sections OPERATIONS, in the order of their rows.
        """
        operations = items["operation"]
        definitions = self._definitions["name"].count + np.arange(len(operations))
        for name, column in self._definitions.items():
            column.put(definitions, items[name])
        before = self._newest.at(operations)
        self._newest.put(operations, definitions)
        # Those that were defined before, or are again; which one holds is a matter of the row.
        defined_again = self._newest.at(operations) != definitions
        again = np.isin(operations, operations[(before >= 0) | defined_again])
        old = again & (before >= 0)
        self._again = None
        if again.any():
            self._again = (
                np.r_[operations[old], operations[again]].astype(np.int64),
                np.r_[np.zeros(old.sum(), np.int64), items["row"][again] + 1],
                np.r_[before[old], definitions[again]],
            )

    def definitions_of(self, operations: Ints, rows: Ints) -> Ints:
        """Return which definition of each operation holds at an action; -1 for none.

        Args:
            operations: numbers; 0 for none.
            rows: of the actions, which came with the operations that were added last.
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
        # None holds yet: the first.
        at += defined[order][at] != operations[which]
        found[which] = definitions[order][at]
        return found

    def texts(self, definitions: Ints) -> Array:
        """Write what some operations are, as ``operation_texts`` does."""
        of = {name: column.at(definitions) for name, column in self._definitions.items()}
        place = {name: column.at(of["location"]) for name, column in self._places.items()}
        absent = place["file"] <= 0
        return operation_texts(
            LogOperations(
                numbers=of["operation"],
                names=self._coded(of["name"], Space.OPERATION),
                functions=self._coded(of["function"], Space.FUNCTION),
                files=self._coded(place["file"], Space.FILE),
                lines=np.where(absent, -1, place["line"]),
                columns=np.where(absent, -1, place["col"]),
            )
        )

    def _coded(self, ids: Ints, space: Space) -> Coded:
        # Of the id 0 and of what is not known the text is empty.
        return Coded(np.maximum(ids, 0), self._words[space].array)
