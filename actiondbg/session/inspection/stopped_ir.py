"""The IR at a stop, printed and as ``mlir.ir`` objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from actiondbg import protocol
from actiondbg.errors import IRNotParsed
from actiondbg.ir.bindings import IRReader
from actiondbg.ir.printed import PrintedText
from actiondbg.session.inspection.agent_access import AgentAccess
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.inspection.stack import Stack
from actiondbg.support.globs import check_glob

if TYPE_CHECKING:
    from mlir.ir import Module, Operation, OpView  # pyright: ignore[reportMissingTypeStubs]

What = Literal["cursor", "action", "function", "module"]


class StoppedIR:
    """The IR at a stop.

    Every method raises NotStopped when there is no stop.

    Args:
        agent: answers at the stop.
        stack: whose selected frame is looked at.
        cursor: the unit in view.
        new_file: returns the path of a new file for printed IR.
    """

    def __init__(
        self, agent: AgentAccess, stack: Stack, cursor: Cursor, new_file: Callable[[], Path]
    ) -> None:
        self._agent = agent
        self._stack = stack
        self._cursor = cursor
        self._new_file = new_file
        self._reader: IRReader | None = None
        # The outermost operation, parsed, of the frame that was selected then.
        self._parsed: tuple[int, Module | Operation] | None = None

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
            skip_regions: without the regions' content.
            elide: leave out the elements of constants of more elements than this.
            mark: find the lines of the cursor's operation.

        Raises:
            UnitErased: it is erased.
        """
        file = self._new_file()
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
            return PrintedText(file, self._agent.ask(message))
        except BaseException:
            file.unlink(missing_ok=True)
            raise

    def module(self) -> Module:
        """Return the outermost module at the stop, with locations, as an ``mlir.ir.Module``.

        The module is a copy, made once at a stop: changing it does not change the tool's.

        Raises:
            IRNotParsed: the bindings are missing, the IR is not valid at this stop, or its
                outermost operation is no builtin.module.
        """
        parsed = self._read()[1]
        if not hasattr(parsed, "body"):
            raise IRNotParsed("The outermost operation is no builtin.module: use cursor_op.")
        return cast("Module", parsed)

    def cursor_op(self) -> OpView:
        """Return the cursor's operation in the copy that ``module`` returns, as an ``OpView``.

        Keep the ``OpView`` as long as operations are used that were reached from it.

        Raises:
            IRNotParsed: see ``module``.
            NoSuchUnit: the cursor is on a block, a region or a value.
        """
        reader, parsed = self._read()
        return reader.find(parsed, self._cursor.get().path)

    def count(self, glob: str, function: bool = False) -> int:
        """Count the operations of a name.

        Args:
            glob: of the name, such as "arith.*".
            function: only in the cursor's function, not in the module.
        """
        check_glob(glob, glob, 0)
        return self._agent.ask(protocol.CountOperations(glob=glob, function=function)).count

    def reset(self) -> None:
        """Drop the parsed copy: the stop is over."""
        self._parsed = None

    def _read(self) -> tuple[IRReader, Module | Operation]:
        if self._reader is None:
            self._reader = IRReader()
        if self._parsed is None or self._parsed[0] != self._stack.selected:
            with self.print("module", generic=True, locations=True) as printed:
                self._parsed = self._stack.selected, self._reader.read(printed.text)
        return self._reader, self._parsed[1]
