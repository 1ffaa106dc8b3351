"""The recorded IR at an event."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.ir.diff import Diff
from actiondbg.ir.value_names import ValueNames
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recorded_text import RecordedOperation, RecordedText, compare
from actiondbg.recording.session.columns import IRColumns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actiondbg.recording.session.changes import OperationColumns

_MOST_TEXTS = 4  # that are kept, with their values


class RecordedIR:
    """Looks up the IR at an event.

    A recording holds the IR before and after each action that changed it: the whole function with
    ``--ir function``, a line for each operation with ``--ir changed``. Between two such actions the
    IR is known while nothing changes it.

    Attributes:
        names: the names of values, which they keep from stop to stop.
    """

    def __init__(self, operations: OperationColumns) -> None:
        self._recording = operations.recording
        self._actions = operations.actions
        self._changes = operations.changes
        self._operations = operations
        self._ir = IRColumns(operations.actions)
        self.names = ValueNames()
        self._texts: dict[int, RecordedText] = {}  # by row, the latest ones
        self._scopes: dict[int, int] = {}

    # --- around an action ---

    def difference(self, ordinal: int, module: bool) -> Diff:
        """Compare the IR before and after an action; the diff is empty if it changed nothing.

        Raises NotRecorded, as the other questions, where the recording does not hold the IR.
        """
        if not self._actions.numbers("changed")[self._actions.place(ordinal)]:
            return Diff("", "")
        self._check_held()
        found = self._recording.snapshots(ordinal)
        if not found and self._recording.header.ir == "pass":
            raise NotRecorded(
                f"{self._recording.path} holds the IR around passes only: name a pass, or record "
                "with --ir function."
            )
        if not found and not self.is_of_functions:
            raise NotRecorded(
                f"{self._recording.path} holds the changes of #{ordinal} with the nested "
                "actions that "
                "made them: 'next-change' goes to these actions."
            )
        if module and any(
            self._operations.name(one.operation) != "builtin.module" for one in found
        ):
            raise NotRecorded(
                f"{self._recording.path} does not hold the module before and after #{ordinal}: "
                "leave --module out."
            )
        return compare(found, self.names, self.is_of_functions)

    @property
    def is_of_functions(self) -> bool:
        """Whether the IR of whole functions is recorded, not a line for each operation."""
        return self._recording.header.has_texts

    def _check_held(self) -> None:
        if not self._recording.header.has_ir:
            raise self._recording.needs_ir

    def _check_functions(self) -> None:
        self._check_held()
        if not self.is_of_functions:
            raise NotRecorded(
                f"{self._recording.path} holds a line for each operation that was changed, and no "
                "functions: record it with --ir function."
            )

    # --- at an event ---

    def function(self, id: int, event: int) -> RecordedText:
        """Return the function that holds an operation."""
        self._check_functions()
        name = self.function_of(id)
        if name is None:
            raise NotRecorded(f"@{id} is not in a function.")
        functions = self._operations.words("function")
        ids = self._operations.numbers("operation")[functions.codes == functions.code(name)]
        inside = self._changes.words("function").where(lambda function: function == name)
        # A conversion keeps the old function beside the new one for a while.
        first = ids[ids == id].tolist()
        return self._whole([*first, *self._newest(ids)], inside, f"@{name}", event)

    def module(self, event: int) -> RecordedText:
        """Return the module."""
        self._check_functions()
        is_module = self._operations.words("op").where(lambda op: op == "builtin.module")
        ids = self._operations.numbers("operation")[is_module]
        everywhere = np.ones(len(self._changes.places), dtype=np.bool_)
        return self._whole(self._newest(ids), everywhere, "the module", event)

    def operation(self, id: int, event: int) -> RecordedOperation:
        """Return an operation."""
        self._check_held()
        if id in self._held:
            return RecordedOperation(self._text(id, self._inside(id), f"@{id}", event))
        if not self.is_of_functions:
            raise NotRecorded(
                f"{self._recording.path} does not hold the IR of @{id} here: no action changed it."
            )
        around = self.around(id, event)
        first = around.line_of(id)
        if first is None:
            raise NotRecorded(
                f"{self._recording.path} does not hold the IR of @{id} here: only operations with "
                "results are found in their function, which print function shows."
            )
        return RecordedOperation(around, first)

    def _first(self, id: int, event: int) -> RecordedOperation:
        """Return an operation whose regions may have changed since."""
        return RecordedOperation(self._text(id, self._own(id), f"@{id}", event))

    def _own(self, id: int) -> Bools:
        """Return which changes are of an operation itself."""
        own = np.zeros(len(self._changes.places), dtype=np.bool_)
        own[self._changes.of(id)] = True
        return own

    def _inside(self, id: int) -> Bools:
        """Return which changes may be in the recorded text of an operation."""
        if not self.is_of_functions:
            return self._own(id)
        function = self._operations.function(id)
        if function is not None and (self._operations.name(id) or "").endswith("func"):
            return self._changes.words("function").where(lambda name: name == function)
        return np.ones(len(self._changes.places), dtype=np.bool_)

    def around(self, id: int, event: int) -> RecordedText:
        """Return the function that holds an operation, or the module."""
        try:
            return self.function(id, event)
        except NotRecorded:
            with contextlib.suppress(NotRecorded):
                return self.module(event)
            raise

    def first_line(self, id: int, event: int) -> str | None:
        """Return an operation without its regions; None where it is not recorded."""
        try:
            found = self.operation(id, event) if id not in self._held else self._first(id, event)
            return found.text(skip_regions=True)
        except NotRecorded:
            return None

    # --- operations of which only texts are recorded ---

    def note(self, id: int, scope: int) -> None:
        """Note in which function an operation is: no action has touched it."""
        self._scopes[id] = scope

    def function_of(self, id: int) -> str | None:
        """Return the symbol of the function around an operation, or of the function itself."""
        return self._operations.function(id) or self._operations.function(self._scopes.get(id, 0))

    # --- any texts ---

    def texts_near(self, id: int, event: int) -> Iterator[RecordedText]:
        """Yield a text of each function and module that is held, with the values in it.

        Those of an operation's function and of the module come first; of two texts of a function,
        the nearest to an event is yielded.
        """
        name = self._operations.function(id)
        first = [one for one in self._held if self._operations.function(one) in (name, None)]
        # A conversion keeps the old function beside the new one for a while.
        alive = [one for one in self._held if self._operations.is_alive(one, event)]
        for one in sorted(alive, key=lambda one: (one not in first, one != id, -one)):
            rows, events = self._rows(one)
            at = int(np.searchsorted(events, event, side="right"))
            yield self._of(rows[max(at - 1, 0)])

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the operation and the text of each line of ``--ir changed``."""
        columns = self._recording.table("ir", ["operation", "text"]).to_pydict()
        yield from zip(columns["operation"], columns["text"], strict=True)

    def _newest(self, ids: Ints) -> list[int]:
        """Return the operations whose IR is recorded, the newest first."""
        return sorted(self._held.intersection(ids.tolist()), reverse=True)

    def _whole(self, ids: Iterable[int], inside: Bools, what: str, event: int) -> RecordedText:
        """Return the IR of the first operation that is recorded and alive."""
        for id in ids:
            if id in self._held and self._operations.is_alive(id, event):
                return self._text(id, inside, what, event)
        raise NotRecorded(f"{self._recording.path} holds no IR of {what}: no action changed it.")

    def _text(self, id: int, inside: Bools, what: str, event: int) -> RecordedText:
        """Return the IR of an operation at an event.

        ``inside`` are the changes in the operation; ``what`` names it in an error.
        """
        rows, events = self._rows(id)
        at = int(np.searchsorted(events, event, side="right"))
        before, after = rows[:at][-1:], rows[at:][:1]
        if len(before) and self._unchanged(inside, int(events[at - 1]), event):
            return self._of(before[0])
        if len(after) and self._unchanged(inside, event, int(events[at])):
            return self._of(after[0])
        if len(before) and len(after) and self._ir.text(before[0]) == self._ir.text(after[0]):
            return self._of(before[0])
        when, ordinals = self._ir.words("when"), self._ir.numbers("ordinal")
        places = [f"{when.of(row)} #{ordinals[row]}" for row in (*before, *after)]
        held = f"it holds this IR {' and '.join(places)}" if places else "no action changed it"
        raise NotRecorded(f"{self._recording.path} does not hold the IR of {what} here: {held}.")

    def _rows(self, id: int) -> tuple[Ints, Ints]:
        """Return the rows of an operation and their events, in order."""
        rows = np.flatnonzero(self._ir.numbers("operation") == id)
        rows = rows[np.argsort(self._ir.events[rows], kind="stable")]
        return rows, self._ir.events[rows]

    def _unchanged(self, inside: Bools, first: int, last: int) -> bool:
        """Return whether no change can have been made between two events."""
        if first == last:
            return True
        rows = np.flatnonzero(inside)
        meanwhile = (self._changes.since[rows] < last) & (self._changes.reported_at[rows] > first)
        places = self._changes.places[rows[meanwhile]]
        # A rolled back change leaves the IR as it was.
        return bool(self._actions.numbers("rolled_back")[places].all())

    # --- what is held ---

    @cached_property
    def _held(self) -> frozenset[int]:
        return frozenset(np.unique(self._ir.numbers("operation")).tolist())

    def _of(self, row: int) -> RecordedText:
        if row not in self._texts:
            if len(self._texts) == _MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
            event = int(self._ir.events[row])
            self._texts[row] = RecordedText(self._ir.text(row), self.names, event)
        return self._texts[row]
