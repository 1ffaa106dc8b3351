"""Files of what was skipped, to be skipped again: JSON lines, the first of which is the head."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.process.timeline import Skipped
from actiondbg.support.atomic_write import write_whole

FORMAT = 1


class Head(msgspec.Struct, kw_only=True, frozen=True):
    """The first line: what the skips are of.

    Attributes:
        actiondbg: that it is a file of skips.
        format: the version of the file's format.
        tool: the path of the tool.
        argv: its command line.
        build: the tool's build id, or None.
    """

    actiondbg: Literal["skips"] = "skips"
    format: int = FORMAT
    tool: str
    argv: list[str]
    build: str | None = None


class SkipEntry(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """An action that is skipped.

    Attributes:
        ordinal: its number, from 1.
        tag: its kind.
        name: what it is about.
        location: FILE:LINE:COL of the operation that it is about, or None.
        function: the symbol that holds that operation, or None.
        nth: its number among the actions of this tag, name, location and function, from 1; 0 if
            it is not known.
        control: what is answered.
    """

    ordinal: int
    tag: str
    name: str
    location: str | None
    function: str | None
    nth: int
    control: Literal["skip"] = "skip"

    @property
    def what(self) -> tuple[str, str, str | None, str | None]:
        """What the action is, wherever in the run it comes."""
        return self.tag, self.name, self.location, self.function


def what_of(action: Skipped) -> tuple[str, str, str | None, str | None]:
    """Return what an action is, as ``SkipEntry.what``."""
    return action.tag, action.name, action.location, action.function


def write_skips(path: str | os.PathLike[str], head: Head, entries: list[SkipEntry]) -> None:
    """Write a file of skips.

    Raises:
        FileNotWritten: it cannot be written.
    """
    encoder = msgspec.json.Encoder()
    lines = [encoder.encode(one) + b"\n" for one in (head, *entries)]
    try:
        write_whole(path, b"".join(lines))
    except OSError as error:
        raise FileNotWritten(
            f"The skips cannot be written to {os.fspath(path)!r} ({error.strerror}): name another "
            "file."
        ) from error


def read_skips(path: str | os.PathLike[str]) -> list[SkipEntry]:
    """Read a file of skips.

    Raises:
        UsageError: it cannot be read, or is none; with the line.
    """
    name = os.fspath(path)
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"The skips cannot be read from {name!r} ({error.strerror}): name another file."
        ) from error
    _check_head(name, lines[0] if lines else b"")
    decoder = msgspec.json.Decoder(SkipEntry)
    entries: list[SkipEntry] = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            entries.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{name}:{number} is no skip: {error}.") from error
    return entries


def _check_head(name: str, line: bytes) -> None:
    try:
        head = msgspec.json.decode(line, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{name!r} is no file of skips, as 'save skips' writes them.") from error
    if head.format > FORMAT:
        raise UsageError(
            f"{name!r} is of format {head.format}, and this actiondbg reads up to {FORMAT}: use a "
            "newer one."
        )
