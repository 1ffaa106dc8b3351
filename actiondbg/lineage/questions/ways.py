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
_MERGED = _CODES[Evidence.MERGED]

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
            (
                _CODES[step.evidence],
                *step[1:3],
                -1 if step.ordinal is None else step.ordinal,
                step.time,
            )
            for step in lineage.steps(exact=exact)
        ]
        table = np.array(rows, np.int64).reshape(-1, 5)
        self.codes, self.sources, self.targets, self.ordinals, self._times = (
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
            int(self._times[row]),
        )

    def forward(self, node: int, since: int | None = None, until: int | None = None) -> Way:
        """Return what an operation became, with all between.

        Args:
            node: its number.
            since: leave out the steps up to this action and those in it.
            until: leave out the steps after this action.
        """
        last = _END if until is None else until
        return self._walk(node, self._from, self.targets, (since or 0, last))

    def alive(self, node: int, since: int | None = None, until: int | None = None) -> list[int]:
        """Return what an operation became that was not replaced up to an action; see ``forward``.

        An operation that was erased without heirs is among them.
        """
        way = self.forward(node, since, until)
        ended = {step.source for step in way.steps if step.evidence in _ENDS}
        return [one for one in way.nodes if one not in ended]

    def back(self, node: int) -> Way:
        """Return what an operation came from, with all between."""
        return self._walk(node, self._to, self.sources, (0, _END), back=True)

    @cached_property
    def _from(self) -> dict[int, Ints]:
        return _rows_by(self.sources)

    @cached_property
    def _to(self) -> dict[int, Ints]:
        return _rows_by(self.targets)

    def _walk(
        self,
        node: int,
        index: dict[int, Ints],
        ends: Ints,
        span: tuple[int, int],
        *,
        back: bool = False,
    ) -> Way:
        """Follow the steps of some actions from an operation.

        The order of the steps of a way is compared only where an operation was merged into one
        that was there before: what had been made of that one is no part of the way.

        Args:
            node: the operation.
            index: the rows of the steps from each operation.
            ends: the operations to which the steps lead.
            span: the steps after the first action and up to the last are followed, and those
                without an action.
            back: whether the steps lead to earlier operations.
        """
        reached = {node: _END if back else 0}  # by operation, the time of the best way to it
        rows: set[int] = set()
        queue = [node]
        for one in queue:  # grows while it is iterated over
            for row in index.get(one, _NO_ROWS).tolist():
                ordinal, time = int(self.ordinals[row]), int(self._times[row])
                if ordinal >= 0 and not span[0] < ordinal <= span[1]:
                    continue
                is_merge = time > 0 and int(self.codes[row]) == _MERGED
                if back:
                    if is_merge and time > reached[one]:
                        continue
                    arrived = time or _END
                else:
                    if time and time < reached[one]:
                        continue
                    arrived = time if is_merge else 0
                rows.add(row)
                end = int(ends[row])
                known = reached.get(end)
                if known is None or (arrived > known if back else arrived < known):
                    reached[end] = arrived
                    queue.append(end)
        return Way(list(reached), [self.step(row) for row in sorted(rows)])


def _rows_by(keys: Ints) -> dict[int, Ints]:
    """Return the rows of each key, ascending."""
    order = np.argsort(keys, kind="stable")
    found, firsts = np.unique(keys[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, firsts[1:]), strict=True)) if len(found) else {}
