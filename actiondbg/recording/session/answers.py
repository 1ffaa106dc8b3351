"""Replies to requests at a stop, from a recording instead of an agent."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import NoSuchUnit, NotRecorded, UnitErased
from actiondbg.recording.recorded_text import RecordedOperation, RecordedText
from actiondbg.recording.session.named_values import NamedValues
from actiondbg.recording.session.operation_columns import OperationState

if TYPE_CHECKING:
    from actiondbg.recording.session.descriptions import ActionDescriptions
    from actiondbg.recording.session.position import Position

R = TypeVar("R", bound=protocol.Message)


class RecordedAnswers:
    """Replies to requests at a stop, as the agent of a tool does (``AgentAccess``)."""

    def __init__(self, describe: ActionDescriptions, position: Position) -> None:
        self._recording = describe.recording
        self._actions = describe.actions
        self._describe = describe
        self._position = position
        self._values = NamedValues(describe.operations, describe.ir)
        self._selected = 0
        self._moved: OperationState | None = None  # the cursor, after a move
        self._handlers: dict[type[protocol.Message], Callable[[Any], protocol.Message]] = {
            protocol.Backtrace: self._backtrace,
            protocol.SelectFrame: self._select,
            protocol.GetAction: self._action,
            protocol.GetContext: self._context,
            protocol.GetCursor: self._cursor,
            protocol.MoveCursor: self._move,
            protocol.GetStatus: self._status,
            protocol.GetContexts: self._contexts,
            protocol.GetChanges: self._changes,
            protocol.Print: self._print,
            protocol.GetExcerpt: self._excerpt,
        }

    def reset(self) -> None:
        """Select the innermost frame, and put the cursor on its action: the position changed."""
        self._selected = 0
        self._moved = None

    def ask(self, message: protocol.Request[R]) -> R:
        """Answer a request.

        Raises:
            NotStopped: the session is at the end of the run.
            NotRecorded: the recording does not hold what is asked for.
        """
        self._position.check_stopped()
        handler = self._handlers.get(type(message))
        if handler is None:
            raise self._recording.needs_tool(f"The request {message.method!r}")
        return cast("R", handler(message))

    # --- the stack ---

    def _stack(self) -> list[int]:
        return self._actions.stack(self._position.event)

    def _backtrace(self, _: protocol.Backtrace) -> protocol.Frames:
        return protocol.Frames(frames=self._describe.frames(self._position.event))

    def _select(self, message: protocol.SelectFrame) -> protocol.Frame:
        frames = self._describe.frames(self._position.event)
        if message.index >= len(frames):
            raise NoSuchUnit(
                f"There is no frame {message.index}: the outermost frame is {len(frames) - 1}."
            )
        self._selected, self._moved = message.index, None
        return frames[message.index]

    def _action(self, _: protocol.GetAction) -> protocol.Action:
        return self._describe.action(self._position.event, self._selected)

    def _context(self, _: protocol.GetContext) -> protocol.Units:
        place = self._stack()[self._selected]
        return protocol.Units(units=self._describe.units(place, self._position.event))

    def _status(self, _: protocol.GetStatus) -> protocol.Status:
        event = self._position.event
        place = self._actions.line.begun(event) - 1
        return protocol.Status(
            ordinal=self._actions.ordinal(place),
            contexts=len(self._describe.contexts(event)) or 1,
            threading=self._recording.header.threads,
            tracked=0,
            event=event,
            written=(0, 0),
            passed=[],
        )

    def _contexts(self, _: protocol.GetContexts) -> protocol.MLIRContexts:
        return protocol.MLIRContexts(contexts=self._describe.contexts(self._position.event))

    def _changes(self, message: protocol.GetChanges) -> protocol.Changes:
        place = self._stack()[self._selected]
        rows = self._describe.changes.by(place, self._position.event, message.nested)
        return protocol.Changes(
            changes=self._describe.operations.described(rows[: message.count]),
            total=len(rows),
            counts=self._describe.changes.counts(rows),
            forgotten=0,
            undated=self._describe.changes.undated(place, self._position.event, message.nested),
        )

    # --- the cursor ---

    def _cursor(self, _: protocol.GetCursor) -> protocol.Cursor:
        held = self._at_cursor()
        function = self._describe.ir.function_of(held.id)
        unit = self._describe.unit(held, self._position.event)
        return protocol.Cursor(unit=unit, function=function, path=[])

    def _at_cursor(self) -> OperationState:
        found = self._moved or self._describe.operations.cursor(
            self._stack()[self._selected :], self._position.event
        )
        if found is None:
            raise UnitErased(
                "The action's IR unit is erased, and no action around it has one that is alive; "
                "step or continue to the next stop."
            )
        return OperationState(found.id or 0, "alive")

    def _move(self, message: protocol.MoveCursor) -> protocol.Cursor:
        if message.to == "action":
            self._moved = None
        elif message.to == "context":
            self._moved = self._unit(message.index or 0)
        elif message.to == "id":
            self._moved = self._alive(message.index or 0)
        elif message.to == "value":
            name = f"%{(message.name or '').removeprefix('%')}"
            self._moved = OperationState(self._named(name), "alive")
        else:
            raise self._recording.needs_tool("Moving the cursor to anything but a value or an id")
        return self._cursor(protocol.GetCursor())

    def _named(self, name: str) -> int:
        """Return the operation that defines the value with a name."""
        held = OperationState(0, "alive")
        with contextlib.suppress(UnitErased):
            held = self._at_cursor()
        return self._values.operation(name, held.id, self._position.event)

    def _unit(self, index: int) -> OperationState:
        units = self._context(protocol.GetContext()).units
        if index >= len(units):
            raise NoSuchUnit(
                f"There is no IR unit {index} in the context: it has {len(units)}, from 0."
            )
        if units[index].state == "erased":
            raise UnitErased(f"IR unit {index} ({units[index].name}) is erased.")
        return OperationState(units[index].id or 0, "alive")

    def _alive(self, id: int) -> OperationState:
        if not self._describe.operations.is_alive(id, self._position.event):
            raise NoSuchUnit(f"There is no operation @{id} now.")
        return OperationState(id, "alive")

    # --- IR ---

    def _excerpt(self, message: protocol.GetExcerpt) -> protocol.Excerpt:
        """Return the recorded lines around an operation; its own line where there are no others."""
        ir, event = self._describe.ir, self._position.event
        id = message.id or self._at_cursor().id
        around, first = ir.operation(id, event)
        if first is None:
            around, first = self._in_function(id, around)
        start, end = max(first - message.before, 0), first + message.after + 1
        lines = around.lines(start, end)
        at = first - start
        lines[at] = msgspec.structs.replace(lines[at], id=id)
        return protocol.Excerpt(
            lines=lines,
            current=at,
            more_before=start > 0,
            more_after=end < around.height,
            scope=None,
            function=self._cursor(protocol.GetCursor()).function,
            definitions=[],
        )

    def _in_function(self, id: int, own: RecordedText) -> tuple[RecordedText, int]:
        """Return the text of the function with an operation's own text in it, if that is certain.

        Returns:
            The text, and the line of the operation in it, from 0.
        """
        try:
            around = self._describe.ir.around(id, self._position.event)
        except NotRecorded:
            around = own
        line = own.recorded.text.strip().partition("\n")[0]
        lines = [each.strip() for each in around.recorded.text.splitlines()]
        if lines.count(line) == 1:
            return around, lines.index(line)
        return own, 0

    def _print(self, message: protocol.Print) -> protocol.Printed:
        """Write the recorded IR into a file; see ``RecordedIR``.

        Values have the session's names, unless the printer's are asked for.
        """
        text = self._text(message)
        content = text.encode()
        Path(message.path).write_bytes(content)
        return protocol.Printed(
            bytes=len(content),
            mark_first=None,
            mark_last=None,
            generic=text.lstrip().startswith('"'),
            path=[],
        )

    def _text(self, message: protocol.Print) -> str:
        if message.generic or message.locations:
            option = "--generic" if message.generic else "--locations"
            raise NotRecorded(
                f"{self._recording.path} holds IR as it was printed then: leave out {option}."
            )
        found = self._held(message)
        if message.names is None:
            found = found.as_printed()
        return found.text(message.skip_regions)

    def _held(self, message: protocol.Print) -> RecordedOperation:
        ir, event = self._describe.ir, self._position.event
        if message.what == "module":
            return RecordedOperation(ir.module(event))
        if message.what == "function":
            return RecordedOperation(ir.function(self._at_cursor().id, event))
        return ir.operation(
            self._at_cursor().id if message.what == "cursor" else self._unit(0).id, event
        )
