"""The columns that describe an operation and its place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from actiondbg.recording.format.arrow import WORD, Array, Ints, int_array, pa, word_array
from actiondbg.recording.format.strings import StringTables
from actiondbg.recording.format.structs import Space
from actiondbg.recording.tables.definitions import Definitions
from actiondbg.recording.tables.lazy_table import Column


class OperationDescriptions:
    """Builds the columns op, file, line, col and function, and location texts."""

    def __init__(self, definitions: Definitions, strings: StringTables) -> None:
        self._definitions = definitions
        self._locations = definitions.locations
        self._strings = strings

    def columns(self, found: Callable[[], Ints]) -> list[Column]:
        """Return the columns; ``found`` gives the index of each definition, -1 for none."""
        definitions = self._definitions
        return [
            ("op", WORD, lambda: self._word(Space.OPERATION, definitions.names, found())),
            ("file", WORD, lambda: self._file(found())),
            ("line", pa.int32(), lambda: self._number(self._locations.lines, found())),
            ("col", pa.int32(), lambda: self._number(self._locations.columns, found())),
            ("function", WORD, lambda: self._word(Space.FUNCTION, definitions.functions, found())),
        ]

    def location(self, found: Ints) -> Array:
        """Return the location texts: the full location, or file:line:col."""
        import pyarrow.compute as compute  # pyright: ignore[reportMissingTypeStubs]

        whole = self._word(Space.LOCATION, self._locations.texts, self._place(found))
        parts = [
            self._file(found).dictionary_decode(),
            self._number(self._locations.lines, found).cast(pa.string()),
            self._number(self._locations.columns, found).cast(pa.string()),
        ]
        short = compute.binary_join_element_wise(*parts, ":")  # pyright: ignore
        return compute.coalesce(whole.dictionary_decode(), short)  # pyright: ignore

    def _place(self, found: Ints) -> Ints:
        return taken(self._definitions.location_places, found)

    def _word(self, space: Space, values: Ints, places: Ints) -> Array:
        return word_array(taken(values, places), self._strings[space].words)

    def _file(self, found: Ints) -> Array:
        return self._word(Space.FILE, self._locations.files, self._place(found))

    def _number(self, values: Ints, found: Ints) -> Array:
        numbers = taken(values, self._place(found))
        return int_array(numbers, pa.int32(), numbers < 0)


def taken(values: Ints, places: Ints) -> Ints:
    """Return the value at each index, and -1 at index -1."""
    return np.append(values, -1)[places]
