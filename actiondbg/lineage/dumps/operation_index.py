"""The operations of a dump as objects for a Python shell: names, nesting, source ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from actiondbg.lineage.dumps.dump_lineage import DumpLineage
from actiondbg.lineage.dumps.parsed_operations import ParsedOperations
from actiondbg.lineage.dumps.source_ranges import Source, SourceRanges
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.support.counts import counted


class IndexedOperation:
    """An operation of a dump.

    Args:
        index: the index of the dump.
        operation: the operation.
    """

    __slots__ = ("_index", "operation")

    def __init__(self, index: OperationIndex, operation: Operation) -> None:
        self._index = index
        self.operation = operation

    @property
    def op_name(self) -> str:
        """Its name, such as ``linalg.matmul``."""
        return self.operation.name

    @property
    def ssa_name(self) -> str:
        """The name that MLIR prints for its first result, such as ``%4``; empty without results."""
        return self._index.ssa_names[self.operation.index]

    @property
    def src_rng(self) -> SourceRanges:
        """The ranges of its source location."""
        return self._index.ranges([self.operation.index])

    def get_combined_src(self) -> SourceRanges:
        """Return its ranges and those of the operations in it."""
        return self._index.ranges(self.operation.stage.nested(self.operation.index))

    @property
    def unique_id(self) -> str:
        """The path of its name and those of the operations around it."""
        return self._index.unique_ids[self.operation.index]

    @property
    def parent(self) -> IndexedOperation | None:
        """The operation around it."""
        parent = self.operation.parent
        return None if parent is None else IndexedOperation(self._index, parent)

    @property
    def children(self) -> list[IndexedOperation]:
        """The operations directly in its regions."""
        return [IndexedOperation(self._index, child) for child in self.operation.children]

    @property
    def op(self) -> Any:
        """The ``mlir.ir.Operation``; where the bindings cannot parse the dump, ``operation``."""
        return self._index.parsed.operations[self.operation.index]

    @property
    def text(self) -> str:
        """Its lines in the dump."""
        return self.operation.text

    def dump(self, indent: int = 0, content: bool = False) -> None:
        """Print its names and its source.

        Args:
            indent: blanks before each line.
            content: print the text of the source too.

        Raises:
            UsageError: a file of the source cannot be read.
        """
        self._index.show(self.described(indent, content))

    def described(self, indent: int = 0, content: bool = False) -> str:
        """Return what ``dump`` prints."""
        lines = [
            f"{self.op_name} {self.ssa_name}".rstrip(),
            f"  unique id: {self.unique_id}",
            f"  source:    {self.src_rng}",
        ]
        if content:
            lines += [f"  | {line}" for line in self.src_rng.get_content().split("\n")]
        return "\n".join(" " * indent + line for line in lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexedOperation) and self.operation == other.operation

    def __hash__(self) -> int:
        return hash(self.operation)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return repr(self.operation)


class OperationIndex:
    """The operations of a dump, looked up by name, type and source.

    Args:
        lineage: the dumps.
        stage: one of them.
        show: prints a text, for ``dump`` of an operation.
    """

    def __init__(
        self, lineage: DumpLineage, stage: Stage, show: Callable[[str], None] = print
    ) -> None:
        self._lineage = lineage
        self.stage = stage
        self.show = show

    def __len__(self) -> int:
        return len(self.stage)

    def __iter__(self) -> Iterator[tuple[str, IndexedOperation]]:
        return zip(self.unique_ids, self._all(range(len(self.stage))), strict=True)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'operation')} of {self.stage.title}>"

    @cached_property
    def parsed(self) -> ParsedOperations:
        """The operations as MLIR's Python bindings parse them."""
        return ParsedOperations(self.stage)

    @property
    def ssa_names(self) -> Sequence[str]:
        """Of each operation, the printed name of its first result."""
        return self.parsed.names

    @cached_property
    def operations(self) -> dict[str, IndexedOperation]:
        """All operations by their unique ids."""
        return dict(self)

    @cached_property
    def info_by_op(self) -> dict[Any, IndexedOperation]:
        """All operations by their ``op``."""
        return {one.op: one for one in self._all(range(len(self.stage)))}

    @cached_property
    def unique_ids(self) -> Sequence[str]:
        """Of each operation, a path that is unique, also among sibling regions."""
        ids: list[str] = []
        seen: set[str] = set()
        for index, (name, parent) in enumerate(
            zip(self.stage.names, self.stage.parents, strict=True)
        ):
            path = f"{ids[parent]}/" if parent >= 0 else ""
            unique = f"{path}{self.ssa_names[index] or f'{name}[{index}]'}"
            if unique in seen:
                unique = f"{unique}[{index}]"
            seen.add(unique)
            ids.append(unique)
        return ids

    @cached_property
    def _by_ssa_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index, name in enumerate(self.ssa_names):
            found.setdefault(name, []).append(index)
        return found

    def get_op(self, unique_id: str) -> IndexedOperation | None:
        """Return the operation with a unique id."""
        return self.operations.get(unique_id)

    def get_info_by_op(self, op: Any) -> IndexedOperation | None:
        """Return the operation with an ``op``, such as the parent of that of another."""
        return self.info_by_op.get(op)

    def get_ops_by_name(self, ssa_name: str) -> list[IndexedOperation]:
        """Return the operations whose first result has a name, as printed or as in the file."""
        found = self._by_ssa_name.get(ssa_name)
        if found is not None:
            return self._all(found)
        return [IndexedOperation(self, one) for one in self.stage.with_result(ssa_name)]

    def get_ops_by_type(self, op_name: str) -> list[IndexedOperation]:
        """Return the operations with a name such as ``linalg.matmul``."""
        return [IndexedOperation(self, one) for one in self.stage.named(op_name)]

    def get_ops_by_src_loc(self, src_loc: Source) -> list[IndexedOperation]:
        """Return the operations whose source contains a position ``FILE:LINE:COLUMN``."""
        return self.get_ops_by_src_range(src_loc)

    def get_ops_by_src_range(self, src_rng: Source) -> list[IndexedOperation]:
        """Return the operations whose source overlaps ranges."""
        found = self._lineage.overlapping(SourceRanges.of(src_rng).ranges, self.stage)
        return [IndexedOperation(self, one) for one in found]

    def ranges(self, indices: Iterable[int]) -> SourceRanges:
        """Return the source ranges of operations."""
        index = self._lineage.index(self.stage)
        found = {one for each in indices for one in index.ranges(each)}
        return SourceRanges(found, self._lineage.remap)

    def _all(self, indices: Iterable[int]) -> list[IndexedOperation]:
        return [IndexedOperation(self, self.stage[index]) for index in indices]
