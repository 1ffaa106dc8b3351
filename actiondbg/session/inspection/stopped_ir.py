"""The IR at a stop, printed and as ``mlir.ir`` objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import IRNotParsed
from actiondbg.ir.bindings import IRReader
from actiondbg.ir.printed import Excerpt, PrintedText, without_inner_regions
from actiondbg.ir.printed_values import PrintedValues
from actiondbg.ir.value_names import NamedKeys, ValueNames, read_names
from actiondbg.session.inspection.agent_access import AgentAccess
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.inspection.stack import Stack
from actiondbg.support.globs import check_glob

if TYPE_CHECKING:
    from mlir.ir import Module, Operation, OpView  # pyright: ignore[reportMissingTypeStubs]

What = Literal["cursor", "action", "function", "module"]


class PrintForm(TypedDict, total=False):
    """The form in which IR is printed; see ``StoppedIR.print``."""

    generic: bool
    locations: bool
    skip_regions: bool


_HOLDERS = frozenset({"function", "module"})


class StoppedIR:
    """The IR at a stop.

    Every method raises NotStopped when there is no stop.
    """

    def __init__(
        self,
        agent: AgentAccess,
        stack: Stack,
        cursor: Cursor,
        names: ValueNames,
        new_file: Callable[[], Path],
    ) -> None:
        self._agent = agent
        self._names = names
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
        printer_names: bool = False,
    ) -> PrintedText:
        """Print IR into a file of the session's.

        Args:
            what: the cursor's unit, the action's operation, the function around the cursor (the
                outermost operation if there is none) or its module.
            generic: in generic form.
            locations: with locations.
            skip_regions: without what is in regions; a function or a module is printed with the
                operations directly in it, without what is in theirs.
            elide: leave out the elements of constants of more elements than this.
            mark: find the lines of the cursor's operation.
            printer_names: name values as MLIR's printer does, which numbers them anew each time,
                instead of by the names that they have in the session.

        Raises:
            UnitErased: it is erased.
        """
        file = self._new_file()
        names = file.with_name(f"{file.name}-names")
        message = protocol.Print(
            what=what,
            path=str(file),
            names=None if printer_names else str(names),
            order=None if printer_names else self._names.orders.get(what),
            generic=generic,
            locations=locations,
            skip_regions=skip_regions and what not in _HOLDERS,
            mark=mark and not (skip_regions and what in _HOLDERS),
            elide=elide,
        )
        try:
            printed = self._agent.ask(message)
            if names.exists():
                named = read_names(names.read_text(encoding="utf-8", errors="replace"))
                is_named_alike = not self._rename(file, named)
                self._names.orders[what] = printed.order if is_named_alike else ""
            if skip_regions and what in _HOLDERS:
                text = without_inner_regions(file.read_text(encoding="utf-8", errors="replace"))
                file.write_text(text, encoding="utf-8")
            written = file.stat().st_size
            return PrintedText(file, msgspec.structs.replace(printed, bytes=written))
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        finally:
            names.unlink(missing_ok=True)

    @property
    def value_names(self) -> list[str]:
        """The names of the values that were shown."""
        return list(self._names)

    def excerpt(
        self,
        operation: int | None = None,
        *,
        part: int = 0,
        before: int = 5,
        after: int = 5,
        elide: int | None = 16,
        definitions: bool = False,
    ) -> Excerpt:
        """Return a few lines of IR, in a time that does not depend on the size of the function.

        Args:
            operation: the operation id in the middle; None for the cursor.
            part: the number of its regions before the line in the middle.
            before: the number of lines before it.
            after: the number of lines after it.
            elide: leave out the elements of constants of more elements than this; None for none.
            definitions: add the operations that define the operands of the line in the middle.

        Raises:
            UnitErased, NoSuchUnit: there is no such unit now.
        """
        message = protocol.GetExcerpt(
            id=operation,
            part=part,
            before=before,
            after=after,
            elide=protocol.ALL_ELEMENTS if elide is None else elide,
            definitions=definitions,
        )
        return Excerpt(**msgspec.structs.asdict(self._agent.ask(message)))

    def _rename(self, file: Path, named: NamedKeys) -> bool:
        """Write the session's names into printed IR; return whether they are others."""
        self._names.learn_all(named)
        if all(self._names.known(each.key) == each.name for each in named.around):
            return False
        text = file.read_text(encoding="utf-8", errors="replace")
        file.write_text(PrintedValues(text, named).renamed(self._names), encoding="utf-8")
        return True

    def module(self) -> Module:
        """Return the outermost module at the stop, with locations, as an ``mlir.ir.Module``.

        The module is a copy, made once at a stop: changing it does not change the tool's.

        Raises:
            IRNotParsed: the bindings are missing, the IR is not valid at this stop, or its
                outermost operation is not a builtin.module.
        """
        parsed = self._read()[1]
        if not hasattr(parsed, "body"):
            raise IRNotParsed("The outermost operation is not a builtin.module: use cursor_op.")
        return cast("Module", parsed)

    def cursor_op(self) -> OpView:
        """Return the cursor's operation in the copy that ``module`` returns, as an ``OpView``.

        Keep the ``OpView`` as long as you use operations that you reached through it.

        Raises:
            IRNotParsed: see ``module``.
            NoSuchUnit: the cursor is on a block, a region or a value.
        """
        reader, parsed = self._read()
        return reader.find(parsed, self._cursor.get().path)

    def count(self, glob: str, function: bool = False) -> int:
        """Count the operations of a name.

        Args:
            glob: of the name, such as "arith.*"; "op:" may be before it, as in a SPEC.
            function: only in the cursor's function, not in the module.

        Raises:
            UsageError: it is no glob.
        """
        glob = glob.removeprefix("op:")
        check_glob(glob, glob, 0)
        return self._agent.ask(protocol.CountOperations(glob=glob, function=function)).count

    def reset(self) -> None:
        """Drop the parsed copy: the stop is over."""
        self._parsed = None

    def _read(self) -> tuple[IRReader, Module | Operation]:
        if self._reader is None:
            self._reader = IRReader()
        if self._parsed is None or self._parsed[0] != self._stack.selected:
            with self.print("module", generic=True, locations=True, printer_names=True) as printed:
                self._parsed = self._stack.selected, self._reader.read(printed.text)
        return self._reader, self._parsed[1]
