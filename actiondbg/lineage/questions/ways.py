"""The ways of operations: all steps of a lineage, indexed by their operations."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.evidence import EVIDENCES, Evidence
from actiondbg.lineage.lineage import Lineage, Step
from actiondbg.recording.format.arrow import Bools, Ints

_ENDS = frozenset((Evidence.REPLACED, Evidence.FOLDED, Evidence.MERGED, Evidence.REWRITTEN))
_CODES = {evidence: code for code, evidence in enumerate(EVIDENCES)}

_SYMBOL = _CODES[Evidence.SYMBOL]


class Way(NamedTuple):
    """What an operation became.

    Args:
        nodes: the operations on the way, itself included, by the time at which each was made.
        steps: in the order of time.
    """

    nodes: dict[int, int]
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
        self._known_times: dict[int, int] = {}
        # All steps of an action are simultaneous; a step without an action is alone.
        self._times = np.cumsum(_changed(self.ordinals) | (self.ordinals < 0))

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
            until: leave out the steps after this action and those in it.
        """
        first = -1 if since is None else self._time_of(since)
        last = len(self) if until is None else self._time_of(until)
        return self._walk(node, self._from, self.targets, 1, first + 1, last)

    def alive(self, node: int, since: int | None = None, until: int | None = None) -> list[int]:
        """Return what an operation became that was not replaced up to an action; see ``forward``.

        An operation that was erased without heirs is among them.
        """
        way = self.forward(node, since, until)
        ended = {step.source for step in way.steps if step.evidence in _ENDS}
        return [one for one in way.nodes if one not in ended]

    def back(self, node: int) -> Way:
        """Return what an operation came from, with all between."""
        return self._walk(node, self._to, self.sources, -1, -len(self), 0)

    @cached_property
    def _from(self) -> dict[int, Ints]:
        return _rows_by(self.sources)

    @cached_property
    def _to(self) -> dict[int, Ints]:
        return _rows_by(self.targets)

    def _time_of(self, ordinal: int) -> int:
        """Return the time of the last step up to an action; -1 for none."""
        if ordinal not in self._known_times:
            before = (self.ordinals >= 0) & (self.ordinals <= ordinal)
            self._known_times[ordinal] = int(self._times[before].max(initial=-1))
        return self._known_times[ordinal]

    def _walk(
        self, node: int, index: dict[int, Ints], ends: Ints, sign: int, first: int, last: int
    ) -> Way:
        """Walk from an operation in the order of time (sign 1), or against it (sign -1).

        Args:
            node: the operation.
            index: the rows of the steps from each operation.
            ends: the operations to which the steps lead.
            sign: of the times.
            first: the first time; with the sign.
            last: the last time; with the sign.
        """
        times = self._times
        reached = {node: first}
        rows: set[int] = set()
        queue = deque([node])
        while queue:
            one = queue.popleft()
            since = reached[one]
            for row in map(int, index.get(one, ())):
                # An operation may refer to a symbol that was made before it.
                is_symbol = self.codes[row] == _SYMBOL
                when = since if is_symbol else int(times[row]) * sign
                if not since <= when <= last:
                    continue
                rows.add(row)
                end = int(ends[row])
                # An operation reached again at an earlier time has more ways onward.
                if end != one and when < reached.get(end, when + 1):
                    reached[end] = when
                    queue.append(end)
        return Way(reached, [self.step(row) for row in sorted(rows)])


def _changed(values: Ints) -> Bools:
    changed = np.ones(len(values), np.bool_)
    changed[1:] = values[1:] != values[:-1]
    return changed


def _rows_by(keys: Ints) -> dict[int, Ints]:
    """Return the rows of each key, ascending."""
    order = np.argsort(keys, kind="stable")
    found, firsts = np.unique(keys[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, firsts[1:]), strict=True)) if len(found) else {}
