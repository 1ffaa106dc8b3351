"""Selection of the actions that match a SPEC, a condition and an OUTCOME.

``actiondbg.recording.query.filters`` translates them to SQL. A million actions have few distinct
names, tags and depths, so the query runs over a table of the distinct combinations; only a query
about single actions (by ordinal, for instance) runs over all of them.
"""

from __future__ import annotations

import math
import re
import threading
from functools import cached_property
from typing import Any

import duckdb
import numpy as np

from actiondbg.breakpoints.resolution import Vocabulary
from actiondbg.breakpoints.selection import Selection, select
from actiondbg.breakpoints.spec import attempt_terms
from actiondbg.recording.format.arrow import WORD, Bools, DataType, Ints, Table, pa, word_array
from actiondbg.recording.query.database import empty_database, open_database
from actiondbg.recording.query.filters import where, where_outcome
from actiondbg.recording.query.interruption import fetch_numbers
from actiondbg.recording.session.event_line import OrdinalMap
from actiondbg.recording.session.table_columns import ActionColumns

# A query that names one of these runs over all actions.
_SINGLE = frozenset(("ordinal", "operation", "parent", "start_ns", "duration_ns", "self_ns"))
_MOST = 1 << 62  # combinations: more do not fit into 64 bits


class ActionQuery:
    """Finds the actions that match."""

    def __init__(self, actions: ActionColumns, names: Vocabulary) -> None:
        self._recording = actions.recording
        self.actions = actions
        self.names = names
        self._known: dict[tuple[str, ...], tuple[Ints, Table]] = {}
        self._turn = threading.Lock()  # another thread would exchange the table of combinations

    def close(self) -> None:
        """Close the databases."""
        for name in ("_database", "_combined"):
            if name in self.__dict__:
                getattr(self, name).close()

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        return open_database(self._recording)

    @cached_property
    def _combined(self) -> duckdb.DuckDBPyConnection:
        """The database of the combinations."""
        return empty_database()

    def places(self, selection: Selection) -> Ints:
        """Return the places of the actions of a selection, sorted."""
        spec = selection.spec or "tag:*"
        selected = self._select(where(spec))
        if selection.condition is not None:
            selected &= self._select(self._condition(spec, selection.condition))
        if selection.outcome is not None:
            selected &= self._select(where_outcome(selection.outcome))
        return np.flatnonzero(selected)

    def events(self, selection: Selection) -> Ints:
        """Return the events at which the actions of a selection are found, sorted."""
        places = self.places(selection)
        if selection.at_ends:
            return self.actions.end_events(places)
        return self.actions.line.begins[places]

    def attempts(self, name: str, location: str | None = None) -> Ints:
        """Return the places of the attempts of a pattern, on operations from a location, sorted.

        Raises:
            UsageError: the name is not a valid glob, or the location is invalid.
        """
        attempt_terms(name, location)  # checks them
        spec = f'pattern:"{name}"'
        spec = spec if location is None else f"{spec} and {location}"
        return self.places(select(self.names, spec))

    def _condition(self, spec: str, condition: str) -> str:
        """Translate a condition to SQL; its ``hits`` counts the matches of the SPEC."""
        counts_hits = re.search(r"\bhits\b", condition)
        return where(f"{spec if counts_hits else 'tag:*'} if {condition}")

    def _select(self, sql: str) -> Bools:
        """Return a mask of the actions that satisfy an SQL condition; threads take turns."""
        named = set(re.findall(r"\w+", sql))
        with self._turn:
            sizes = {name: self._size(name) for name in self._types if name in named}
            if named & _SINGLE or math.prod(sizes.values()) > _MOST:
                return self._where(self._database, sql, self.actions.numbering)
            of_each, table = self._combinations(sizes)
            self._combined.register("actions", table)
            numbering = OrdinalMap(np.arange(1, len(table) + 1), None)
            return self._where(self._combined, sql, numbering)[of_each]

    def _combinations(self, sizes: dict[str, int]) -> tuple[Ints, Table]:
        """Return the index of each action's combination of some columns, and their table."""
        columns = tuple(sizes)
        if columns not in self._known:
            keys = np.zeros(self.actions.count, dtype=np.int64)
            for name, size in sizes.items():
                keys = keys * size + self._codes(name)
            combined = pa.array(keys).dictionary_encode()
            table = self._decoded(combined.dictionary.to_numpy(), sizes)
            self._known[columns] = combined.indices.to_numpy(), table
        return self._known[columns]

    @staticmethod
    def _where(database: duckdb.DuckDBPyConnection, sql: str, numbering: OrdinalMap) -> Bools:
        """Return a mask of the rows that satisfy a condition."""
        query = f"SELECT ordinal FROM actions WHERE {sql}"
        answer = fetch_numbers(database, query)
        return numbering.marked(answer["ordinal"])

    # --- combinations as numbers ---

    @cached_property
    def _types(self) -> dict[str, DataType]:
        """The types of the columns of actions."""
        schema = self._recording.tables["actions"].schema()
        return {field.name: field.type for field in schema}

    def _is_word(self, name: str) -> bool:
        return self._types[name] == WORD

    def _size(self, name: str) -> int:
        """Return the number of distinct codes of a column."""
        if self._is_word(name):
            return len(self.actions.words(name).values) + 1
        return int(self.actions.numbers(name).max(initial=0)) + 2

    def _codes(self, name: str) -> Ints:
        """Return a column as codes from 0; null is 0."""
        if self._is_word(name):
            return self.actions.words(name).codes + 1
        codes = self.actions.numbers(name).astype(np.int64) + 1
        codes[self.actions.nulls(name)] = 0
        return codes

    def _decoded(self, keys: Ints, sizes: dict[str, int]) -> Table:
        """Return the table of the combinations that keys encode."""
        columns: dict[str, Any] = {"ordinal": np.arange(1, len(keys) + 1)}
        for name, size in reversed(sizes.items()):
            keys, codes = np.divmod(keys, size)
            if self._is_word(name):
                columns[name] = word_array(codes - 1, self.actions.words(name).values)
            else:
                numbers = (codes - 1).astype(self.actions.numbers(name).dtype)
                columns[name] = pa.array(numbers, mask=codes == 0)
        return pa.table(columns)
