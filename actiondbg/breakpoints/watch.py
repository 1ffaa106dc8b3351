"""TARGET: the target of a watch.

``cursor``, ``@12`` (an operation's id), ``%3`` or ``%x#1`` (an SSA name at the stop): an operation;
``attribute NAME of`` one of these: its attribute; ``op:GLOB count``: the number of operations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from actiondbg.errors import UsageError
from actiondbg.protocol import Watch
from actiondbg.support.globs import check_glob

_ATTRIBUTE = re.compile(r"""attribute\s+(?:"([^"]+)"|(\S+))\s+of\s+(\S+)""")
_COUNT = re.compile(r"""op:\s*(?:"([^"]+)"|(\S+))\s+count""")
_ID = re.compile(r"@([0-9]{1,18})")
_VALUE = re.compile(r"%[\w$.-]+(?:#[0-9]+)?")


@dataclass(frozen=True)
class Target:
    """A parsed TARGET, before its operation is resolved.

    Attributes:
        kind: the kind of the watch.
        operation: "cursor", an id or an SSA name; None for a count.
        name: the attribute's name, or the glob of counted operations.
    """

    kind: Literal["operation", "count", "attribute"]
    operation: str | int | None = None
    name: str | None = None

    def __str__(self) -> str:
        """Return the target as a user writes it."""
        if self.kind == "count":
            return f"op:{self.name} count"
        operation = f"@{self.operation}" if isinstance(self.operation, int) else self.operation
        return f"attribute {self.name} of {operation}" if self.name else f"{operation}"


def parse_target(text: str) -> Target:
    """Parse a TARGET.

    Raises:
        UsageError: a syntax error, with its position.
    """
    stripped = text.strip()
    if match := _COUNT.fullmatch(stripped):
        glob = match[1] or match[2]
        check_glob(glob, text, text.index(glob))
        return Target("count", name=glob)
    if match := _ATTRIBUTE.fullmatch(stripped):
        return Target("attribute", parse_operation(match[3]), match[1] or match[2])
    operation = _operation(stripped)
    if operation is None:
        raise UsageError(
            f"{stripped!r} cannot be watched: give cursor, an id such as @12, an SSA name such as "
            "%3, attribute NAME of one of these, or op:GLOB count."
        )
    return Target("operation", operation)


def parse_operation(text: str) -> str | int:
    """Parse a reference to an operation: ``cursor``, ``@12`` or ``%3``.

    Returns:
        The id as a number, otherwise the word.

    Raises:
        UsageError: the text is none of these.
    """
    operation = _operation(text.strip())
    if operation is None:
        raise UsageError(
            f"{text.strip()!r} is not an operation: give cursor, an id such as @12, or an SSA name "
            "such as %3."
        )
    return operation


class OperationGlob(NamedTuple):
    """Operations by their name."""

    glob: str


def parse_wanted(text: str) -> str | int | OperationGlob:
    """Parse a reference to operations: ``cursor``, ``@12``, ``%3`` or ``op:GLOB``.

    Raises:
        UsageError: the text is none of these.
    """
    kind, colon, glob = text.partition(":")
    if kind != "op" or not colon:
        return parse_operation(text)
    if not glob:
        raise UsageError("'op:' lacks a name: give one, such as op:memref.*.")
    check_glob(glob, text, len("op:"))
    return OperationGlob(glob)


def _operation(text: str) -> str | int | None:
    if text == "cursor" or _VALUE.fullmatch(text):
        return text
    match = _ID.fullmatch(text)
    return int(match[1]) if match and int(match[1]) else None


def watch_spec(watch: Watch) -> str:
    """Return the command that sets a watch again, in other runs too."""
    option = "--exact " if watch.exact else ""
    if watch.kind == "count":
        return f"watch {option}op:{quoted(watch.glob or '')} count"
    if watch.kind == "attribute":
        return f"watch {option}attribute {quoted(watch.attribute or '')} of @{watch.id}"
    return f"watch {option}@{watch.id}"


def quoted(text: str) -> str:
    """Return a word as commands take it, in quotes if it needs them."""
    quote = "'" if '"' in text else '"'
    return text if re.fullmatch(r"[\w.*?:@-]+", text) else f"{quote}{text}{quote}"
