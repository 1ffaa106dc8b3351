"""The cursor: the IR unit in view at a stop."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator

from actiondbg import protocol
from actiondbg.errors import NoSuchUnit, UnitErased, UsageError
from actiondbg.session.inspection.agent_access import AgentAccess

# How many steps of the path lead from the operation to the unit, by the kind of the unit.
_STEPS_BELOW_OPERATION = {"operation": 0, "region": 1, "block": 2}


class Cursor:
    """The IR unit in view: an operation, a block or a region.

    Every method raises NotStopped when there is no stop.
    """

    def __init__(self, agent: AgentAccess) -> None:
        self._agent = agent

    def get(self) -> protocol.Cursor:
        """Return the unit, the function that holds it, and its path from the root."""
        return self._agent.ask(protocol.GetCursor())

    def move(
        self,
        to: protocol.Move,
        *,
        index: int | None = None,
        count: int | None = None,
        name: str | None = None,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> protocol.Cursor:
        """Move to another IR unit.

        Args:
            to: "context" (the unit ``index``), "parent", "child" (``index``), "previous" and
                "next" (``count``), "function", "module", "def" and "user" (``index`` into
                ``defs`` and ``users``), "value" (the SSA name ``name``), "symbol" (``name``),
                "location" (``path``, ``line``, ``column``), "id" (the operation id ``index``) or
                "action" (the first unit of the selected frame).
            index: from 0.
            count: from 1.
            name: with or without its % or @.
            path: a file, by the suffix of its path.
            line: from 1.
            column: from 1.

        Raises:
            NoSuchUnit: there is no such unit, value or symbol.
            UnitErased: the unit is erased.
        """
        return self._agent.ask(
            protocol.MoveCursor(
                to=to, index=index, count=count, name=name, path=path, line=line, column=column
            )
        )

    def goto(self, place: str) -> protocol.Cursor:
        """Move to a place.

        Args:
            place: "%NAME" or "%NAME#N" (the operation or the block that defines the value),
                "@ID", "@SYMBOL", "FILE:LINE[:COL]" or "action". A value is looked for near the
                cursor first, then in the whole module.

        Raises:
            UsageError: this is no place.
            NoSuchUnit: there is no such value, operation, symbol or location now.
        """
        if place == "action":
            return self.move("action")
        if place.startswith("%"):
            return self.move("value", name=place.partition("#")[0])
        if re.fullmatch(r"@\d+", place):  # a symbol of digits would be quoted
            return self.move("id", index=int(place[1:]))
        if place.startswith("@"):
            return self.move("symbol", name=place[1:].strip('"'))
        match = re.fullmatch(r"(.+?):(\d+)(?::(\d+))?", place)
        if match is None:
            raise UsageError(
                f"There is no place {place!r}: give %NAME, @ID, @SYMBOL, FILE:LINE[:COL] or action."
            )
        path, line, column = match.groups()
        return self.move(
            "location", path=path, line=int(line), column=int(column) if column else None
        )

    @contextlib.contextmanager
    def at(self, place: str) -> Generator[protocol.Cursor]:
        """Move to a place within the block; see ``goto``."""
        with self.kept():
            yield self.goto(place)

    @contextlib.contextmanager
    def kept(self) -> Generator[None]:
        """Move back, at the end of the block, to the unit of its beginning."""
        before = self.get()
        try:
            yield
        finally:
            self._restore(before)

    def parent(self) -> protocol.Cursor:
        """Move to the unit that holds this one."""
        return self.move("parent")

    def child(self, index: int = 0) -> protocol.Cursor:
        """Move to a unit in this one, counted from 0."""
        return self.move("child", index=index)

    def previous(self, count: int = 1) -> protocol.Cursor:
        """Move to the ``count``-th unit before this one, in the same parent."""
        return self.move("previous", count=count)

    def next(self, count: int = 1) -> protocol.Cursor:
        """Move to the ``count``-th unit after this one, in the same parent."""
        return self.move("next", count=count)

    def function(self) -> protocol.Cursor:
        """Move to the function that holds the unit."""
        return self.move("function")

    def module(self) -> protocol.Cursor:
        """Move to the module that holds the unit."""
        return self.move("module")

    def defs(self) -> list[protocol.Unit]:
        """List the units that define the operands."""
        return self._agent.ask(protocol.GetLinks(direction="defs")).units

    def users(self) -> list[protocol.Unit]:
        """List the operations that use the results."""
        return self._agent.ask(protocol.GetLinks(direction="users")).units

    def operation_id(self, operation: str | int) -> int:
        """Return the id of an operation.

        Args:
            operation: "cursor", an SSA name at the stop, or an id.

        Raises:
            NoSuchUnit: there is no such value at the stop.
            UsageError: the name or the cursor is no operation.
            UnitErased: the operation is erased.
        """
        if isinstance(operation, int):
            return operation
        unit = self.get().unit if operation == "cursor" else self._unit_of_value(operation)
        if unit.kind != "operation":
            what = "a block argument" if operation.startswith("%") else f"on a {unit.kind}"
            raise UsageError(
                f"{operation} is {what}, not an operation: name the operation that holds it by "
                f"its id, @{unit.id}."
            )
        if unit.id is None or unit.state == "erased":
            raise UnitErased(f"The operation of {operation} is erased: name it by its id.")
        return unit.id

    def _unit_of_value(self, name: str) -> protocol.Unit:
        """Look up the unit that defines a value; the cursor stays where it is."""
        before = self.get()
        try:
            return self.move("value", name=name).unit
        finally:
            self._restore(before)

    def _restore(self, cursor: protocol.Cursor) -> None:
        steps = _STEPS_BELOW_OPERATION.get(cursor.unit.kind)
        with contextlib.suppress(NoSuchUnit, UnitErased):
            if cursor.unit.id is not None and steps is not None:
                self.move("id", index=cursor.unit.id)
                for index in cursor.path[len(cursor.path) - steps :]:
                    self.move("child", index=index)
                return
        self.move("action")
