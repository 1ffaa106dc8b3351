"""Related pairs of operations, with the pairs of the operations whose bodies answer for them."""

from __future__ import annotations

import numpy as np

from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Ints


def with_bodies(source: Stage, rows: Ints, columns: Ints, size: int) -> Ints:
    """Return related pairs of operations, and pairs of the operations around the earlier ones.

    An operation around others is related to what the operations in its body are related to, if it
    has a body that answers for it.

    Args:
        source: the earlier stage.
        rows: of each pair, the index in the earlier stage.
        columns: of each pair, the index in the later stage.
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
