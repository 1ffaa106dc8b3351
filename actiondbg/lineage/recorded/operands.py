"""The operations that define the operands of others."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from actiondbg.ir.tokens import RESULTS, VALUE
from actiondbg.ir.written_locations import without_location
from actiondbg.lineage.recorded.changes import RecordedLinks
from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.recording import Recording

_RESULTS = re.compile(rf"^\s*{RESULTS}")
_VALUE = re.compile(VALUE)


class Operands:
    """By the number of an operation, the operations that define its operands.

    An operation that the run made has the operands with which it was made; a copy that gets them
    only later those of its original, or their copies. One of the input has those that its first
    line names.

    Args:
        recording: made with ``record --lineage``.
        links: that it recorded.
        first: the input, under the names that MLIR prints.
    """

    def __init__(self, recording: Recording, links: RecordedLinks, first: Stage) -> None:
        self._recording = recording
        self._links = links
        self._first = first

    def of(self, number: int) -> Sequence[int]:
        """Return the operations in the order of the operands; 0 for arguments of blocks."""
        found = self._of_input.get(number)
        if found is not None:
            return found
        users, definers = self._uses
        start, end = np.searchsorted(users, (number, number + 1))
        original = self._originals.get(number) if start == end else None
        if original is None:
            return definers[start:end].tolist()
        return [self._copied(one, number) for one in self.of(original)]

    def _copied(self, operand: int, user: int) -> int:
        """Return the copy of an operand that was made with a copy of its user, or the operand."""
        copies = self._copies.get((operand, self._made_by[user]), ())
        at = bisect_left(copies, user)  # numbers grow with time
        return copies[at - 1] if at else operand

    def users(self, number: int) -> Sequence[int]:
        """Return the operations that were made with a result of another as an operand.

        Those of the operations that it replaced use it, too.
        """
        replaced = (number, *self._replaced_by.get(number, ()))
        return [user for one in replaced for user in self._by_definer.get(one, ())]

    @cached_property
    def _uses(self) -> tuple[Ints, Ints]:
        _, users, definers = self._links.of_kind("uses")
        order = np.argsort(users, kind="stable")
        return users[order], definers[order]

    @cached_property
    def _originals(self) -> dict[int, int]:
        _, copies, originals = self._links.of_kind("cloned")
        return dict(zip(copies.tolist(), originals.tolist(), strict=True))

    @cached_property
    def _made_by(self) -> dict[int, int]:
        ordinals, copies, _ = self._links.of_kind("cloned")
        return dict(zip(copies.tolist(), ordinals.tolist(), strict=True))

    @cached_property
    def _copies(self) -> dict[tuple[int, int], list[int]]:
        """By original and action, the copies in the order of time."""
        found: dict[tuple[int, int], list[int]] = {}
        columns = (column.tolist() for column in self._links.of_kind("cloned"))
        for ordinal, copy, original in sorted(zip(*columns, strict=True)):
            found.setdefault((original, ordinal), []).append(copy)
        return found

    @cached_property
    def _of_input(self) -> dict[int, list[int]]:
        nodes = self._first.nodes
        return {
            nodes[index]: [nodes[one] if one >= 0 else 0 for one in definers]
            for index, definers in self._named()
        }

    @cached_property
    def _by_definer(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, definers in self._of_input.items():
            for one in definers:
                found.setdefault(one, []).append(number)
        for number, one in zip(*(column.tolist() for column in self._uses), strict=True):
            found.setdefault(one, []).append(number)
        for number in self._originals.keys() - {*self._uses[0].tolist()}:
            for one in self.of(number):
                found.setdefault(one, []).append(number)
        return found

    @cached_property
    def _replaced_by(self) -> dict[int, list[int]]:
        changes: Any = self._recording.table("changes", ("operation", "by"))
        found: dict[int, list[int]] = {}
        for one, by in zip(
            changes["operation"].to_pylist(), changes["by"].to_pylist(), strict=True
        ):
            if one and by:
                found.setdefault(by, []).append(one)
        return found

    def _named(self) -> Iterator[tuple[int, list[int]]]:
        """Iterate over the operations of the input, with the indices of the definers; -1: none."""
        stage, known = self._first, dict[str, list[int]]()
        for index, result in enumerate(stage.results):
            line = without_location(stage.text_lines[stage.lines[index] - 1])
            names = _VALUE.findall(_RESULTS.sub("", line))
            yield index, [self._visible(known.get(name, ()), index) for name in names]
            if result:
                known.setdefault(result, []).append(index)

    def _visible(self, candidates: Sequence[int], user: int) -> int:
        """Return the last operation of a name that a user can see; sibling regions share names."""
        parents = self._first.parents
        for one in reversed(candidates):
            around = parents[user]
            while around > parents[one]:
                around = parents[around]
            if around == parents[one]:
                return one
        return -1
