"""Functions over the operations of dumps for a Python shell: tracked, shrunk to parents, shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actiondbg.errors import UsageError
from actiondbg.ir.written_locations import ALIASED, without_location
from actiondbg.lineage.dumps.operation_index import IndexedOperation, OperationIndex
from actiondbg.lineage.dumps.source_ranges import Source, SourceRanges

Tracked = IndexedOperation | Source | Sequence[IndexedOperation] | None

RULE = "-" * 40


def track_ops(
    ops: Tracked, index: OperationIndex, use_combined_src: bool = False
) -> list[IndexedOperation]:
    """Return the operations of a dump whose source overlaps that of others.

    Args:
        ops: operations, one, source ranges or None.
        index: the dump to track to.
        use_combined_src: compare the sources of the operations in their regions too.
    """
    if ops is None:
        return []
    if isinstance(ops, Source):
        return index.get_ops_by_src_range(ops)
    found: dict[IndexedOperation, None] = {}
    for op in _operations(ops):
        ranges = op.get_combined_src() if use_combined_src else op.src_rng
        found |= dict.fromkeys(index.get_ops_by_src_range(ranges))
    return list(found)


def shrink_to_parents(ops: Iterable[IndexedOperation]) -> list[IndexedOperation]:
    """Leave out the operations that are in the regions of others."""
    found = list(ops)
    given = {op.operation for op in found}
    return [op for op in found if given.isdisjoint(op.operation.around)]


def shrink_to_children(ops: Iterable[IndexedOperation]) -> list[IndexedOperation]:
    """Leave out the operations that have others in their regions."""
    found = list(ops)
    outer = {around for op in found for around in op.operation.around}
    return [op for op in found if op.operation not in outer]


def shown_ops(ops: Tracked) -> str:
    """Return the text of operations: of one without its location, of several with theirs."""
    if ops is None or isinstance(ops, Source):
        return str(ops)
    found = sorted(shrink_to_parents(_operations(ops)), key=lambda op: op.src_rng)
    if len(found) == 1:
        return without_location(_dedented(found[0].text))
    return f"\n{RULE}\n".join(_with_location(op) for op in found) or "[]"


def shown_source(ops: Tracked) -> str:
    """Return the text of the sources of operations, each once.

    Raises:
        UsageError: a file cannot be read.
    """
    if ops is None:
        return ""
    if isinstance(ops, Source):
        ranges = {SourceRanges.of(ops)}
    else:
        ranges = {op.src_rng for op in _operations(ops)}
    known = sorted(one for one in ranges if not one.is_unknown)
    return f"\n{RULE}\n".join(one.get_content() for one in known)


def described_ops(ops: Tracked, indent: int = 0, content: bool = False) -> str:
    """Return the names and the source of operations, with the text of the source on request."""
    return "\n".join(op.described(indent, content) for op in _operations(ops))


def _operations(ops: Tracked) -> Sequence[IndexedOperation]:
    """Return a list of operations.

    Raises:
        UsageError: it is none.
    """
    found = [ops] if isinstance(ops, IndexedOperation) else ops
    if not isinstance(found, list | tuple):
        raise UsageError(f"Expected operations of an index, got {ops!r}.")
    for op in found:
        if not isinstance(op, IndexedOperation):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Expected operations of an index, got {op!r}.")
    return found


def _with_location(op: IndexedOperation) -> str:
    """Return the text of an operation; an alias at its end is resolved."""
    text = _dedented(op.text)
    bare = ALIASED.sub("", text)
    return text if bare == text else f"{bare} loc({op.operation.location.text})"


def _dedented(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return "\n".join(line.removeprefix(" " * indent) for line in text.split("\n"))
