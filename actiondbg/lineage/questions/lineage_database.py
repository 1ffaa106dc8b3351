"""A lineage as a DuckDB database whose columns are built on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import duckdb
import numpy as np

from actiondbg.lineage.graph import Edges
from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import EVIDENCES, Lineage, StageRelation, action_place
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
        "lineage": (_relation_table(lineage, exact), max(len(first), len(last))),
        "steps": (_steps_table(lineage, exact), len(first)),
    }
    for name, (table, rows) in tables.items():
        database.register(name, OnDemandTable(table, rows))
    return database


def _stage_table(stage: Stage, level: Level) -> LazyTable:
    """Return the table of the operations of a stage."""
    places = cache(partial(_places, stage))
    text = pa.string()
    return LazyTable(
        [
            ("node", pa.int64(), lambda: _ints(stage.nodes)),
            ("name", WORD, lambda: _words(stage.names)),
            ("result", text, lambda: _texts(stage.results)),
            ("symbol", text, lambda: _texts(_sparse(stage.symbols, len(stage)))),
            ("line", pa.int64(), lambda: _ints(stage.lines)),
            ("location", WORD, lambda: _words([one.text for one in stage.locations])),
            ("file", WORD, lambda: _words(file for file, _ in places())),
            (
                "source_line",
                pa.int64(),
                lambda: _known(np.array([line for _, line in places()], np.int64)),
            ),
            ("function", WORD, lambda: _words(_functions(stage))),
            ("unit", WORD, lambda: _words(_units(stage, level))),
        ]
    )


def _places(stage: Stage) -> list[tuple[str, int]]:
    """Return the file and the first source line of each operation; "" and 0 if unknown."""
    known: dict[str, tuple[str, int]] = {}
    for location in stage.locations:
        if location.text not in known:
            ranges = ((one.file, one.line) for one in location.ranges if one.is_known)
            known[location.text] = min(ranges, default=("", 0))
    return [known[location.text] for location in stage.locations]


def _relation_table(lineage: Lineage, exact: bool) -> LazyTable:
    """Return the table of the operations of the output made from each operation of the input."""
    first, last = lineage.stages[0], lineage.stages[-1]

    @cache
    def relation() -> StageRelation:
        return lineage.relate(first, last, exact=exact)

    def nodes(stage: Stage, indices: Sequence[int]) -> Array:
        return _ints(np.asarray(stage.nodes, np.int64)[np.asarray(indices, np.int64)])

    return LazyTable(
        [
            ("source", pa.int64(), lambda: nodes(first, relation().sources)),
            ("target", pa.int64(), lambda: nodes(last, relation().targets)),
            ("exact", pa.bool_(), lambda: bool_array(np.asarray(relation().exact, np.bool_))),
        ]
    )


def _steps_table(lineage: Lineage, exact: bool) -> LazyTable:
    """Return the table of the steps."""

    @cache
    def edges() -> Edges:
        return Edges.of_steps(lineage.steps(exact=exact))

    def names(nodes: Ints) -> Array:
        return _described(nodes, lambda node: lineage.node(node).name)

    def actions(describe: Callable[[int], str]) -> Array:
        return _described(edges().ordinals, lambda ordinal: describe(ordinal) if ordinal else "")

    words = [str(one) for one in EVIDENCES]
    number = pa.int64()
    return LazyTable(
        [
            ("evidence", WORD, lambda: word_array(edges().evidence, words)),
            ("source", number, lambda: _ints(edges().sources)),
            ("target", number, lambda: _ints(edges().targets)),
            ("source_name", WORD, lambda: names(edges().sources)),
            ("target_name", WORD, lambda: names(edges().targets)),
            ("ordinal", number, lambda: _known(edges().ordinals)),
            ("action", WORD, lambda: actions(lineage.action)),
            ("pass", WORD, lambda: actions(lambda ordinal: action_place(lineage, ordinal)[0])),
        ]
    )


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


def _ints(values: Sequence[int] | Ints) -> Array:
    return int_array(np.asarray(values, np.int64), pa.int64())


def _known(values: Ints) -> Array:
    """Return an array of numbers; null for 0."""
    return int_array(values, pa.int64(), values == 0)


def _texts(values: Iterable[str]) -> Array:
    """Return an array of strings; null for empty ones."""
    return pa.array([value or None for value in values], type=pa.string())


def _described(values: Ints, describe: Callable[[int], str]) -> Array:
    """Return an array of the texts of numbers; null for empty ones."""
    numbers, places = np.unique(values, return_inverse=True)
    texts = [describe(int(one)) for one in numbers]
    return _words(texts[int(place)] for place in places)


def _words(values: Iterable[str]) -> Array:
    """Return an array of strings that repeat; null for empty ones."""
    any_array: Any = pa.array([value or None for value in values], type=pa.string())
    return any_array.dictionary_encode()
