"""Printed IR with the values that its SSA names denote."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.process.forked_tool import ForkedTool


class NamedText(NamedTuple):
    """Printed IR.

    Attributes:
        text: the printed IR.
        names: (NAME, KEY) of every value, in the agent's order; a value has the same key in every
            print of one process.
        generic: whether it is in generic form, requested or not.
    """

    text: str
    names: list[tuple[str, str]]
    generic: bool


def print_named(
    fork: ForkedTool, operation: int | None, file: Path, generic: bool = False
) -> NamedText:
    """Print an operation with the names of its values.

    Args:
        fork: the tool that prints.
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
        pairs = [_pair(line) for line in _read(names).splitlines()]
        return NamedText(_read(file), pairs, printed.generic)
    finally:
        file.unlink(missing_ok=True)
        names.unlink(missing_ok=True)


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _pair(line: str) -> tuple[str, str]:
    name, _, key = line.partition(" ")
    return name, key
