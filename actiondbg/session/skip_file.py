"""Files of saved skips and skip rules: JSON lines, beginning with a header."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.process.stop import Stop
from actiondbg.support.atomic_write import write_whole

FORMAT = 2  # 1 had no ``op``, and no rules


class Head(msgspec.Struct, kw_only=True, frozen=True):
    """The header: the run that the skips belong to.

    Attributes:
        actiondbg: the type of the file.
        format: the version of the format.
        tool: the path of the tool.
        argv: its command line.
        build: the tool's build id, or None.
    """

    actiondbg: Literal["skips"] = "skips"
    format: int = FORMAT
    tool: str
    argv: list[str]
    build: str | None = None


class SkipEntry(
    protocol.ActionRef,
    kw_only=True,
    frozen=True,  # pyright: ignore[reportGeneralTypeIssues]
    forbid_unknown_fields=True,
):
    """A saved skip.

    Attributes:
        nth: its number among the actions of this tag, name, location and function, from 1; 0 if
            unknown.
        control: always "skip".
    """

    nth: int
    control: Literal["skip"] = "skip"

    @property
    def what(self) -> tuple[str, str, str | None, str | None]:
        """The identity of the action apart from its ordinal."""
        return what_of(self)

    def matches(self, stop: Stop) -> bool:
        """Return whether a stop is at this action or an equal one."""
        return self.what in (what_of(stop), (stop.tag, stop.unnamed, *what_of(stop)[2:]))


class RuleEntry(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A saved skip rule.

    Attributes:
        rule: the SPEC of the actions to skip.
        condition: as of a breakpoint; None for none.
    """

    rule: str
    condition: str | None = None


class SavedSkips(NamedTuple):
    """The content of a file of skips."""

    entries: list[SkipEntry]
    rules: list[RuleEntry]


def what_of(action: protocol.ActionRef) -> tuple[str, str, str | None, str | None]:
    """Return the identity of an action apart from its ordinal."""
    return action.tag, action.name, action.location, action.function


def write_skips(
    path: str | os.PathLike[str],
    head: Head,
    entries: Sequence[SkipEntry],
    rules: Sequence[RuleEntry] = (),
) -> None:
    """Write a file of skips.

    Raises:
        FileNotWritten: the file cannot be written.
    """
    encoder = msgspec.json.Encoder()
    lines = [encoder.encode(one) + b"\n" for one in (head, *entries, *rules)]
    try:
        write_whole(path, b"".join(lines))
    except OSError as error:
        raise FileNotWritten(
            f"The skips cannot be written to {os.fspath(path)!r} ({error.strerror}): name another "
            "file."
        ) from error


def read_skips(path: str | os.PathLike[str]) -> SavedSkips:
    """Read a file of skips.

    Raises:
        UsageError: the file cannot be read, or a line is invalid.
    """
    name = os.fspath(path)
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"The skips cannot be read from {name!r} ({error.strerror}): name another file."
        ) from error
    _check_head(name, lines[0] if lines else b"")
    saved = SavedSkips([], [])
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            _decode(line, saved)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{name}:{number} is not a saved skip: {error}.") from error
    return saved


def _decode(line: bytes, saved: SavedSkips) -> None:
    """Decode a line, and add it to the others of its kind."""
    if line.lstrip().startswith(b'{"rule"'):
        saved.rules.append(msgspec.json.decode(line, type=RuleEntry))
    else:
        saved.entries.append(msgspec.json.decode(line, type=SkipEntry))


def _check_head(name: str, line: bytes) -> None:
    try:
        head = msgspec.json.decode(line, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{name!r} is not a file of skips: name one that 'save skips' has written."
        ) from error
    if head.format > FORMAT:
        raise UsageError(
            f"{name!r} has format {head.format}, and this actiondbg reads formats up to {FORMAT}: "
            "use a newer actiondbg."
        )
