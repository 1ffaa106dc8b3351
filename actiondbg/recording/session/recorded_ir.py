"""The recorded IR at an event."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.columns import ActionColumns, TableColumns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actiondbg import protocol
    from actiondbg.recording.recording import Recording
    from actiondbg.recording.session.changes import ChangeColumns
    from actiondbg.recording.session.operations import OperationColumns


class RecordedIR:
    """Looks up the IR at an event.

    A recording holds the IR before and after each action that changed it: the whole function with
    ``--ir function``, a line for each operation with ``--ir changed``. Between two such actions the
    IR is known while nothing changes it.

    Args:
        recording: the recording.
        actions: its actions.
        changes: its changes.
        operations: its operations.
    """

    def __init__(
        self,
        recording: Recording,
        actions: ActionColumns,
        changes: ChangeColumns,
        operations: OperationColumns,
    ) -> None:
        self._recording = recording
        self._actions = actions
        self._changes = changes
        self._operations = operations
        self._ir = TableColumns(recording, "ir")

    # --- around an action ---

    def difference(self, ordinal: int, module: bool) -> Diff:
        """Compare the IR before and after an action; the diff is empty if it changed nothing.

        Raises:
            NotRecorded: the recording holds no IR, or not that of the module.
        """
        if not self._actions.numbers("changed")[self._actions.place(ordinal)]:
            return Diff("", "")
        self._check_held()
        found = self._recording.snapshots(ordinal)
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
        before, after = (
            "".join(_line(text) for text in texts if text is not None)
            for texts in ([one.before for one in found], [one.after for one in found])
        )
        # Values in the lines of operations are named by ids, which do not change.
        return make_diff(before, after, {}, {}) if self.is_of_functions else Diff(before, after)

    @property
    def is_of_functions(self) -> bool:
        """Whether the IR of whole functions is recorded, not a line for each operation."""
        return self._recording.header.has_texts

    def _check_held(self) -> None:
        if self._recording.header.ir == "none":
            raise NotRecorded(f"{self._recording.path} holds no IR: record it with --ir function.")

    def _check_functions(self) -> None:
        self._check_held()
        if not self.is_of_functions:
            raise NotRecorded(
                f"{self._recording.path} holds a line for each operation that was changed, and no "
                "functions: record it with --ir function."
            )

    # --- at an event ---

    def function(self, cursor: protocol.Cursor, event: int) -> str:
        """Return the function that holds the cursor.

        Raises:
            NotRecorded: its IR at the event is not recorded.
        """
        self._check_functions()
        name = cursor.function
        if name is None:
            raise NotRecorded("The cursor is not in a function.")
        functions = self._operations.words("function")
        ids = self._operations.numbers("operation")[functions.codes == functions.code(name)]
        inside = self._changes.words("function").where(lambda function: function == name)
        # A conversion keeps the old function beside the new one for a while.
        first = ids[ids == cursor.unit.id].tolist()
        return self._whole([*first, *self._newest(ids)], inside, f"@{name}", event)

    def module(self, event: int) -> str:
        """Return the module; raises NotRecorded."""
        self._check_functions()
        is_module = self._operations.words("op").where(lambda op: op == "builtin.module")
        ids = self._operations.numbers("operation")[is_module]
        everywhere = np.ones(len(self._changes.places), dtype=np.bool_)
        return self._whole(self._newest(ids), everywhere, "the module", event)

    def operation(self, id: int, event: int) -> str:
        """Return an operation; raises NotRecorded."""
        self._check_held()
        inside = np.zeros(len(self._changes.places), dtype=np.bool_)
        inside[self._changes.of(id)] = True
        return self._text(id, inside, f"@{id}", event)

    def first_line(self, id: int, event: int) -> str | None:
        """Return an operation without its regions; None where it is not recorded."""
        if id not in self._held:
            return None
        try:
            return without_regions(self.operation(id, event))
        except NotRecorded:
            return None

    def _newest(self, ids: Ints) -> list[int]:
        """Return the operations whose IR is recorded, the newest first."""
        return sorted(self._held.intersection(ids.tolist()), reverse=True)

    def _whole(self, ids: Iterable[int], inside: Bools, what: str, event: int) -> str:
        """Return the IR of the first operation that is recorded and alive."""
        for id in ids:
            if id in self._held and self._operations.is_alive(id, event):
                return self._text(id, inside, what, event)
        raise NotRecorded(f"{self._recording.path} holds no IR of {what}: no action changed it.")

    def _text(self, id: int, inside: Bools, what: str, event: int) -> str:
        """Return the IR of an operation at an event.

        Args:
            id: of the operation.
            inside: which changes are in the operation.
            what: the operation in words, for an error.
            event: from 1.
        """
        rows = np.flatnonzero(self._ir.numbers("operation") == id)
        rows = rows[np.argsort(self._events[rows], kind="stable")]
        events = self._events[rows]
        at = int(np.searchsorted(events, event, side="right"))
        before, after = rows[:at][-1:], rows[at:][:1]
        if len(before) and self._unchanged(inside, int(events[at - 1]), event):
            return self._of(before[0])
        if len(after) and self._unchanged(inside, event, int(events[at])):
            return self._of(after[0])
        if len(before) and len(after) and self._of(before[0]) == self._of(after[0]):
            return self._of(before[0])
        places = [f"{self._when(row)} #{self._ordinal(row)}" for row in (*before, *after)]
        held = f"it holds this IR {' and '.join(places)}" if places else "no action changed it"
        raise NotRecorded(f"{self._recording.path} does not hold the IR of {what} here: {held}.")

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

    @cached_property
    def _events(self) -> Ints:
        """The event of each recorded text."""
        places = self._actions.numbering.places(self._ir.numbers("ordinal"))
        line = self._actions.line
        after = line.ends[places] + self._actions.is_deferred[places]
        when = self._ir.words("when")
        return np.where(when.codes == when.code("before"), line.begins[places], after)

    def _ordinal(self, row: int) -> int:
        return int(self._ir.numbers("ordinal")[row])

    def _when(self, row: int) -> str:
        return self._ir.words("when").of(row) or ""

    def _of(self, row: int) -> str:
        id = int(self._ir.numbers("operation")[row])
        is_before = self._when(row) == "before"
        for each in self._recording.snapshots(self._ordinal(row)):
            if each.operation == id:
                return (each.before if is_before else each.after) or ""
        return ""


def _line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def without_regions(text: str) -> str:
    """Return the first line of an operation, with dots for its regions."""
    line = text.lstrip("\n").partition("\n")[0]
    return f"{line}...}}" if line.endswith("{") else line
