"""A traceability matrix as a table: a row for each cell, and for each orphan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from actiondbg.lineage.questions.matrix import Matrix, Orphan
from actiondbg.lineage.stage import Operation
from actiondbg.lineage.units import unit_label, units_of
from actiondbg.recording.format.arrow import WORD, DataType, Table, pa


class Row(NamedTuple):
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
    columns = columns or [[] for _ in Row._fields]
    arrays = [
        pa.array(column, type=_type(name)) if name not in _WORDS else _words(column)
        for name, column in zip(Row._fields, columns, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema([(name, _type(name)) for name in Row._fields]))


def _type(name: str) -> DataType:
    if name in _WORDS:
        return WORD
    return pa.bool_() if name == "exact" else pa.int64()


def _words(values: Iterable[object]) -> Table:
    return pa.array(values, type=pa.string()).dictionary_encode()


def _rows(matrix: Matrix) -> Iterator[Row]:
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
        row = Row(
            "unfounded",
            location=operation.location.text,
            unit=unit_label(target, unit) or None,
            unit_line=target.lines[unit] if unit >= 0 else None,
            output=operation.name,
            output_node=operation.node,
            output_line=operation.line,
        )
        yield _with_reason(row, orphan)


def _of_input(operation: Operation, relation: str) -> Row:
    return Row(
        relation,
        input=operation.name,
        input_node=operation.node,
        input_line=operation.line,
        location=operation.location.text,
    )


def _with_reason(row: Row, orphan: Orphan) -> Row:
    return row._replace(
        reason=orphan.reason.why or "unexplained",
        ordinal=orphan.reason.ordinal,
        action=orphan.action or None,
    )
