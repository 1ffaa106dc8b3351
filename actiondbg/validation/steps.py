"""The actions of a recording that changed IR, with the IR before and after each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from actiondbg.analysis.pipeline import PASS_TAG, is_adaptor
from actiondbg.validation.judgement import Judgement, Query

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_COLUMNS = ("ordinal", "tag", "name", "op", "file", "line", "col", "function", "parent")
_MODULE = "builtin.module"
_FOLD = "fold"
_ITERATION = "GreedyPatternRewriteIteration"


@dataclass(frozen=True, slots=True)
class Step:
    """An action that changed IR.

    Args:
        ordinal: its number.
        tag: its kind.
        name: its subject.
        op: the name of its operation, or None.
        file: of the operation's location, or None.
        line: in it, from 1, or None.
        col: likewise.
        function: the symbol of the function around the operation, or None.
    """

    ordinal: int
    tag: str
    name: str
    op: str | None
    file: str | None
    line: int | None
    col: int | None
    function: str | None

    @property
    def is_pass(self) -> bool:
        return self.tag == PASS_TAG

    def __str__(self) -> str:
        name = f" ({self.name})" if self.name else ""
        place = f" on {self.op}" if self.op else ""
        where = f" at {self.file}:{self.line}:{self.col}" if self.file and self.line else ""
        return f"#{self.ordinal} {self.tag}{name}{place}{where}"


class Steps:
    """The changing actions of a recording with the IR of functions.

    Args:
        recording: made with ``--ir function``.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @cached_property
    def passes(self) -> list[Step]:
        """Passes that changed IR and have no other such pass in them, in order.

        Of a run without passes, the outermost actions that changed IR.
        """
        found = [each for each in self._steps.values() if each.is_pass and self._is_own(each)]
        around = {self._pass_around(each) for each in found}
        innermost = [each for each in found if each.ordinal not in around]
        return innermost or self._nested[0]

    def inside(self, step: Step) -> list[Step]:
        """Return the changing actions directly in an action, in order.

        Folds outside of a greedy iteration are left out: the code around them goes on with their
        results, and the recorded IR after them has what that code did.
        """
        return [
            each
            for each in self._nested[step.ordinal]
            if each.tag != _FOLD or self._tags.get(self._parents[each.ordinal]) == _ITERATION
        ]

    @property
    def count(self) -> int:
        """The number of changing actions."""
        return len(self._steps)

    def queries(self, step: Step) -> Iterator[Query]:
        """Yield the texts before and after an action, of each operation that was recorded."""
        suspect = step.name if step.is_pass else self._pass_of(step)
        for snapshot in self._recording.snapshots(step.ordinal):
            if snapshot.before is None or snapshot.after is None:
                continue
            name = self._operations.get(snapshot.operation, "")
            if name == _MODULE:
                yield Query(snapshot.before, snapshot.after, suspect=suspect)
            else:
                symbol = self._symbols.get(snapshot.operation) or step.function or ""
                module = self._module_before(step.ordinal)
                yield Query(snapshot.before, snapshot.after, symbol, module, suspect)

    @property
    def run_seconds(self) -> float:
        """The time of the outermost actions."""
        table = self._recording.table("actions", ["parent", "duration_ns"]).to_pylist()
        return sum(row["duration_ns"] or 0 for row in table if not row["parent"]) / 1e9

    def nest_lines(self, step: Step, judgement: Judgement) -> list[tuple[str, str, int]]:
        """Return the changed nests of a function: the operation, its file and its line.

        Nests are left out whose place is not certain, as earlier actions have made some.
        """
        found: list[tuple[str, str, int]] = []
        for nest in judgement.nests:
            rows = [
                (row["line"], row["col"], row["file"])
                for row in self._operation_rows
                if row["op"] == nest.name
                and row["function"] == judgement.symbol
                and (row["created_by"] or 0) < step.ordinal <= (row["erased_by"] or step.ordinal)
            ]
            if len(rows) == nest.total and all(file and line for line, _, file in rows):
                line, _, file = sorted(rows)[nest.number]
                found.append((nest.name, file, line))
        return found

    @cached_property
    def _operation_rows(self) -> list[dict[str, Any]]:
        columns = ["op", "file", "line", "col", "function", "created_by", "erased_by"]
        return self._recording.table("operations", columns).to_pylist()

    def _is_own(self, step: Step) -> bool:
        return not is_adaptor(step.name)

    def _pass_around(self, step: Step) -> int:
        """Return the ordinal of the next pass around a step, or 0."""
        ordinal = self._parents[step.ordinal]
        while ordinal:
            around = self._steps.get(ordinal)
            if around is not None and around.is_pass and self._is_own(around):
                return ordinal
            ordinal = self._parents[ordinal]
        return 0

    def _pass_of(self, step: Step) -> str:
        """Return the name of the pass around a step; "" if there is none."""
        around = self._steps.get(self._pass_around(step))
        return "" if around is None else around.name

    def _module_before(self, ordinal: int) -> str:
        """Return the text of the module that was recorded last before an action, or around it."""
        while ordinal:
            for snapshot in self._recording.snapshots(ordinal):
                is_module = self._operations.get(snapshot.operation) == _MODULE
                if is_module and snapshot.before:
                    return snapshot.before
            ordinal = self._parents[ordinal]
        return ""

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return self._recording.table("actions", list(_COLUMNS)).to_pylist()

    @cached_property
    def _tags(self) -> dict[int, str]:
        return {row["ordinal"]: row["tag"] for row in self._rows}

    @cached_property
    def _parents(self) -> dict[int, int]:
        return {row["ordinal"]: row["parent"] or 0 for row in self._rows}

    @cached_property
    def _steps(self) -> dict[int, Step]:
        table = self._recording.table("ir", ["ordinal"])
        held = set(table["ordinal"].to_pylist())
        return {
            row["ordinal"]: Step(**{name: row[name] for name in _COLUMNS if name != "parent"})
            for row in self._rows
            if row["ordinal"] in held
        }

    @cached_property
    def _nested(self) -> defaultdict[int, list[Step]]:
        """The steps directly in each one, and in 0 the outermost ones."""
        found: defaultdict[int, list[Step]] = defaultdict(list)
        for step in self._steps.values():
            around = self._parents[step.ordinal]
            while around and around not in self._steps:
                around = self._parents[around]
            found[around].append(step)
        return found

    @cached_property
    def _operations(self) -> dict[int, str]:
        return self._column("op")

    @cached_property
    def _symbols(self) -> dict[int, str]:
        return self._column("function")

    def _column(self, name: str) -> dict[int, str]:
        table = self._recording.table("operations", ["operation", name])
        return dict(zip(*(table[each].to_pylist() for each in table.column_names), strict=True))
