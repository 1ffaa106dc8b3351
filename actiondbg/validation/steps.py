"""The actions of a recording that changed IR, with the IR before and after each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.protocol.tags import FOLD_TAG, ITERATION_TAG, PASS_TAG
from actiondbg.validation.function_judgement import FunctionJudgement, Query

if TYPE_CHECKING:
    from actiondbg.recording.format.arrow import Table
    from actiondbg.recording.recording import Recording
    from actiondbg.recording.tables.snapshots import Snapshot

_STEP_COLUMNS = ["ordinal", "tag", "name", "op", "file", "line", "col", "function"]
_COLUMNS = (*_STEP_COLUMNS, "parent")
_MODULE = "builtin.module"
_MODULE_WEIGHT = 4  # it has several functions


@dataclass(frozen=True, slots=True)
class ValidationStep:
    """An action that changed IR."""

    ordinal: int  # its number
    tag: str  # its kind
    name: str  # its subject
    op: str | None  # the name of its operation, or None
    file: str | None  # of the operation's location, or None
    line: int | None  # in it, from 1, or None
    col: int | None  # likewise
    function: str | None  # the symbol of the function around the operation, or None

    @property
    def is_pass(self) -> bool:
        return self.tag == PASS_TAG

    @property
    def is_own_pass(self) -> bool:
        """Whether it is a pass, and no adaptor."""
        return self.is_pass and not is_adaptor(self.name)

    @property
    def weight(self) -> int:
        """How long it takes to judge it, about, among the others of a run."""
        return _MODULE_WEIGHT if self.op == _MODULE else 1

    def __str__(self) -> str:
        name = f" ({self.name})" if self.name else ""
        place = f" on {self.op}" if self.op else ""
        where = f" at {self.file}:{self.line}:{self.col}" if self.file and self.line else ""
        return f"#{self.ordinal} {self.tag}{name}{place}{where}"


# Runs the tool again: returns a recording with the IR of functions around some actions, which may
# be cut off after some seconds; None if there is none.
Rerun: TypeAlias = "Callable[[range, float], Recording | None]"


class Steps:
    """The changing actions of a recording with the IR of functions.

    Args:
        recording: made with ``--ir function``, or with ``--ir pass``.
        rerun: records the IR inside a pass, for a recording made with ``--ir pass``. Without it the
            actions inside passes are not known.
    """

    def __init__(self, recording: Recording, rerun: Rerun | None = None) -> None:
        self._recording = recording
        self._rerun = rerun
        self._texts = [_Texts(recording)]
        self._looked_into: list[range] = []

    @cached_property
    def passes(self) -> list[ValidationStep]:
        """Passes that changed IR, also those in others, in order.

        Of a run without passes, the outermost actions that changed IR.
        """
        found = [each for each in self._steps.values() if each.is_own_pass]
        return found or self._nested[0]

    def look_into(self, step: ValidationStep, seconds: float) -> int:
        """Make the actions in a pass known; returns how many changing ones are not.

        The seconds are for another run of the tool; none is made without any.
        """
        is_open = self._recording.header.ir == "pass" and step.is_pass
        if not is_open or any(step.ordinal in each for each in self._looked_into):
            return 0
        ordinals = range(step.ordinal, self._last_in(step.ordinal) + 1)
        self._looked_into.append(ordinals)
        open_actions = self._changing - self._steps.keys()
        changing = [each for each in ordinals if each in open_actions]
        if not changing:
            return 0
        recording = None
        if self._rerun is not None and seconds > 0:
            recording = self._rerun(ordinals, seconds)
        known = 0
        if recording is not None:
            again = recording.table("actions", ["parent"])["parent"].to_pylist()
            is_same = [each or 0 for each in again] == list(self._parents.values())[: len(again)]
            known = len(again) if is_same else 0
        if recording is not None and known:
            self._texts.append(_Texts(recording))
            for name in ("_steps", "_nested"):
                self.__dict__.pop(name, None)
        return sum(each > known for each in changing)

    def inside(self, step: ValidationStep) -> list[ValidationStep]:
        """Return the changing actions directly in an action, in order.

        Folds outside of a greedy iteration are left out: the code around them goes on with their
        results, and the recorded IR after them has what that code did.
        """
        return [
            each
            for each in self._nested[step.ordinal]
            if each.tag != FOLD_TAG or self._tags.get(self._parents[each.ordinal]) == ITERATION_TAG
        ]

    def queries(self, step: ValidationStep) -> Iterator[Query]:
        """Yield the texts before and after an action, of each operation that was recorded."""
        suspect = step.name if step.is_pass else self._pass_of(step)
        for text in self._texts_of(step.ordinal):
            before, after = text.snapshot.before, text.snapshot.after
            if before is None or after is None:
                continue
            if text.op == _MODULE:
                yield Query(before, after, suspect=suspect)
            else:
                symbol = text.symbol or step.function or ""
                module = self._module_before(step.ordinal)
                yield Query(before, after, symbol, module, suspect)

    @property
    def run_seconds(self) -> float:
        """The time of the outermost actions."""
        table = self._recording.table("actions", ["parent", "duration_ns"]).to_pylist()
        return sum(row["duration_ns"] or 0 for row in table if not row["parent"]) / 1e9

    def nest_lines(
        self, step: ValidationStep, judgement: FunctionJudgement
    ) -> list[tuple[str, str, int]]:
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

    def _pass_around(self, step: ValidationStep) -> int:
        """Return the ordinal of the next pass around a step, or 0."""
        ordinal = self._parents[step.ordinal]
        while ordinal:
            around = self._steps.get(ordinal)
            if around is not None and around.is_own_pass:
                return ordinal
            ordinal = self._parents[ordinal]
        return 0

    def _pass_of(self, step: ValidationStep) -> str:
        """Return the name of the pass around a step; "" if there is none."""
        around = self._steps.get(self._pass_around(step))
        return "" if around is None else around.name

    def _module_before(self, ordinal: int) -> str:
        """Return the text of the module that was recorded last before an action, or around it."""
        while ordinal:
            for text in self._texts_of(ordinal):
                if text.op == _MODULE and text.snapshot.before:
                    return text.snapshot.before
            ordinal = self._parents[ordinal]
        return ""

    @cached_property
    def _table(self) -> Table:
        return self._recording.table("actions", [*_COLUMNS, "changed"])

    def _of_all(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield the ordinals of all actions, in order, with a column."""
        return zip(*(self._table[each].to_pylist() for each in ("ordinal", name)), strict=True)

    @cached_property
    def _tags(self) -> dict[int, str]:
        return dict(self._of_all("tag"))

    @cached_property
    def _parents(self) -> dict[int, int]:
        return {ordinal: parent or 0 for ordinal, parent in self._of_all("parent")}

    @cached_property
    def _changing(self) -> set[int]:
        return {ordinal for ordinal, changed in self._of_all("changed") if changed}

    @cached_property
    def _steps(self) -> dict[int, ValidationStep]:
        held = set[int]().union(*(each.ordinals for each in self._texts))
        places = [at for at, ordinal in enumerate(self._parents) if ordinal in held]
        if not places:  # which have no type for Arrow
            return {}
        rows = self._table.select(_STEP_COLUMNS).take(places).to_pylist()
        return {row["ordinal"]: ValidationStep(**row) for row in rows}

    @cached_property
    def _nested(self) -> defaultdict[int, list[ValidationStep]]:
        """The steps directly in each one, and in 0 the outermost ones."""
        found: defaultdict[int, list[ValidationStep]] = defaultdict(list)
        for step in self._steps.values():
            around = self._parents[step.ordinal]
            while around and around not in self._steps:
                around = self._parents[around]
            found[around].append(step)
        return found

    def _last_in(self, ordinal: int) -> int:
        """Return the last action in an action, or itself; the run has one thread."""
        last = ordinal
        while self._parents.get(last + 1, 0) >= ordinal:
            last += 1
        return last

    def _texts_of(self, ordinal: int) -> list[_Text]:
        """Return the IR around an action, of the first recording that has it."""
        for each in self._texts:
            if found := each.of(ordinal):
                return found
        return []


class _Text(NamedTuple):
    """Recorded IR: its operation, the symbol of its function, and the texts."""

    op: str
    symbol: str
    snapshot: Snapshot


class _Texts:
    """The recorded IR of a recording."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @cached_property
    def ordinals(self) -> set[int]:
        """The actions of which IR is recorded."""
        return set(self._recording.table("ir", ["ordinal"])["ordinal"].to_pylist())

    def of(self, ordinal: int) -> list[_Text]:
        """Return the IR around an action."""
        if ordinal not in self.ordinals:
            return []
        return [
            _Text(*self._operations.get(each.operation, ("", "")), each)
            for each in self._recording.snapshots(ordinal)
        ]

    @cached_property
    def _operations(self) -> dict[int, tuple[str, str]]:
        table = self._recording.table("operations", ["operation", "op", "function"])
        return {
            row["operation"]: (row["op"] or "", row["function"] or "") for row in table.to_pylist()
        }
