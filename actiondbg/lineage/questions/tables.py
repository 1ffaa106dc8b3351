"""A lineage as a DuckDB database whose columns are built on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import duckdb
import numpy as np

from actiondbg.lineage.evidence import EVIDENCES
from actiondbg.lineage.graph import Edges
from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage, action_place
from actiondbg.lineage.stage import Stage
from actiondbg.lineage.units import function_of, unit_label, units_of
from actiondbg.recording.format.arrow import (
    WORD,
    Array,
    Ints,
    bool_array,
    int_array,
    pa,
    word_array,
)
from actiondbg.recording.query.database import OnDemandTable, empty_database
from actiondbg.recording.tables.lazy_table import LazyTable

TABLES = ("input", "output", "lineage", "steps")


def open_database(
    lineage: Lineage, level: Level = "function", *, exact: bool = False
) -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB database with the tables of a lineage.

    Args:
        lineage: the operations.
        level: of the column ``unit``.
        exact: leave out what only locations show.
    """
    database = empty_database()
    first, last = lineage.stages[0], lineage.stages[-1]
    tables = {
        "input": (_stage_table(first, level), len(first)),
        "output": (_stage_table(last, level), len(last)),
        "lineage": (_Relations(lineage, exact).table(), max(len(first), len(last))),
        "steps": (_Steps(lineage, exact).table(), len(first)),
    }
    for name, (table, rows) in tables.items():
        database.register(name, OnDemandTable(table, rows))
    return database


def _stage_table(stage: Stage, level: Level) -> LazyTable:
    """Return the table of the operations of a stage."""
    places = _Places(stage)
    text = pa.string()
    return LazyTable(
        [
            ("node", pa.int64(), lambda: _ints(stage.nodes)),
            ("name", WORD, lambda: _words(stage.names)),
            ("result", text, lambda: _texts(stage.results)),
            ("symbol", text, lambda: _texts(_sparse(stage.symbols, len(stage)))),
            ("line", pa.int64(), lambda: _ints(stage.lines)),
            ("location", WORD, lambda: _words([one.text for one in stage.locations])),
            ("file", WORD, lambda: _words(places.files)),
            ("source_line", pa.int64(), lambda: places.lines),
            ("function", WORD, lambda: _words(_functions(stage))),
            ("unit", WORD, lambda: _words(_units(stage, level))),
        ]
    )


class _Places:
    """The first source line of each operation."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @cached_property
    def _ranges(self) -> list[tuple[str, int]]:
        """Of each operation, the file and the line; an empty file and 0 if unknown."""
        known: dict[str, tuple[str, int]] = {}
        for location in self._stage.locations:
            if location.text not in known:
                ranges = ((one.file, one.line) for one in location.ranges if one.is_known)
                known[location.text] = min(ranges, default=("", 0))
        return [known[location.text] for location in self._stage.locations]

    @property
    def files(self) -> list[str]:
        return [file for file, _ in self._ranges]

    @property
    def lines(self) -> Array:
        return _known(np.array([line for _, line in self._ranges], np.int64))


class _Relations:
    """The table of the operations of the output made from each operation of the input."""

    def __init__(self, lineage: Lineage, exact: bool) -> None:
        self._lineage = lineage
        self._exact = exact

    def table(self) -> LazyTable:
        """Return the table."""
        number = pa.int64()
        return LazyTable(
            [
                ("source", number, lambda: int_array(self._columns[0], number)),
                ("target", number, lambda: int_array(self._columns[1], number)),
                ("exact", pa.bool_(), lambda: bool_array(self._columns[2].astype(np.bool_))),
            ]
        )

    @cached_property
    def _columns(self) -> tuple[Ints, Ints, Ints]:
        first, last = self._lineage.stages[0], self._lineage.stages[-1]
        relation = self._lineage.relate(first, last, exact=self._exact)
        return (
            np.asarray(first.nodes, np.int64)[np.asarray(relation.sources, np.int64)],
            np.asarray(last.nodes, np.int64)[np.asarray(relation.targets, np.int64)],
            np.asarray(relation.exact, np.int64),
        )


class _Steps:
    """The table of the steps."""

    def __init__(self, lineage: Lineage, exact: bool) -> None:
        self._lineage = lineage
        self._exact = exact

    def table(self) -> LazyTable:
        """Return the table."""
        number = pa.int64()
        return LazyTable(
            [
                ("evidence", WORD, self._evidence),
                ("source", number, lambda: int_array(self._edges.sources, number)),
                ("target", number, lambda: int_array(self._edges.targets, number)),
                ("source_name", WORD, lambda: self._names(self._edges.sources)),
                ("target_name", WORD, lambda: self._names(self._edges.targets)),
                ("ordinal", number, lambda: _known(self._edges.ordinals)),
                ("action", WORD, lambda: self._described(self._lineage.action)),
                (
                    "pass",
                    WORD,
                    lambda: self._described(lambda one: action_place(self._lineage, one)[0]),
                ),
            ]
        )

    @cached_property
    def _edges(self) -> Edges:
        return Edges.of_steps(self._lineage.steps(exact=self._exact))

    def _evidence(self) -> Array:
        return word_array(self._edges.evidence, [str(one) for one in EVIDENCES])

    def _names(self, nodes: Ints) -> Array:
        numbers, places = np.unique(nodes, return_inverse=True)
        names = [self._lineage.node(int(number)).name for number in numbers]
        return _repeated(names, places)

    def _described(self, describe: Callable[[int], str]) -> Array:
        ordinals, places = np.unique(self._edges.ordinals, return_inverse=True)
        texts = [describe(int(one)) if one else "" for one in ordinals]
        return _repeated(texts, places)


def _functions(stage: Stage) -> list[str]:
    units = units_of(stage, "function")
    labels = {unit: function_of(stage[unit]) if unit >= 0 else "" for unit in set(units)}
    return [labels[unit] for unit in units]


def _units(stage: Stage, level: Level) -> list[str]:
    units = units_of(stage, level)
    labels = {unit: unit_label(stage, unit) for unit in set(units)}
    return [labels[unit] for unit in units]


def _sparse(values: dict[int, str], count: int) -> list[str]:
    return [values.get(index, "") for index in range(count)]


def _ints(values: Sequence[int]) -> Array:
    return int_array(np.asarray(values, np.int64), pa.int64())


def _known(values: Ints) -> Array:
    """Return an array of numbers; null for 0."""
    return int_array(values, pa.int64(), values == 0)


def _texts(values: Iterable[str]) -> Array:
    """Return an array of strings; null for empty ones."""
    return pa.array([value or None for value in values], type=pa.string())


def _repeated(words: list[str], places: Ints) -> Array:
    """Return an array of the words at some places; null for empty ones."""
    return _words(words[int(place)] for place in places)


def _words(values: Iterable[str]) -> Array:
    """Return an array of strings that repeat; null for empty ones."""
    any_array: Any = pa.array([value or None for value in values], type=pa.string())
    return any_array.dictionary_encode()
