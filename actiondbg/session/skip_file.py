"""Files of saved skips and skip rules: JSON lines, beginning with a header."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.session.occurrences import SavedAction
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.decoders import json_bytes

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


class SkipEntry(SavedAction, kw_only=True, frozen=True):
    """A saved skip.

    Attributes:
        control: always "skip".
    """

    control: Literal["skip"] = "skip"


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
    lines = [json_bytes(one) + b"\n" for one in (head, *entries, *rules)]
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
