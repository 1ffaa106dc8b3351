"""Pairs of related operations, with the pairs of the operations that bodies answer for."""

from __future__ import annotations

import numpy as np

from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Ints


def with_bodies(source: Stage, rows: Ints, columns: Ints, size: int) -> Ints:
    """Return related pairs of operations, with the pairs of those that bodies answer for.

    Args:
        source: the earlier stage.
        rows: the index in it of each pair.
        columns: the index in the later stage of each pair.
        size: the number of operations of the later stage.
    """
    around = np.asarray(source.parents, np.int64)
    bodies = np.array([source.has_body(index) for index in range(len(source))], np.bool_)
    parts: list[Ints] = []
    while len(rows):
        parts.append(rows * max(size, 1) + columns)
        rows = around[rows]
        # Beyond an operation without a body nothing answers for what is in it.
        inside = (rows >= 0) & bodies[rows]
        rows, columns = rows[inside], columns[inside]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
