"""IR that a replica printed, and which value each name of it stands for."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.process.forked_tool import ForkedTool


class NamedText(NamedTuple):
    """Printed IR.

    Attributes:
        text: all of it.
        names: (NAME, KEY) of every value, in the order in which the agent wrote them; the same
            value has the same key in every print of one process.
        generic: whether it is in generic form, asked for or not.
    """

    text: str
    names: list[tuple[str, str]]
    generic: bool


def print_named(
    replica: ForkedTool, operation: int | None, file: Path, generic: bool = False
) -> NamedText:
    """Print an operation.

    Args:
        replica: where.
        operation: its id; None for the module.
        file: a place for the text, which is not there afterwards.
        generic: in generic form, which IR that is not valid is printed in anyway.

    Raises:
        NoSuchUnit, UnitErased: the operation is not there.
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
        printed = replica.request(message)
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
