"""Why operations of the input became nothing, and why those of the output came from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from actiondbg.lineage.lineage import Lineage, Loss
from actiondbg.lineage.questions.ways import Ways
from actiondbg.lineage.stage import Operation, Stage


class Reason(NamedTuple):
    """Why an operation has no counterpart in the other stage.

    Args:
        why: such as ``folded``, ``dead`` or ``inserted``; empty if nothing shows it.
        ordinal: the action that did it; None if no action is known.
    """

    why: str
    ordinal: int | None = None


UNEXPLAINED = Reason("")

_TEXTS = {
    "": "unexplained",
    "ambiguous": "inserted at an ambiguous location",
    "inexact": "dumps show nothing exactly",
    # What dumps show of operations without a counterpart.
    "unmatched": "no location overlaps",
    "unlocated": "no location is known",
    "shared": "too many operations share its location",
}


def reason_text(why: str) -> str:
    """Return a reason as it is shown."""
    return _TEXTS.get(why, why)


class Reasons:
    """The reasons for missing counterparts, looked up for many operations at once.

    Args:
        lineage: the operations.
        exact: leave out what only locations show.
    """

    def __init__(self, lineage: Lineage, *, exact: bool = False) -> None:
        self._lineage = lineage
        self._exact = exact

    @cached_property
    def ways(self) -> Ways:
        """The steps of the lineage."""
        return Ways(self._lineage, exact=self._exact)

    def losses(self, operations: Sequence[Operation], other: Stage) -> dict[int, Loss]:
        """Return by number the operations at which the ways to another stage ended."""
        if not operations:
            return {}
        found = self._lineage.track(operations, other, exact=self._exact).losses
        return {loss.node: loss for loss in found}

    def of_sources(self, operations: Sequence[Operation], target: Stage) -> dict[int, Reason]:
        """Return by index why operations became nothing in a later stage."""
        losses = self.losses(operations, target)
        return {one.index: self.forward(one.node, losses) for one in operations}

    def of_targets(self, operations: Sequence[Operation], source: Stage) -> dict[int, Reason]:
        """Return by index why operations came from nothing in an earlier stage."""
        losses = self.losses(operations, source)
        return {one.index: self._back(one.node, losses) for one in operations}

    def forward(self, node: int, losses: dict[int, Loss]) -> Reason:
        """Return the last reason on the way of an operation, given by its number."""
        if node in losses or not losses:
            return _reason(losses.get(node))
        ends = [losses[one] for one in self.ways.forward(node).nodes if one in losses]
        return _reason(max(ends, key=_time, default=None))

    def _back(self, node: int, losses: dict[int, Loss]) -> Reason:
        if node in losses or not losses:
            return _reason(losses.get(node))
        ends = [losses[one] for one in self.ways.back(node).nodes if one in losses]
        return _reason(min(ends, key=_time, default=None))


def _time(loss: Loss) -> int:
    return -1 if loss.ordinal is None else loss.ordinal


def _reason(loss: Loss | None) -> Reason:
    return UNEXPLAINED if loss is None else Reason(loss.why, loss.ordinal)
