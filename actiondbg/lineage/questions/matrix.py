"""The traceability matrix: operations of the input against units of the output, and orphans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage, Relation
from actiondbg.lineage.questions.reasons import Reason, Reasons
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.lineage.units import answering_units, unit_label, units_of
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.support.globs import check_glob, glob_matches

# What is enough to know. A pass that erases or inserts operations may have made one of another.
_EXPLAINED = frozenset(("folded", "dead", "consumed"))
_MODULE = "builtin.module"
_BY_PATTERN = _EXPLAINED | {"erased", "inserted"}


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
        """Whether the reason shows that there is no counterpart."""
        is_by_pattern = self.action.startswith("pattern:")
        return self.reason.why in (_BY_PATTERN if is_by_pattern else _EXPLAINED)


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
    cells = _cells(relation, target, level)
    around = units_of(target, level)
    sizes = Counter(around)
    units = np.array(sorted({*around, *(cell.unit for cell in cells)}), np.int64)
    lost = _missing(lineage, source, set(relation.sources))
    founded = _with_those_around(target, set(relation.targets))
    unfounded = _missing(lineage, target, founded)
    return Matrix(
        source,
        target,
        level,
        units,
        np.array([sizes[one] or len(target.nested(one)) for one in units.tolist()], np.int64),
        np.array([cell.source for cell in cells], np.int64),
        np.searchsorted(units, np.array([cell.unit for cell in cells], np.int64)),
        np.array([cell.members for cell in cells], np.int64),
        np.array([cell.is_exact for cell in cells], np.bool_),
        _orphans(lineage, lost, reasons.of_sources(lost, target)),
        _orphans(lineage, unfounded, reasons.of_targets(unfounded, source)),
    )


class _Cell(NamedTuple):
    source: int
    unit: int
    members: int
    is_exact: bool


def _cells(relation: Relation, target: Stage, level: Level) -> list[_Cell]:
    """Return the units that answer for what each operation of the input became."""
    became: dict[int, dict[int, bool]] = {}
    for at, to, exact in zip(*relation, strict=True):
        became.setdefault(int(at), {})[int(to)] = bool(exact)
    answer = answering_units(target, level)
    return [
        _Cell(at, unit, len(members), any(those[one] for one in members))
        for at, those in sorted(became.items())
        for unit, members in sorted(answer(list(those)))
    ]


def _with_those_around(stage: Stage, indices: set[int]) -> set[int]:
    """Return operations, and those around them for which they answer."""
    return indices.union(*(takewhile(stage.has_body, stage.around(one)) for one in indices))


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


def _missing(lineage: Lineage, stage: Stage, indices: set[int]) -> list[Operation]:
    absent = [operation for operation in stage if operation.index not in indices]
    # MLIR adds a module around a text that has none, when it parses and prints it.
    return [
        operation
        for operation in absent
        if lineage.is_recorded or operation.parent is not None or operation.name != _MODULE
    ]


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
