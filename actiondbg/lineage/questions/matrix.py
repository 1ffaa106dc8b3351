"""The traceability matrix: operations of the input against units of the output, and orphans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage, StageRelation
from actiondbg.lineage.questions.reasons import Reason, Reasons
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.lineage.units import answering_units, unit_label, units_of
from actiondbg.recording.format.arrow import WORD, Bools, DataType, Ints, Table, pa
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


def _cells(relation: StageRelation, target: Stage, level: Level) -> list[_Cell]:
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


# --- as a table: a row for each cell, and for each orphan ---


class MatrixRow(NamedTuple):
    """A row of the table; None where a column does not apply.

    Args:
        relation: ``traced``: an operation of the input is in a unit of the output. ``lost``: it
            has no trace there. ``unfounded``: an operation of the output has no origin.
        input: the name of the operation of the input.
        input_node: its number; of a recorded run the operation id.
        input_line: its line in the text of the input.
        location: its source location.
        unit: the unit of the output.
        unit_line: the first line of the unit.
        operations: the operations of the unit that the operation of the input became.
        exact: whether the compiler showed it.
        output: the name of the operation of the output without an origin.
        output_node: its number.
        output_line: its line in the text of the output.
        reason: why there is no counterpart.
        ordinal: the action that did it.
        action: its name.
    """

    relation: str
    input: str | None = None
    input_node: int | None = None
    input_line: int | None = None
    location: str | None = None
    unit: str | None = None
    unit_line: int | None = None
    operations: int | None = None
    exact: bool | None = None
    output: str | None = None
    output_node: int | None = None
    output_line: int | None = None
    reason: str | None = None
    ordinal: int | None = None
    action: str | None = None


_WORDS = frozenset(("relation", "input", "location", "unit", "output", "reason", "action"))


def matrix_table(matrix: Matrix) -> Table:
    """Return the table of a matrix."""
    columns: Sequence[Sequence[object]] = list(zip(*_rows(matrix), strict=True))
    columns = columns or [[] for _ in MatrixRow._fields]
    arrays = [
        pa.array(column, type=_type(name)) if name not in _WORDS else _words(column)
        for name, column in zip(MatrixRow._fields, columns, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema([(name, _type(name)) for name in MatrixRow._fields]))


def _type(name: str) -> DataType:
    if name in _WORDS:
        return WORD
    return pa.bool_() if name == "exact" else pa.int64()


def _words(values: Iterable[object]) -> Table:
    return pa.array(values, type=pa.string()).dictionary_encode()


def _rows(matrix: Matrix) -> Iterator[MatrixRow]:
    source, target, labels = matrix.source, matrix.target, matrix.labels
    cells = (matrix.sources, matrix.cell_units, matrix.counts, matrix.exact)
    for index, place, count, exact in zip(*(column.tolist() for column in cells), strict=True):
        unit = int(matrix.units[place])
        yield _of_input(source[index], "traced")._replace(
            unit=labels[place] or None,
            unit_line=target.lines[unit] if unit >= 0 else None,
            operations=count,
            exact=exact,
        )
    for orphan in matrix.lost:
        yield _with_reason(_of_input(orphan.operation, "lost"), orphan)
    units = units_of(target, matrix.level)
    for orphan in matrix.unfounded:
        operation = orphan.operation
        unit = units[operation.index]
        row = MatrixRow(
            "unfounded",
            location=operation.location.text,
            unit=unit_label(target, unit) or None,
            unit_line=target.lines[unit] if unit >= 0 else None,
            output=operation.name,
            output_node=operation.node,
            output_line=operation.line,
        )
        yield _with_reason(row, orphan)


def _of_input(operation: Operation, relation: str) -> MatrixRow:
    return MatrixRow(
        relation,
        input=operation.name,
        input_node=operation.node,
        input_line=operation.line,
        location=operation.location.text,
    )


def _with_reason(row: MatrixRow, orphan: Orphan) -> MatrixRow:
    return row._replace(
        reason=orphan.reason.why or "unexplained",
        ordinal=orphan.reason.ordinal,
        action=orphan.action or None,
    )
