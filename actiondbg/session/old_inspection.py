"""What can be asked of a session at a stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from actiondbg import protocol
from actiondbg.errors import IRNotParsed
from actiondbg.ir.printed import PrintedText

if TYPE_CHECKING:
    from mlir.ir import Module, Operation, OpView  # pyright: ignore[reportMissingTypeStubs]

    from actiondbg.ir.bindings import IRReader

R = TypeVar("R", bound=protocol.Message)

What = Literal["cursor", "action", "function", "module"]


class Inspection(ABC):
    """The part of Session that looks, and changes nothing but the frame and the cursor.

    Every method raises NotStopped when the tool is not at a stop.
    """

    def __init__(self) -> None:
        self._frame_index = 0
        self._prints = 0
        self._reader: IRReader | None = None
        # The outermost operation of the selected frame, once it was handed over.
        self._parsed: Module | Operation | None = None

    @abstractmethod
    def _ask(self, message: protocol.Request[R]) -> R:
        """Ask the agent."""

    @abstractmethod
    def _file(self, name: str) -> Path:
        """Return a file of the session's directory."""

    @property
    def frame_index(self) -> int:
        """The selected frame, 0 for the innermost action."""
        return self._frame_index

    def backtrace(self) -> list[protocol.Frame]:
        """List the stack of actions, innermost first."""
        return self._ask(protocol.Backtrace()).frames

    def select_frame(self, index: int) -> protocol.Frame:
        """Look at another action of the stack; the cursor goes to its first IR unit.

        Args:
            index: 0 for the innermost.

        Raises:
            NoSuchUnit: there is no such frame.
        """
        frame = self._ask(protocol.SelectFrame(index=index))
        self._frame_index = index
        self._parsed = None
        return frame

    def action(self) -> protocol.Action:
        """Return the selected frame's action in full."""
        return self._ask(protocol.GetAction())

    def context(self) -> list[protocol.Unit]:
        """List the IR units of the selected frame's action."""
        return self._ask(protocol.GetContext()).units

    def cursor(self) -> protocol.Cursor:
        """Return the IR unit that is looked at."""
        return self._ask(protocol.GetCursor())

    def move_cursor(
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
        """Look at another IR unit.

        Args:
            to: "context" (the unit ``index``), "parent", "child" (``index``), "previous" and
                "next" (``count``), "function", "module", "def" and "user" (``index`` into links),
                "value" (the SSA name ``name``), "symbol" (``name``), "location" (``path``,
                ``line``, ``column``) or "action" (the selected frame's first unit).
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
        return self._ask(
            protocol.MoveCursor(
                to=to, index=index, count=count, name=name, path=path, line=line, column=column
            )
        )

    def links(self, direction: Literal["defs", "users"]) -> list[protocol.Unit]:
        """List where the cursor's operands come from, or what uses its results."""
        return self._ask(protocol.GetLinks(direction=direction)).units

    def status(self) -> protocol.Status:
        """Return what the agent knows of the run."""
        return self._ask(protocol.GetStatus())

    def print(
        self,
        what: What = "cursor",
        *,
        generic: bool = False,
        locations: bool = False,
        skip_regions: bool = False,
        elide: int | None = None,
        mark: bool = False,
    ) -> PrintedText:
        """Print IR into a file of the session's.

        Args:
            what: the cursor's unit, the action's operation, its function or its module.
            generic: in generic form.
            locations: with locations.
            skip_regions: without what is inside.
            elide: leave out the elements of constants of more elements than this.
            mark: find the lines of the cursor's operation.

        Raises:
            UnitErased: it is erased.
        """
        self._prints += 1
        file = self._file(f"print-{self._prints}")
        message = protocol.Print(
            what=what,
            path=str(file),
            generic=generic,
            locations=locations,
            skip_regions=skip_regions,
            mark=mark,
            elide=elide,
        )
        try:
            return PrintedText(file, self._ask(message))
        except BaseException:
            file.unlink(missing_ok=True)
            raise

    def module(self) -> Module:
        """Return the outermost module at the stop, with locations, as an ``mlir.ir.Module``.

        It is a copy, made once at a stop: changing it does not change the tool's.

        Raises:
            IRNotParsed: the bindings are missing, or the IR is not valid at this stop, or its
                outermost operation is no builtin.module.
        """
        parsed = self._read_ir()[1]
        if not hasattr(parsed, "body"):
            raise IRNotParsed("The outermost operation is no builtin.module: use cursor_op.")
        return cast("Module", parsed)

    def cursor_op(self) -> OpView:
        """Return the cursor's operation in the copy that ``module`` returns, as an ``OpView``.

        Keep it as long as operations are used that were reached from it.

        Raises:
            IRNotParsed: as of ``module``.
            NoSuchUnit: the cursor is on a block, a region or a value.
        """
        reader, parsed = self._read_ir()
        return reader.find(parsed, self.cursor().path)

    def _read_ir(self) -> tuple[IRReader, Module | Operation]:
        from actiondbg.ir.bindings import IRReader

        if self._reader is None:
            self._reader = IRReader()
        if self._parsed is None:
            with self.print("module", generic=True, locations=True) as printed:
                self._parsed = self._reader.read(printed.text)
        return self._reader, self._parsed

    def _forget_stop(self) -> None:
        """The tool goes on, or ends: the innermost frame is selected at the next stop."""
        self._frame_index = 0
        self._parsed = None
