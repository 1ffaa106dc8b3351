"""The actions of an import for a report: their order in the place of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from actiondbg.recording.format.arrow import Ints, Table, int_array, pa

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_STEP = 10  # units between the beginnings of two actions


def actions_in_steps(recording: Recording) -> Table:
    """Return the table of actions, in which each begins one step after the one before it.

    An action that may have changed the IR counts as one without a change.
    """
    table: Any = recording.table("actions")
    ordinals: Ints = table.column("ordinal").to_numpy()
    last = _last_inside(ordinals, table.column("parent").fill_null(0).to_numpy())
    columns = {
        "start_ns": ordinals * _STEP,
        "duration_ns": (last - ordinals + 1) * _STEP - 1,
        "self_ns": np.zeros_like(ordinals),
    }
    at = table.column_names.index("changed")
    table = table.set_column(at, "changed", table.column("changed").fill_null(False))
    unfinished = np.array(table.column("outcome").to_pylist()) == "unfinished"
    for name, values in columns.items():
        absent = unfinished if name == "duration_ns" else None
        at = table.column_names.index(name)
        table = table.set_column(at, name, int_array(values, pa.int64(), absent))
    return table


def _last_inside(ordinals: Ints, parents: Ints) -> Ints:
    """Return the ordinal of the last action nested in each, or its own."""
    last: list[int] = ordinals.tolist()
    rows = {ordinal: row for row, ordinal in enumerate(last)}
    around: list[int] = parents.tolist()
    for row, parent in reversed(list(enumerate(around))):
        if parent:
            last[rows[parent]] = max(last[rows[parent]], last[row])
    return np.array(last, np.int64)
