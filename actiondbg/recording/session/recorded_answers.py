"""Replies to requests at a stop, from a recording instead of an agent."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import NoSuchUnit, NotRecorded, UnitErased
from actiondbg.ir.elision import without_elements
from actiondbg.ir.tokens import RESULT
from actiondbg.ir.value_names import NamedKey
from actiondbg.recording.recorded_text import RecordedOperation, RecordedText
from actiondbg.recording.session.operation_changes import OperationState
from actiondbg.recording.session.recorded_ir import RecordedIR
from actiondbg.session.inspection.agent_access import erased_names

if TYPE_CHECKING:
    from actiondbg.recording.session.descriptions import ActionDescriptions
    from actiondbg.recording.session.operation_changes import OperationColumns
    from actiondbg.recording.session.position import Position
    from actiondbg.recording.session.recorded_ir import ImportedIR

R = TypeVar("R", bound=protocol.Message)
_MOST_LISTED = 4  # values of a name


class RecordedAnswers:
    """Replies to requests at a stop, as the agent of a tool does (``AgentAccess``)."""

    def __init__(self, describe: ActionDescriptions, position: Position) -> None:
        self._recording = describe.recording
        self._actions = describe.actions
        self._describe = describe
        self._position = position
        self._values = ValuesByName(describe.operations, describe.ir)
        self._selected = 0
        self._moved: OperationState | None = None  # the cursor, after a move
        self._handlers: dict[type[protocol.Message], Callable[[Any], protocol.Message]] = {
            protocol.GetFrames: self._backtrace,
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

    def _backtrace(self, _: protocol.GetFrames) -> protocol.Frames:
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
        lines = [
            msgspec.structs.replace(line, text=without_elements(line.text, message.elide))
            for line in around.lines(start, end)
        ]
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
        text = found.text(message.skip_regions)
        return text if message.elide is None else without_elements(text, message.elide)

    def _held(self, message: protocol.Print) -> RecordedOperation:
        ir, event = self._describe.ir, self._position.event
        if message.what == "module":
            return RecordedOperation(ir.module(event))
        if message.what == "function":
            return RecordedOperation(ir.function(self._at_cursor().id, event))
        return ir.operation(
            self._at_cursor().id if message.what == "cursor" else self._unit(0).id, event
        )


class ValuesByName:
    """Finds values by the names that they have in the session."""

    def __init__(self, operations: OperationColumns, ir: RecordedIR | ImportedIR) -> None:
        self._path = operations.recording.path
        self._operations = operations
        self._ir = ir

    def operation(self, name: str, at: int, event: int) -> int:
        """Return the id of the operation that defines a value.

        Args:
            name: with its %.
            at: the operation id of the cursor, 0 for none: of several values, the one in its
                function is meant, and there the one that is visible to it.
            event: from 1.

        Raises:
            NoSuchUnit: there is no such value, it is erased, or there are several.
            NotRecorded: the recording does not show it.
        """
        unknown = NotRecorded(
            f"{self._path} does not identify the values in its IR: name the operation of {name} by "
            "its id."
        )
        if not isinstance(self._ir, RecordedIR):
            raise unknown
        if not self._ir.is_of_functions:
            return self._of_line(self._ir, name, event)
        erased: list[NamedKey] = []
        elsewhere = False
        is_near = self._operations.function(at) is None
        for text in self._ir.texts_near(at, event):
            if not text.recorded.values:
                raise unknown  # of an older recording, or too large
            is_near = is_near or self._scope(text, at) is not None
            if not is_near:
                break  # its function may have another value of the name
            found = text.with_name(name)
            if alive := [one for one in found if self._is_there(one, text, event)]:
                one = _the_one(name, self._nearest(alive, text, at))
                self._check_not_erased(name, one, text, event)
                self._ir.note(_id_of(one), one.scope)
                return _id_of(one)
            erased += [one for one in found if _is_given(one, text)]
            elsewhere = elsewhere or bool(found)
        if erased:
            raise NoSuchUnit(erased_names(name, [_id_of(each) for each in erased]))
        if elsewhere:
            raise NoSuchUnit(f"{name} is a value of other stops: there is none here.")
        if is_near:
            raise NoSuchUnit(f"There is no value {name} at this stop.")
        raise NotRecorded(
            f"{self._path} holds no IR of the function of @{at}, as no action changed it: name the "
            f"operation of {name} by its id."
        )

    def _is_there(self, value: NamedKey, text: RecordedText, event: int) -> bool:
        if "/" in value.key:  # of a block
            return text.values.has(value.key)
        id = _id_of(value)
        if self._operations.row(id) is None:
            return True  # no action touched it
        # A text before the event lacks what was erased before it.
        is_gone = text.event <= event and not text.values.has(value.key) and _is_given(value, text)
        return not is_gone and self._operations.is_alive(id, event)

    def _check_not_erased(self, name: str, value: NamedKey, text: RecordedText, event: int) -> None:
        is_shown = text.event == event and text.values.has(value.key)
        if not is_shown and self._operations.may_be_erased(_id_of(value), event):
            raise NotRecorded(
                f"{self._path} does not hold whether @{_id_of(value)}, the operation of {name}, is "
                "erased at this stop."
            )

    def _scope(self, text: RecordedText, at: int) -> int | None:
        """Return the scope of an operation's results; None if the text does not have it."""
        listed = text.values.named.around
        own = next((one.scope for one in listed if one.key == f"{at}.0"), None)
        if own is not None:
            return own
        scopes = {one.scope for one in listed}
        function = self._operations.function(at)
        same = [one for one in scopes if function and self._operations.function(one) == function]
        return at if at in scopes else max(same, default=None)

    def _nearest(
        self, found: Sequence[NamedKey], text: RecordedText, at: int
    ) -> Sequence[NamedKey]:
        """Return the values that are meant at an operation; all of them if that is not certain."""
        scope = self._scope(text, at)
        near = [one for one in found if one.scope == scope] or found
        if len(near) == 1:
            return near
        visible = text.values.visible([one.key for one in near], f"{at}.0")
        return [one for one in near if one.key in visible] or near

    def _of_line(self, ir: RecordedIR, name: str, event: int) -> int:
        """Return the operation whose line begins with a name; see ``operation``."""
        begins = re.compile(rf"(?:{RESULT}, )*{re.escape(name)}(?::\d+)?(?:, | =)")
        ids = sorted({id for id, line in ir.lines() if begins.match(line)})
        alive = [id for id in ids if self._operations.is_alive(id, event)]
        if alive:
            return _id_of(_the_one(name, [NamedKey(name, f"{id}.0", 0) for id in alive]))
        if ids:
            raise NoSuchUnit(erased_names(name, ids))
        raise NotRecorded(
            f"{self._path} shows no value {name}: it holds a line for each operation that was "
            "changed. Name its operation by its id, or record with --ir function."
        )


def _is_given(value: NamedKey, text: RecordedText) -> bool:
    return any(each.key == value.key for each in text.values.named.given)


def _the_one(name: str, found: Sequence[NamedKey]) -> NamedKey:
    """Return the only value that is meant: a result."""
    ids = [f"@{_id_of(each)}" for each in found if "/" not in each.key]
    if not ids:
        raise NoSuchUnit(
            f"{name} is a block argument in @{found[0].scope}, and the cursor of a recording moves "
            "to operations only: name the operation that holds it by its id."
        )
    if len(found) > 1:
        listed = ", ".join(ids[:_MOST_LISTED]) + (" and others" if len(ids) > _MOST_LISTED else "")
        raise NoSuchUnit(
            f"The name {name} is that of {len(found)} values: of {listed}; give an id, such as "
            f"{ids[0]}, or move the cursor to where only one is visible."
        )
    return found[0]


def _id_of(value: NamedKey) -> int:
    """Return the operation that defines a value; for a block argument, that of its scope."""
    return value.scope if "/" in value.key else int(value.key.partition(".")[0])
