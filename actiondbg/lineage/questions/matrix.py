"""The traceability matrix: operations of the input against units of the output, and orphans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.questions.reasons import Reason, Reasons
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.lineage.units import unit_label, units_of
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.support.globs import check_glob, glob_matches

# Dumps show that locations are unknown, or that none overlaps; that explains nothing.
_UNEXPLAINED = frozenset(("", "unmatched", "unlocated"))


class Orphan(NamedTuple):
    """An operation without a counterpart.

    Args:
        operation: of the input or the output.
        reason: why.
        action: the name of the action that did it; empty if unknown.
    """

    operation: Operation
    reason: Reason
    action: str

    @property
    def is_explained(self) -> bool:
        """Whether the reason is known."""
        return self.reason.why not in _UNEXPLAINED


@dataclass(frozen=True)
class Matrix:
    """Which operations of the input are in which units of the output, without the empty cells.

    Args:
        source: the input.
        target: the output.
        level: of the units.
        units: the index in the output of each unit, ascending; -1 for what is in no unit.
        unit_sizes: by unit, its number of operations.
        sources: of each cell, the index of the operation of the input; ascending.
        cell_units: of each cell, the place of its unit in ``units``.
        counts: of each cell, the operations of the unit that the operation became.
        exact: of each cell, whether the compiler showed one of them.
        lost: the operations of the input without a trace in the output.
        unfounded: the operations of the output without an origin.
    """

    source: Stage
    target: Stage
    level: Level
    units: Ints
    unit_sizes: Ints
    sources: Ints
    cell_units: Ints
    counts: Ints
    exact: Bools
    lost: tuple[Orphan, ...]
    unfounded: tuple[Orphan, ...]

    @property
    def orphans(self) -> Iterator[Orphan]:
        """Iterate over the orphans of both sides."""
        yield from self.lost
        yield from self.unfounded

    @cached_property
    def labels(self) -> list[str]:
        """The name of each unit; an empty one for what is in no unit."""
        return [unit_label(self.target, int(unit)) for unit in self.units]


def matrix(
    lineage: Lineage,
    level: Level = "function",
    *,
    exact: bool = False,
    reasons: Reasons | None = None,
) -> Matrix:
    """Return the traceability matrix of a lineage.

    Args:
        lineage: the operations.
        level: of the units of the output.
        exact: leave out what only locations show.
        reasons: why operations have no counterpart, if steps were read before.
    """
    source, target = lineage.stages[0], lineage.stages[-1]
    reasons = reasons or Reasons(lineage, exact=exact)
    relation = lineage.relate(source, target, exact=exact)
    sources = np.asarray(relation.sources, np.int64)
    targets = np.asarray(relation.targets, np.int64)
    is_exact = np.asarray(relation.exact, np.bool_)
    units, place_of, sizes = np.unique(
        np.asarray(units_of(target, level), np.int64), return_inverse=True, return_counts=True
    )
    keys = sources * max(len(units), 1) + place_of[targets]
    cells, firsts, cell_of, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    cell_exact = np.zeros(len(cells), np.bool_)
    np.logical_or.at(cell_exact, cell_of, is_exact)
    lost = _missing(source, sources)
    unfounded = _missing(target, targets)
    return Matrix(
        source,
        target,
        level,
        units,
        sizes,
        sources[firsts],
        place_of[targets[firsts]],
        counts,
        cell_exact,
        _orphans(lineage, lost, reasons.of_sources(lost, target)),
        _orphans(lineage, unfounded, reasons.of_targets(unfounded, source)),
    )


def unexplained(matrix: Matrix, allowed: Sequence[str] = ()) -> list[Orphan]:
    """Return the orphans without a reason.

    Args:
        matrix: the orphans.
        allowed: globs of the names of operations that may be orphans.

    Raises:
        UsageError: a glob is invalid.
    """
    for glob in allowed:
        check_glob(glob, glob, 0)
    return [
        orphan
        for orphan in matrix.orphans
        if not orphan.is_explained
        and not any(glob_matches(glob, orphan.operation.name) for glob in allowed)
    ]


def reason_counts(orphans: Sequence[Orphan]) -> Counter[tuple[str, str]]:
    """Count orphans by their reason and the action."""
    return Counter((orphan.reason.why, orphan.action) for orphan in orphans)


def _missing(stage: Stage, indices: Ints) -> list[Operation]:
    absent = np.setdiff1d(np.arange(len(stage)), indices)
    return [Operation(stage, int(index)) for index in absent]


def _orphans(
    lineage: Lineage, operations: Sequence[Operation], reasons: dict[int, Reason]
) -> tuple[Orphan, ...]:
    actions: dict[int, str] = {}
    found: list[Orphan] = []
    for operation in operations:
        reason = reasons[operation.index]
        if reason.ordinal is not None and reason.ordinal not in actions:
            actions[reason.ordinal] = _action(lineage, reason.ordinal)
        action = actions[reason.ordinal] if reason.ordinal is not None else ""
        found.append(Orphan(operation, reason, action))
    return tuple(found)


def _action(lineage: Lineage, ordinal: int) -> str:
    """Name an action; of one that is no pattern, such as an iteration, the pass around it."""
    name = lineage.action(ordinal)
    around = lineage.pass_of(ordinal)
    if around is None or name.startswith(("pattern:", "fold:")):
        return name
    return lineage.action(around)
