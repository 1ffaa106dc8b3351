"""Stages: the operations of one IR, in the order of its text, and those that users name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple

from actiondbg.errors import UsageError
from actiondbg.ir.tokens import CHARACTERS, RESULT, VALUE, symbol_name, unescaped
from actiondbg.ir.tree.scanner import scan
from actiondbg.ir.tree.tree import Tree, grouped
from actiondbg.lineage.locations import (
    Location,
    LocationIndex,
    LocationTable,
    OwnLines,
    SourceRange,
    same_file,
)
from actiondbg.support.globs import check_glob, glob_matches, is_literal

_SHOWN = 12  # stages that a message names


def stage_title(name: str) -> str:
    """Return a stage as a noun of a sentence: the output, the IR after a pass, or a file."""
    if re.match(r"(input|output|end)( of |$)", name):
        return f"the {name}"
    return f"the IR {name}" if name.startswith("after ") else name


def is_constant(name: str) -> bool:
    """Whether operations with a name are constants, of any dialect."""
    return name.rpartition(".")[2] in ("constant", "const", "const_shape")


def is_call(name: str) -> bool:
    """Whether operations with a name call functions, of any dialect."""
    return name.rpartition(".")[2].startswith(("call", "invoke"))


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a stage."""

    stage: Stage
    index: int

    @property
    def node(self) -> int:
        """Its number in the lineage; the operation id, as in ``@12``, of a recorded run."""
        return self.stage.nodes[self.index]

    @property
    def name(self) -> str:
        """Its name, such as ``linalg.matmul``."""
        return self.stage.names[self.index]

    @property
    def result(self) -> str:
        """The name of its first result, such as ``%3`` (of ``%3:2``); empty without results."""
        return self.stage.results[self.index]

    @property
    def symbol(self) -> str:
        """The symbol that it defines, without the ``@``; empty for none."""
        return self.stage.symbols.get(self.index, "")

    @property
    def location(self) -> Location:
        """Its source location."""
        return self.stage.locations[self.index]

    @property
    def line(self) -> int:
        """The line of the stage's text on which it begins, from 1."""
        return self.stage.lines[self.index]

    @property
    def parent(self) -> Operation | None:
        """The operation around it."""
        parent = self.stage.parents[self.index]
        return None if parent < 0 else Operation(self.stage, parent)

    @property
    def around(self) -> list[Operation]:
        """The operations around it, the innermost first."""
        return [Operation(self.stage, one) for one in self.stage.around(self.index)]

    @property
    def children(self) -> list[Operation]:
        """The operations directly in its regions."""
        return [Operation(self.stage, child) for child in self.stage.children(self.index)]

    @property
    def text(self) -> str:
        """Its lines in the stage's text, those of its regions included."""
        return self.stage.text_of(self.index)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.name} {self.result} line {self.line} of {self.stage.title}>"


@dataclass(eq=False, kw_only=True)
class Stage(Tree):
    """The operations of one IR: a dump, or a snapshot of a recorded run.

    Args:
        name: what users call it, such as ``input``, ``after cse #17`` or ``B.mlir``.
        nodes: of each operation its number in the lineage.
        locations: the source location of each.
        is_listing: whether the text is no IR, but lists the operations: the run ended without an
            output.
        actions: the number of actions that had begun then; None for all, or if it is unknown.
        is_part: whether only functions of the module are known then.
        further: by the name that the input gave to a further result, the numbers of operations
            whose results are printed under the name of the first, as ``%x:2``.
    """

    name: str
    nodes: Sequence[int]
    locations: Sequence[Location]
    is_listing: bool = False
    actions: int | None = None
    is_part: bool = False
    further: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])

    @property
    def title(self) -> str:
        """The name as a noun of a sentence; see ``stage_title``."""
        return stage_title(self.name)

    def __iter__(self) -> Iterator[Operation]:
        return (Operation(self, index) for index in range(len(self)))

    def __getitem__(self, index: int) -> Operation:
        return Operation(self, range(len(self))[index])

    @property
    def first_node(self) -> int:
        """The number of its first operation in the lineage; 0 without operations."""
        return self.nodes[0] if len(self) else 0

    @cached_property
    def _index_of_node(self) -> dict[int, int]:
        return {node: index for index, node in enumerate(self.nodes)}

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        return grouped(self.names)

    @cached_property
    def _by_result(self) -> dict[str, list[int]]:
        return grouped(self.results)

    @cached_property
    def location_index(self) -> LocationIndex:
        """Its operations by source location."""
        return LocationIndex(self.locations)

    def of_node(self, node: int) -> Operation | None:
        """Return the operation with a number in the lineage."""
        index = self._index_of_node.get(node)
        return None if index is None else Operation(self, index)

    def named(self, name: str) -> list[Operation]:
        """Return the operations with a name such as ``linalg.matmul``."""
        return [Operation(self, index) for index in self._by_name.get(name, ())]

    def with_result(self, value: str) -> list[Operation]:
        """Return the operations whose first result has a name such as ``%3``, or a further one."""
        further = (self.of_node(node) for node in self.further.get(value, ()))
        indices = {one.index for one in further if one is not None}
        indices.update(self._by_result.get(value, ()))
        return [Operation(self, index) for index in sorted(indices)]

    def with_symbol(self, symbol: str) -> list[Operation]:
        """Return the operations that define a symbol, given without the ``@``."""
        return [Operation(self, index) for index, one in self.symbols.items() if one == symbol]

    def on_line(self, line: int) -> list[Operation]:
        """Return the operations that begin on a line of the text, from 1."""
        first = bisect_right(self.lines, line - 1)
        last = bisect_right(self.lines, line)
        return [Operation(self, index) for index in range(first, last)]

    def asked(self, index: int, nested: bool | None) -> range:
        """Return the indices of the operations that answer for one.

        Args:
            index: of the operation.
            nested: whether those in its regions do; None: unless it is a module, or defines a
                symbol as functions do.
        """
        if nested is None:
            nested = self.has_body(index)
        return self.nested(index) if nested else range(index, index + 1)

    def has_body(self, index: int) -> bool:
        """Whether the operations in the regions of one answer for it: not those of functions."""
        return self.parents[index] >= 0 and not self.symbols.get(index)


def symbol_around(operation: Operation) -> str:
    """Return the innermost symbol around an operation; empty for none."""
    return next((one.symbol for one in operation.around if one.symbol), "")


def chosen_stage(stages: Sequence[Stage], text: str) -> Stage:
    """Return the stage that a user means.

    Args:
        stages: those of the lineage.
        text: its name or file, ``#17``, or a pass; of several matches the last one.

    Raises:
        UsageError: there is no such stage.
    """
    for stage in stages:
        if text in (stage.name, PurePath(stage.name).name):
            return stage
    # As in "after cse #17".
    wanted = re.compile(rf"(?:^|[\s:#]){re.escape(text.removeprefix('#'))}(?:$|\s)")
    for stage in reversed(stages):
        if wanted.search(stage.name):
            return stage
    names = [stage.name for stage in stages]
    some = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    raise UsageError(f"There is no stage {text!r} in this lineage: choose one of {some}.")


# --- texts that no recording describes: dumps, and the modules of a log ---


class ScannedStage(NamedTuple):
    """A stage, and a sentence about what could not be read of its text; empty if all was."""

    stage: Stage
    note: str


def scanned_stage(
    text: str,
    name: str,
    *,
    file: str | None = None,
    first_node: int = 0,
    partial: bool = False,
) -> ScannedStage:
    """Return the stage of a text.

    Args:
        text: the IR; several modules too.
        name: what users call it.
        file: its path, if users know it as a file: an operation without a location then has its
            own line and column in that file, as MLIR's parser gives it.
        first_node: the number of its first operation; the numbers of the others follow.
        partial: use what can be read of a text whose brackets do not match.

    Raises:
        BrokenText: the brackets do not match.
    """
    scanned = scan(text, name, partial=partial)
    own_lines = None if file is None else OwnLines(file, text, scanned.locations.offsets)
    stage = Stage(
        **vars(scanned.tree),
        name=name,
        nodes=range(first_node, first_node + len(scanned.tree)),
        locations=LocationTable(scanned.locations, own_lines),
    )
    return ScannedStage(stage, scanned.note)


# --- operations as users name them: a value, a symbol, a source line, or a name ---


_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+)(?::(?P<column>\d+))?")
_VALUE = re.compile(rf"{VALUE}(?:#\d+)?")


def select(stage: Stage, text: str) -> list[Operation]:
    """Return the operations of a stage that a text names, in the order of the stage.

    Args:
        stage: the operations.
        text: a value ``%x``, also an argument of a block, for the operation around
            the block; a symbol ``@f``; a place ``FILE:LINE`` or ``FILE:LINE:COLUMN`` of a source;
            or the name of operations, such as ``linalg.matmul`` or ``linalg.*``.

    Raises:
        UsageError: it names no operation.
    """
    if text.startswith("%"):
        found = _of_value(stage, text)
    elif text.startswith("@"):
        found = _of_symbol(stage, text)
    elif place := _PLACE.fullmatch(text):
        found = _at_place(stage, place)
    else:
        found = _of_name(stage, text)
    if not found:
        raise UsageError(_unknown(stage, text))
    return found


def _of_value(stage: Stage, text: str) -> list[Operation]:
    if not _VALUE.fullmatch(text):
        raise UsageError(f"Invalid value {text!r}: write a name such as %3 or %arg0.")
    value = text.partition("#")[0]
    found = stage.with_result(value)
    if found:
        return found
    # Neither a first result: another one, or an argument. The text is searched once.
    name = re.escape(value)
    defines = re.compile(
        rf"(?m)^[ \t]*(?:{RESULT},\s*)+{name}(?::\d+)?\s*[,=]|{name}\s*(?::(?!:)|=(?!=))"
    )
    owners = dict[int, None]()
    for match in defines.finditer(stage.text):
        line = stage.text.count("\n", 0, match.end()) + 1
        owner = bisect_right(stage.lines, line) - 1
        if owner >= 0:
            owners[_around(stage, owner, line)] = None
    return [stage[owner] for owner in owners]


def _around(stage: Stage, index: int, line: int) -> int:
    """Return the innermost operation around a line: a label stands in no operation before it."""
    while stage.last_lines[index] < line and stage.parents[index] >= 0:
        index = stage.parents[index]
    return index


def _of_symbol(stage: Stage, text: str) -> list[Operation]:
    """Return the operations that a symbol names: as MLIR writes it, or without its quotes."""
    for path in dict.fromkeys((symbol_name(text), text.replace("@", ""))):
        *outer, last = path.split("::")
        inside = outer[::-1]
        found = [
            operation
            for operation in stage.with_symbol(last)
            if [one.symbol for one in operation.around if one.symbol][: len(outer)] == inside
        ]
        if found:
            return found
    return []


def _at_place(stage: Stage, place: re.Match[str]) -> list[Operation]:
    file, line, column = place["file"], int(place["line"]), int(place["column"] or 0)
    asked = SourceRange(file, line, column, line, column)
    found = stage.location_index.overlapping([asked])
    # The lines of the dump itself, if its operations have locations in other files.
    if not found and same_file(stage.name, file):
        return stage.on_line(line)
    return [stage[one] for one in sorted(found)]


def _of_name(stage: Stage, text: str) -> list[Operation]:
    if is_literal(text):
        return stage.named(text)
    check_glob(text, text, 0)
    wanted = {name for name in set(stage.names) if glob_matches(text, name)}
    return [stage[at] for at, name in enumerate(stage.names) if name in wanted]


def _unknown(stage: Stage, text: str) -> str:
    start = f"No operation of {stage.title}"
    if text.startswith("%"):
        return f"{start} defines {text}."
    if text.startswith("@"):
        return f"{start} defines the symbol {text}."
    if _PLACE.fullmatch(text):
        files = _some(stage.location_index.files)
        return f"{start} is at {text}: its locations are in {files}."
    near = sorted({name for name in stage.names if _last_part(name) == _last_part(text)})
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{start} is named {text!r}: write %value, @symbol, FILE:LINE or a name.{hint}"


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _some(files: Sequence[str]) -> str:
    return ", ".join(repr(file) for file in files[:3]) or "no file"


# --- the lines of the file to which the locations of a stage point ---


_FILE_AND_LINE = re.compile(rf'"({CHARACTERS})":(\d+):\d+')
_ENOUGH = 0.9  # the part of the operations whose names have to be on their lines


class StageLines(NamedTuple):
    """A text with the lines of operations in it.

    Args:
        name: the file, or the name of the stage.
        lines: its lines.
        of: by index of an operation, its line, from 1.
    """

    name: str
    lines: list[str]
    of: dict[int, int]


@lru_cache(maxsize=65536)
def places(location: Location) -> tuple[tuple[str, int], ...]:
    """Return the files and lines that a location names, without duplicates; 0 is no line."""
    found = ((unescaped(file), int(line)) for file, line in _FILE_AND_LINE.findall(location.text))
    return tuple(dict.fromkeys(place for place in found if place[1]))


def source_lines(stage: Stage) -> StageLines:
    """Return the file of the input if the locations of all operations point to it, else its IR.

    A file that was changed since is not shown: the names of operations have to be on their lines.
    """
    own = StageLines(stage.name, stage.text_lines, dict(enumerate(stage.lines)))
    # A file need not have the module, and the custom form leaves bodies out, which then begin on
    # the line of the operation before them.
    shown = [
        index
        for index in range(len(stage))
        if (not index or stage.lines[index] != stage.lines[index - 1])
        and not stage.names[index].endswith("module")
    ]
    found = {index: places(location) for index, location in enumerate(stage.locations)}
    files = {file for of_one in found.values() for file, _ in of_one}
    if len(files) != 1:
        return own
    file = Path(files.pop())
    try:
        text = file.read_text(errors="replace").split("\n")
    except OSError:
        return own
    lines = {index: of_one[0][1] for index, of_one in found.items() if len(of_one) == 1}
    right = sum(
        index in lines
        and lines[index] <= len(text)
        and _short_name(stage[index]) in text[lines[index] - 1]
        for index in shown
    )
    return StageLines(str(file), text, lines) if shown and right >= _ENOUGH * len(shown) else own


def _short_name(operation: Operation) -> str:
    return operation.name.rpartition(".")[2]
