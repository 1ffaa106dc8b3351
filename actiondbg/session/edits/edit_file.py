"""Files of saved edits: a line of JSON and the hunks of a patch for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.process.stop import Side, Stop
from actiondbg.process.timeline import Edited
from actiondbg.support.atomic_write import write_whole

_HEAD = "# actiondbg edits 1"
_MARK = "edit "


class SavedEdit(
    protocol.ActionRef,
    kw_only=True,
    frozen=True,  # pyright: ignore[reportGeneralTypeIssues]
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """A saved edit.

    Attributes:
        when: "before" or "after" the action.
        target: the edited IR: "@SYMBOL" or "module".
        pipeline: the passes that run on it; None for a patch.
        generic: whether the patch is one of the generic form.
    """

    when: Side
    target: str
    pipeline: str | None = None
    generic: bool = False

    def matches(self, stop: Stop) -> bool:
        """Return whether a stop is at the action of the edit."""
        wanted = (self.when, self.ordinal, self.tag, self.name, self.op)
        return wanted == (stop.when, stop.ordinal, stop.tag, stop.name, stop.op)

    @property
    def place(self) -> str:
        """The place for messages."""
        return f"{self.when} #{self.ordinal} {self.tag} ({self.name or 'nameless'})"


def write_edits(path: str | os.PathLike[str], argv: Sequence[str], edits: Sequence[Edited]) -> None:
    """Write a file of edits.

    Args:
        path: of the file.
        argv: the command line of the run, for readers of the file.
        edits: in the order of the events.

    Raises:
        FileNotWritten: the file cannot be written.
    """
    lines = [_HEAD, "# " + " ".join(argv).replace("\n", " ")]
    for one in edits:
        saved = SavedEdit(
            when=one.when,
            target=one.target,
            pipeline=one.edit.pipeline,
            generic=one.edit.generic,
            **protocol.ref_fields(one),
        )
        lines.append(_MARK + msgspec.json.encode(saved).decode())
        lines += one.patch
    try:
        write_whole(path, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise FileNotWritten(
            f"The edits cannot be written to {os.fspath(path)!r} ({error.strerror}): name another "
            "file."
        ) from error


def read_edits(path: str | os.PathLike[str]) -> list[tuple[SavedEdit, list[str]]]:
    """Read a file of edits: each with its patch.

    Raises:
        UsageError: the file cannot be read, or a line is invalid.
    """
    name = os.fspath(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(
            f"The edits cannot be read from {name!r} ({why}): name another file."
        ) from error
    if lines[0] != _HEAD:
        raise UsageError(
            f"{name!r} is not a file of edits: name one that 'save edits' has written."
        )
    found: list[tuple[SavedEdit, list[str]]] = []
    for number, line in enumerate(lines[1:], 2):
        if line.startswith(_MARK):
            found.append((_decode(name, number, line), []))
        elif found:
            found[-1][1].append(line)
    return found


def _decode(name: str, number: int, line: str) -> SavedEdit:
    try:
        return msgspec.json.decode(line.removeprefix(_MARK), type=SavedEdit)
    except msgspec.DecodeError as error:
        raise UsageError(f"{name}:{number} is not a saved edit: {error}.") from error
