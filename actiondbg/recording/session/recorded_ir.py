"""The recorded IR at an event; that of an import is put together of the texts of its dumps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.ir.tree.outline import MODULE, outermost
from actiondbg.ir.value_names import ValueNames
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.imported.last_texts import ImportedOperation, LastTexts, module_of
from actiondbg.recording.recorded_text import (
    RecordedOperation,
    RecordedText,
    compare,
    without_regions,
)
from actiondbg.recording.session.table_columns import IRColumns
from actiondbg.recording.tables.snapshots import IRText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from actiondbg.recording.session.operation_changes import OperationColumns

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


_ADAPTOR = "PipelineAdaptor"  # in the class of a pass that only runs others


class ImportedIR:
    """Looks up the IR at an event of an import; see ``RecordedIR``.

    A log has a dump of the operation of each pass, or of the module around it. The IR of the module
    at an event is its last dump, with the later dumps of functions in it.
    """

    is_of_functions = True

    def __init__(self, operations: OperationColumns) -> None:
        self._recording = operations.recording
        self._actions = operations.actions
        self._operations = operations
        self._ir = IRColumns(operations.actions)
        self.names = ValueNames()
        self._known: tuple[int, LastTexts] | None = None

    # --- around a pass ---

    def difference(self, ordinal: int, module: bool) -> Diff:
        """Compare the IR before and after a pass; the diff is empty if it changed nothing.

        Raises NotRecorded, as the other questions, where the log does not show the IR.
        """
        place = self._actions.place(ordinal)
        if self._actions.words("outcome").of(place) == "unchanged":
            return Diff("", "")
        [*found] = self._recording.snapshots(ordinal)
        if not found or found[0].before is None or found[0].after is None:
            side = "before" if not found or found[0].before is None else "after"
            raise NotRecorded(
                f"{self._recording.path} does not hold the IR {side} #{ordinal}: its log has no "
                f"dump {side} it; --mlir-print-ir-before-all and --mlir-print-ir-after-all "
                "together print both."
            )
        before, after = found[0].before, found[0].after
        if module and self._operations.name(found[0].operation) != MODULE:
            line = self._actions.line
            before, after = (self._module(int(at[place])) for at in (line.begins, line.ends))
        return make_diff(before, after, {}, {})

    # --- at an event ---

    def function(self, id: int, event: int) -> RecordedText:
        """Return the function that holds an operation."""
        if self._operations.function(id) is None:
            raise NotRecorded(f"@{id} is not in a function.")
        return self._recorded(self._operation(id, event))

    def function_of(self, id: int) -> str | None:
        """Return the symbol of the function around an operation, or of the function itself."""
        return self._operations.function(id)

    around = function  # an import has passes only: they run on functions or on modules

    def module(self, event: int) -> RecordedText:
        """Return the module."""
        return self._recorded(self._module(event))

    def operation(self, id: int, event: int) -> RecordedOperation:
        """Return an operation."""
        return RecordedOperation(self._recorded(self._operation(id, event)))

    def _recorded(self, text: str) -> RecordedText:
        return RecordedText(IRText(text), self.names)

    def _module(self, event: int) -> str:
        texts = self._texts(event)
        modules = [one for one in texts.all if one.name == MODULE]
        if modules:
            return self._checked(texts, min(modules, key=lambda one: one.id), event)
        holds_modules = np.isin(self._ir.numbers("operation"), self._module_ids).any()
        if holds_modules or not texts.all:
            raise self._not_shown("the module", event)
        return module_of([self._checked(texts, one, event) for one in texts.all])

    def functions(self, event: int) -> str:
        """Return the functions that the log shows before its first module, as a module."""
        texts, found = self._texts(event), list[str]()
        for one in texts.all if all(one.name != MODULE for one in texts.all) else ():
            with suppress(NotRecorded):
                found.append(self._checked(texts, one, event))
        if not found:
            raise self._not_shown("any function", event)
        return module_of(found)

    @cached_property
    def first_functions(self) -> tuple[int, str] | None:
        """The functions after the first pass, and the event at which the last of them was there.

        None if the log shows the module before, or functions after different passes only: as
        passes on functions do not depend on others, their texts need not be of one time.
        """
        ids, firsts = self._ir.numbers("operation").tolist(), dict[int, int]()
        for row in self._in_order.tolist():
            if ids[row] in self._module_ids:
                break
            firsts.setdefault(ids[row], row)
        rows = list(firsts.values())
        places = self._actions.numbering.places(self._ir.numbers("ordinal")[rows])
        passes = {self._actions.words("name").of(place) for place in places.tolist()}
        if len(passes) != 1 or self._ir.is_before[rows].any():
            return None
        text = module_of([self._ir.text(row).text for row in rows])
        return int(max(self._ir.events[rows])), text

    def _operation(self, id: int, event: int) -> str:
        texts = self._texts(event)
        for one in texts.all:
            if one.id == id:
                return self._checked(texts, one, event)
        name, symbol = self._operations.name(id) or "", self._operations.function(id) or ""
        return self._checked(texts, ImportedOperation(id, name, symbol), event)

    def first_line(self, id: int, event: int) -> str | None:
        """Return an operation without its regions; None where it is unknown."""
        try:
            text = self._operation(id, event)
        except NotRecorded:
            return None
        outer = outermost(text)
        return None if outer is None else without_regions(text[outer.begin : outer.end])

    def _checked(self, texts: LastTexts, one: ImportedOperation, event: int) -> str:
        """Return the text of an operation; raise NotRecorded if it may be an older one."""
        last = texts.last_text(one, "")
        is_known = one.printed_at == event or self._is_current(texts, one, event)
        if last.text is None or not (is_known and last.is_exact):
            raise self._not_shown(f"@{one.id} {one.name}", event)
        return last.text

    def _is_current(self, texts: LastTexts, one: ImportedOperation, event: int) -> bool:
        """Whether no pass can have changed an operation since its text was printed."""
        if any(id in (one.id, *self._module_ids) for id in self._running(event)):
            return False
        printed = {each.id: each.printed_at for each in texts.all}
        module = max((each.printed_at for each in texts.all if each.inside), default=0)
        for id, end in self._unknown:
            if end > event:
                continue
            if id in self._module_ids:
                seen = module if one.inside else max(module, one.printed_at)
            elif one.inside or id == one.id:
                seen = max(module, printed.get(id, 0))
            else:
                continue
            if seen <= end:
                return False
        return True

    def _running(self, event: int) -> list[int]:
        """Return the operations of the passes that run at an event, without mere adaptors."""
        classes = self._actions.words("full_name")
        return [
            self._actions.operation(place)
            for place in self._actions.stack(event)[1:]
            if _ADAPTOR not in (classes.of(place) or "")
        ]

    def _not_shown(self, what: str, event: int) -> NotRecorded:
        place, when = self._actions.line.at(event)
        return NotRecorded(
            f"{self._recording.path} does not hold the IR of {what} {when} "
            f"#{self._actions.ordinal(place)}: the log has no dump that shows it; make it with "
            "--mlir-print-ir-before-all, --mlir-print-ir-after-all and "
            "--mlir-print-ir-module-scope."
        )

    # --- the texts ---

    def _texts(self, event: int) -> LastTexts:
        """Return the operations that are printed up to an event, each with its last text."""
        if self._known is not None and self._known[0] == event:
            return self._known[1]
        texts = LastTexts()
        last: dict[int, int] = {}
        for row in self._rows_until(event):
            last[int(self._ir.numbers("operation")[row])] = int(row)
        for id, row, printed_at in (
            *self._before_modules(event, last),
            *((id, row, int(self._ir.events[row])) for id, row in last.items()),
        ):
            text = self._ir.text(row).text
            outer = outermost(text)
            if outer is not None:
                one = ImportedOperation(id, outer.name, outer.symbol)
                texts.keep(one, text, outer, printed_at)
                texts.add(one)
        self._known = event, texts
        return texts

    def _before_modules(
        self, event: int, last: Mapping[int, int]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield what the log shows only later of an event before the first module.

        Passes on functions change nothing but them: what is around them is as in the first dump
        of the module, if that was printed before a pass. A function of which nothing was printed
        yet is as before its first pass.

        Args:
            event: the event.
            last: by operation, the row of its last text up to then.

        Yields:
            The operation, the row of its text, and the event from which on it is shown.
        """
        rows = self._in_order.tolist()
        ids = self._ir.numbers("operation").tolist()
        first = next((at for at, row in enumerate(rows) if ids[row] in self._module_ids), None)
        if first is None or int(self._ir.events[rows[first]]) <= event:
            return
        later = [row for row in rows[len(self._rows_until(event)) : first] if ids[row] not in last]
        firsts = {ids[row]: row for row in reversed(later)}
        if self._ir.is_before[[*firsts.values(), rows[first]]].all():
            yield ids[rows[first]], rows[first], 0
            yield from ((id, row, event) for id, row in firsts.items())

    def _rows_until(self, event: int) -> Ints:
        return self._in_order[: np.searchsorted(self._sorted_events, event, side="right")]

    @cached_property
    def _in_order(self) -> Ints:
        return np.argsort(self._ir.events, kind="stable")

    @cached_property
    def _sorted_events(self) -> Ints:
        return self._ir.events[self._in_order]

    @cached_property
    def _unknown(self) -> list[tuple[int, int]]:
        """The operation and the end of each pass after which the IR is unknown."""
        ordinals = self._ir.numbers("ordinal")[~self._ir.is_before]
        known = self._actions.numbering.marked(ordinals)
        places = np.flatnonzero(~known).tolist()
        return [(self._actions.operation(at), int(self._actions.line.ends[at])) for at in places]

    @cached_property
    def _module_ids(self) -> list[int]:
        words = self._operations.words("op")
        is_module = words.where(lambda op: "module" in op or "executable" in op)
        return self._operations.numbers("operation")[is_module].tolist()
