"""Printed IR with the values that its SSA names denote."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.ir.printed_values import PrintedValues
from actiondbg.ir.value_names import NamedKeys, ValueNames, read_names
from actiondbg.process.forked_tool import ForkedTool


class NamedText(NamedTuple):
    """Printed IR.

    Attributes:
        text: the printed IR.
        named: the values; each has the same key in every print of one process.
        generic: whether it is in generic form, requested or not.
    """

    text: str
    named: NamedKeys
    generic: bool

    @property
    def names(self) -> list[tuple[str, str]]:
        """The (NAME, KEY) of every value."""
        return [(name, key) for name, key, _ in self.named.inside]

    def renamed(self, names: ValueNames) -> NamedText:
        """Return the IR with a session's names."""
        text = PrintedValues(self.text, self.named).renamed(names)
        inside, around = (
            [each._replace(name=names.known(each.key) or each.name) for each in part]
            for part in (self.named.inside, self.named.around)
        )
        return NamedText(text, NamedKeys(inside, around), self.generic)


def print_named(
    fork: ForkedTool, operation: int | None, file: Path, generic: bool = False
) -> NamedText:
    """Print an operation with the names of its values.

    Args:
        operation: its id; None for the module.
        file: a path for a temporary file.
        generic: print in generic form; invalid IR is always printed so.

    Raises:
        NoSuchUnit, UnitErased: the operation does not exist.
    """
    names = file.with_name(f"{file.name}-names")
    message = protocol.Print(
        what="module" if operation is None else "operation",
        id=operation,
        path=str(file),
        names=str(names),
        generic=generic,
    )
    try:
        printed = fork.request(message)
        return NamedText(_read(file), read_names(_read(names)), printed.generic)
    finally:
        file.unlink(missing_ok=True)
        names.unlink(missing_ok=True)


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
