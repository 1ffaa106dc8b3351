"""The ways of operations: all steps of a lineage, indexed by their operations."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.evidence import EVIDENCES, Evidence
from actiondbg.lineage.lineage import Lineage, Step
from actiondbg.recording.format.arrow import Ints

_ENDS = frozenset(
    (
        Evidence.REPLACED,
        Evidence.FOLDED,
        Evidence.MERGED,
        Evidence.REWRITTEN,
        Evidence.SAME,
    )
)
_CODES = {evidence: code for code, evidence in enumerate(EVIDENCES)}

_END = 1 << 62  # after all ordinals
_NO_ROWS: Ints = np.empty(0, np.int64)


class Way(NamedTuple):
    """What an operation became.

    Args:
        nodes: the operations on the way, itself first.
        steps: the steps between them.
    """

    nodes: list[int]
    steps: list[Step]


class Ways:
    """The steps of a lineage, indexed.

    Args:
        lineage: the operations.
        exact: leave out what only locations show.
    """

    def __init__(self, lineage: Lineage, *, exact: bool = False) -> None:
        self.lineage = lineage
        rows = [
            (_CODES[evidence], source, target, -1 if ordinal is None else ordinal)
            for evidence, source, target, ordinal in lineage.steps(exact=exact)
        ]
        table = np.array(rows, np.int64).reshape(-1, 4)
        self.codes, self.sources, self.targets, self.ordinals = (
            np.ascontiguousarray(column) for column in table.T
        )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def has_actions(self) -> bool:
        """Whether some step names the action that did it."""
        return bool((self.ordinals >= 0).any())

    def step(self, row: int) -> Step:
        """Return the step in a row."""
        ordinal = int(self.ordinals[row])
        return Step(
            EVIDENCES[self.codes[row]],
            int(self.sources[row]),
            int(self.targets[row]),
            None if ordinal < 0 else ordinal,
        )

    def forward(self, node: int, since: int | None = None, until: int | None = None) -> Way:
        """Return what an operation became, with all between.

        Args:
            node: its number.
            since: leave out the steps up to this action and those in it.
            until: leave out the steps after this action.
        """
        last = _END if until is None else until
        return self._walk(node, self._from, self.targets, since or 0, last)

    def alive(self, node: int, since: int | None = None, until: int | None = None) -> list[int]:
        """Return what an operation became that was not replaced up to an action; see ``forward``.

        An operation that was erased without heirs is among them.
        """
        way = self.forward(node, since, until)
        ended = {step.source for step in way.steps if step.evidence in _ENDS}
        return [one for one in way.nodes if one not in ended]

    def back(self, node: int) -> Way:
        """Return what an operation came from, with all between."""
        return self._walk(node, self._to, self.sources, 0, _END)

    @cached_property
    def _from(self) -> dict[int, Ints]:
        return _rows_by(self.sources)

    @cached_property
    def _to(self) -> dict[int, Ints]:
        return _rows_by(self.targets)

    def _walk(self, node: int, index: dict[int, Ints], ends: Ints, since: int, until: int) -> Way:
        """Follow the steps of some actions from an operation.

        The order of the steps of a way is not compared: what a pass does at its end has the
        ordinal of the pass, which is before those of the patterns in it.

        Args:
            node: the operation.
            index: the rows of the steps from each operation.
            ends: the operations to which the steps lead.
            since: the steps of later actions are followed, and those without an action.
            until: the last action.
        """
        reached = {node: None}
        rows: set[int] = set()
        queue = [node]
        for one in queue:  # grows while it is iterated over
            for row in index.get(one, _NO_ROWS).tolist():
                ordinal = int(self.ordinals[row])
                if ordinal >= 0 and not since < ordinal <= until:
                    continue
                rows.add(row)
                end = int(ends[row])
                if end not in reached:
                    reached[end] = None
                    queue.append(end)
        return Way(list(reached), [self.step(row) for row in sorted(rows)])


def _rows_by(keys: Ints) -> dict[int, Ints]:
    """Return the rows of each key, ascending."""
    order = np.argsort(keys, kind="stable")
    found, firsts = np.unique(keys[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, firsts[1:]), strict=True)) if len(found) else {}
