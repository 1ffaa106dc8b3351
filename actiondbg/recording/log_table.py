"""The actions of a recording as the log's lines are made of them."""

from __future__ import annotations

import numpy as np

from actiondbg.recording.arrow import Array, Ints, Table, pa
from actiondbg.recording.layout import FOLDS, OUTCOMES
from actiondbg.recording.log_lines import Actions, Coded, distinct, operation_texts

_OPERATION_COLUMNS = ("operation", "op", "function", "file", "line", "col")
COLUMNS = (
    *("ordinal", "thread", "depth", "tag", "name", *_OPERATION_COLUMNS),
    *("outcome", "changed", "fold", "reason", "duration_ns"),
)


def actions_of(table: Table) -> Actions:
    """Return the actions in some rows of the table actions, with its columns ``COLUMNS``."""
    columns = {name: table.column(name).combine_chunks() for name in COLUMNS}
    return Actions(
        ordinals=columns["ordinal"].to_numpy(),
        threads=columns["thread"].to_numpy(),
        depths=columns["depth"].to_numpy(),
        outcomes=_places(columns["outcome"], OUTCOMES),
        durations=_numbers(columns["duration_ns"]),
        tags=_coded(columns["tag"]),
        names=_coded(columns["name"]),
        operations=_operations(columns),
        reasons=_coded(columns["reason"]),
        folds=_places(columns["fold"], FOLDS) + 1,
        changed=columns["changed"].to_numpy(zero_copy_only=False),
    )


def _operations(columns: dict[str, Array]) -> Coded:
    """Describe each different operation once; one that moved to another function is another."""
    numbers = _numbers(columns["operation"])
    functions = _coded(columns["function"])
    keys = numbers * (len(functions.words) + 1) + functions.codes + 1
    _, places = distinct(keys)
    firsts = np.empty(int(places.max(initial=-1)) + 1, np.int64)
    firsts[places[::-1]] = np.arange(len(places))[::-1]
    indices = pa.array(firsts)
    texts = operation_texts({name: columns[name].take(indices) for name in _OPERATION_COLUMNS})
    return Coded(np.where(numbers > 0, places, -1), texts)


def _coded(words: Array) -> Coded:
    return Coded(words.indices.fill_null(-1).to_numpy(), words.dictionary)


def _places(words: Array, known: tuple[str, ...]) -> Ints:
    """Return the place of each word in ``known``, -1 for null."""
    coded = _coded(words)
    places = [known.index(word) for word in coded.words.to_pylist()]
    return np.array([*places, -1])[coded.codes]


def _numbers(numbers: Array) -> Ints:
    """Return numbers, 0 for null."""
    return numbers.fill_null(0).to_numpy()
