"""The operations of a dump as objects for a Python shell: names, nesting, source ranges.

A user who prints a file that was written by hand finds ``%4`` where the file has ``%conv0``. The
dialects suggest names, so that only MLIR's Python bindings can number values as its printer does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from actiondbg.errors import UsageError
from actiondbg.ir.written_locations import ALIASED, without_trailing_locations
from actiondbg.lineage.dumps.dump_lineage import DumpLineage
from actiondbg.lineage.locations import FileRemap, SourceRange, same_file
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.support.counts import counted

_MOST_TEXT = 2 << 20  # characters: to ask for each name takes longer than to parse


class ParsedOperations:
    """The operations of a dump, parsed by MLIR's Python bindings when they are first needed.

    Without the bindings, or where they cannot parse the dump, the text answers.

    Args:
        stage: the dump.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @cached_property
    def names(self) -> Sequence[str]:
        """Of each operation, the printed name of its first result; empty without results.

        Those of the text in a dump of more than 2 MB.
        """
        if len(self._stage.text) > _MOST_TEXT or self._parsed is None:
            return self._stage.results
        state = import_module("mlir.ir").AsmState(self._parsed[0])
        return [
            one.results[0].get_name(state) if len(one.results) else "" for one in self._parsed[1]
        ]

    @cached_property
    def operations(self) -> Sequence[Any]:
        """Of each operation, its ``mlir.ir.Operation``, or its ``Operation`` of the text."""
        if self._parsed is None:
            return [Operation(self._stage, index) for index in range(len(self._stage))]
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[Any, Sequence[Any]] | None:
        """The module, and of each operation of the text that of the bindings."""
        try:
            ir: Any = import_module("mlir.ir")
            context = ir.Context()
            context.allow_unregistered_dialects = True
            context.enable_multithreading(False)  # as the shell may fork
            context.attach_diagnostic_handler(_ignore)
            module = ir.Module.parse(self._stage.text, context)
        except Exception:  # of a type of the bindings: no bindings, or they cannot parse it
            return None
        found = self._matched(_walked(ir, module.operation))
        return None if found is None else (module.operation, found)

    def _matched(self, walked: Sequence[Any]) -> Sequence[Any] | None:
        """Return the operations of the text: MLIR has more, such as implicit terminators."""
        found: list[Any] = []
        others = iter(walked)
        for name, result in zip(self._stage.names, self._stage.results, strict=True):
            for one in others:
                if one.name == name and bool(len(one.results)) == bool(result):
                    found.append(one)
                    break
            else:
                return None
        return found


def _ignore(_diagnostic: object) -> bool:
    return True


def _walked(ir: Any, root: Any) -> list[Any]:
    """Return operations in the order of the text."""
    found: list[Any] = []

    def add(operation: Any) -> Any:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    root.walk(add, ir.WalkOrder.PRE_ORDER)
    return found


# --- source ranges ---


_WRITTEN = re.compile(r"(?P<file>.+?):(?P<from>\d+):(?P<at>\d+)(?:-(?P<to>\d+):(?P<end>\d+))?")


@dataclass(frozen=True, order=True)
class SourceLocation:
    """A position in a source file.

    Args:
        file_path: the file.
        line: from 1; 0 if it is unknown.
        column: from 1; 0 for the whole line.
    """

    file_path: Path
    line: int
    column: int

    @classmethod
    def from_str(cls, text: str) -> SourceLocation:
        """Return the position that ``FILE:LINE:COLUMN`` writes.

        Raises:
            UsageError: it is no position.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None or match["to"]:
            raise UsageError(f"Invalid source position {text!r}: write FILE:LINE:COLUMN.")
        return cls(Path(match["file"]), int(match["from"]), int(match["at"]))

    @classmethod
    def from_strs(cls, texts: Iterable[str]) -> list[SourceLocation]:
        """Return the positions of several texts; see ``from_str``."""
        return [cls.from_str(text) for text in texts]

    @classmethod
    def unknown(cls) -> SourceLocation:
        """Return the position in no file."""
        return cls(Path("unknown"), 0, 0)

    @property
    def is_unknown(self) -> bool:
        """Whether the line is unknown."""
        return self.line <= 0

    def __str__(self) -> str:
        return "unknown" if self.is_unknown else f"{self.file_path}:{self.line}:{self.column}"


class SourceRanges:
    """A set of source ranges.

    Args:
        ranges: the ranges.
        remap: names of source files that others replace.
    """

    def __init__(self, ranges: Iterable[SourceRange], remap: FileRemap | None = None) -> None:
        self.ranges = tuple(sorted(set(ranges)))
        self._remap = remap or FileRemap()

    @classmethod
    def from_str(cls, text: str) -> SourceRanges:
        """Return the range that a text such as ``a.mlir:3:5`` or ``a.mlir:3:5-4:1`` writes.

        Raises:
            UsageError: it is no range.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise UsageError(
                f"Invalid source range {text!r}: write FILE:LINE:COLUMN or "
                "FILE:LINE:COLUMN-LINE:COLUMN."
            )
        line, column = int(match["from"]), int(match["at"])
        end_line, end_column = int(match["to"] or line), int(match["end"] or column)
        return cls([SourceRange(match["file"], line, column, end_line, end_column)])

    @classmethod
    def from_strs(cls, texts: Iterable[str]) -> list[SourceRanges]:
        """Return the ranges of several texts; see ``from_str``."""
        return [cls.from_str(text) for text in texts]

    @classmethod
    def of(cls, source: Source) -> SourceRanges:
        """Return ranges, a position as a range, or what a text writes.

        Raises:
            UsageError: it is none of them.
        """
        if isinstance(source, SourceLocation):
            known = not source.is_unknown
            return cls([_range(source, source)] if known else ())
        if isinstance(source, SourceRanges):
            return source
        if not isinstance(source, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Expected a source range or FILE:LINE:COLUMN, got {source!r}.")
        return cls.from_str(source)

    @classmethod
    def unknown(cls) -> SourceRanges:
        """Return no range."""
        return cls(())

    @property
    def is_unknown(self) -> bool:
        """Whether no line is known."""
        return not self._known

    @property
    def start(self) -> SourceLocation:
        """The first position, in the first of the files."""
        if self.is_unknown:
            return SourceLocation.unknown()
        first = self._known[0]
        return SourceLocation(Path(first.file), first.line, first.column)

    @property
    def end(self) -> SourceLocation:
        """The last position in the same file; it belongs to the range."""
        if self.is_unknown:
            return SourceLocation.unknown()
        within = (one for one in self._known if one.file == self._known[0].file)
        last = max(within, key=lambda one: one.end)
        return SourceLocation(Path(last.file), last.end_line, last.end_column)

    @property
    def file_path(self) -> Path:
        """The file of the first position."""
        return self.start.file_path

    def overlaps(self, other: Source) -> bool:
        """Whether a range of the one overlaps a range of the other."""
        return any(
            one.meets(two) and self._share_file(one, two)
            for one in self.ranges
            for two in SourceRanges.of(other).ranges
        )

    def contains(self, other: Source) -> bool:
        """Whether the ranges contain a position, or all of other ranges."""
        inner = SourceRanges.of(other)
        return not inner.is_unknown and all(
            any(
                one.start <= two.start and two.end <= one.end and self._share_file(one, two)
                for one in self._known
            )
            for two in inner._known
        )

    def merge(self, other: SourceRanges) -> SourceRanges:
        """Return the range from the first position of both to the last.

        Raises:
            UsageError: they are in several files.
        """
        if self.is_unknown or other.is_unknown:
            return other if self.is_unknown else self
        known = [*self._known, *other._known]
        apart = next((one for one in known if not self._share_file(known[0], one)), None)
        if apart is not None:
            raise UsageError(
                f"Source ranges of {known[0].file!r} and {apart.file!r} cannot be merged: "
                "a range is in one file."
            )
        first, last = min(known, key=lambda one: one.start), max(known, key=lambda one: one.end)
        ends = (first.line, first.column, last.end_line, last.end_column)
        return SourceRanges([SourceRange(known[0].file, *ends)], self._remap)

    def try_merge(self, other: SourceRanges) -> SourceRanges:
        """Return what ``merge`` does, or the ranges themselves if they are in several files."""
        try:
            return self.merge(other)
        except UsageError:
            return self

    @property
    def _known(self) -> tuple[SourceRange, ...]:
        return tuple(one for one in self.ranges if one.is_known)

    def _share_file(self, one: SourceRange, two: SourceRange) -> bool:
        return same_file(self._remap(one.file), self._remap(two.file))

    def get_content(self) -> str:
        """Return the text of the ranges in their files; of a position its whole line.

        Raises:
            UsageError: a file cannot be read, or has no such line.
        """
        return "\n".join(_content(one, self._remap) for one in self._known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceRanges) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return hash(self.ranges)

    def __lt__(self, other: SourceRanges) -> bool:
        return self.ranges < other.ranges

    def __str__(self) -> str:
        return ", ".join(map(str, self.ranges)) or "unknown"

    def __repr__(self) -> str:
        return f"<{self}>"


Source = SourceRanges | SourceLocation | str


def _range(start: SourceLocation, end: SourceLocation) -> SourceRange:
    return SourceRange(str(start.file_path), start.line, start.column, end.line, end.column)


def _content(one: SourceRange, remap: FileRemap) -> str:
    file = Path(one.file)
    if not file.exists():
        file = Path(remap(one.file))
    try:
        lines = file.read_text(errors="replace").split("\n")
    except OSError as error:
        raise UsageError(
            f"The source {one.file!r} cannot be read: {error.strerror or error}."
        ) from error
    if one.line > len(lines):
        raise UsageError(f"The source {one.file!r} has no line {one.line}.")
    found = lines[one.line - 1 : one.end_line]
    if (one.line, one.column) == (one.end_line, one.end_column) or not one.column:
        return found[0]
    if one.end_line <= len(lines):
        found[-1] = found[-1][: one.end_column]
    found[0] = found[0][one.column - 1 :]
    return "\n".join(found)


# --- operations ---


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


# --- functions over operations: tracked, shrunk to parents, shown ---


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
        return without_trailing_locations(_dedented(found[0].text))
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
