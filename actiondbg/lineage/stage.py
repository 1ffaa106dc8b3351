"""Stages: the operations of one IR, in the order of its text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from actiondbg.errors import UsageError
from actiondbg.ir.tree.tree import Tree, grouped
from actiondbg.lineage.locations.source_range import Location

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
    """

    name: str
    nodes: Sequence[int]
    locations: Sequence[Location]
    is_listing: bool = False
    actions: int | None = None
    is_part: bool = False

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

    def of_node(self, node: int) -> Operation | None:
        """Return the operation with a number in the lineage."""
        index = self._index_of_node.get(node)
        return None if index is None else Operation(self, index)

    def named(self, name: str) -> list[Operation]:
        """Return the operations with a name such as ``linalg.matmul``."""
        return [Operation(self, index) for index in self._by_name.get(name, ())]

    def with_result(self, value: str) -> list[Operation]:
        """Return the operations whose first result has a name such as ``%3``."""
        return [Operation(self, index) for index in self._by_result.get(value, ())]

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
