"""The IR at an event of an import: the texts of its dumps, put together."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.ir.tree.outline import MODULE, outermost
from actiondbg.ir.value_names import ValueNames
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.imported.last_texts import ImportedOperation, OperationTexts, module_of
from actiondbg.recording.recorded_text import RecordedOperation, RecordedText, without_regions
from actiondbg.recording.session.columns import IRColumns
from actiondbg.recording.tables.snapshots import IRText

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from actiondbg.recording.session.changes import OperationColumns


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
        self._known: tuple[int, OperationTexts] | None = None

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
        if self._holds_modules or not texts.all:
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

    def _checked(self, texts: OperationTexts, one: ImportedOperation, event: int) -> str:
        """Return the text of an operation; raise NotRecorded if it may be an older one."""
        last = texts.last_text(one, "")
        is_known = one.printed_at == event or self._is_current(texts, one, event)
        if last.text is None or not (is_known and last.is_exact):
            raise self._not_shown(f"@{one.id} {one.name}", event)
        return last.text

    def _is_current(self, texts: OperationTexts, one: ImportedOperation, event: int) -> bool:
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

    def _texts(self, event: int) -> OperationTexts:
        """Return the operations that are printed up to an event, each with its last text."""
        if self._known is not None and self._known[0] == event:
            return self._known[1]
        texts = OperationTexts()
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

    @cached_property
    def _holds_modules(self) -> bool:
        return bool(np.isin(self._ir.numbers("operation"), self._module_ids).any())
