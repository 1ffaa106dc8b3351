"""Files of saved edits: a line of JSON and a patch of the printed IR for each."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import EditRefused, UsageError
from actiondbg.process.branches import Edited
from actiondbg.process.stop import Side
from actiondbg.session.occurrences import SavedAction
from actiondbg.support.output_file import write_file

_HEAD = "# actiondbg edits 2"
_HEADS = ("# actiondbg edits 1", _HEAD)  # 1 had no ``nth``
_MARK = "edit "
_HUNK_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class SavedEdit(SavedAction, kw_only=True, frozen=True, omit_defaults=True):
    """A saved edit."""

    when: Side  # "before" or "after" the action
    target: str  # the edited IR: "@SYMBOL" or "module"
    pipeline: str | None = None  # the passes that run on it; None for a patch
    generic: bool = False  # whether the patch is one of the generic form

    @property
    def place(self) -> str:
        """The place for messages."""
        where = f" in @{self.function}" if self.function else ""
        return f"{self.when} #{self.ordinal} {self.tag} ({self.name or 'nameless'}){where}"


def write_edits(
    path: str | os.PathLike[str],
    argv: Sequence[str],
    edits: Sequence[Edited],
    numbers: Mapping[int, int],
) -> None:
    """Write a file of edits; see ``write_file``.

    Args:
        argv: the command line of the run, for readers of the file.
        numbers: of their actions among the equal ones, by ordinal; none where it is unknown.
    """
    lines = [_HEAD, "# " + " ".join(argv).replace("\n", " ")]
    for one in edits:
        saved = SavedEdit(
            when=one.when,
            target=one.target,
            pipeline=one.edit.pipeline,
            generic=one.edit.generic,
            nth=numbers.get(one.ordinal, 0),
            **protocol.ref_fields(one),
        )
        lines.append(_MARK + msgspec.json.encode(saved).decode())
        lines += one.patch
    write_file(path, ("\n".join(lines) + "\n").encode(), "The edits")


def read_edits(path: str | os.PathLike[str]) -> list[tuple[SavedEdit, list[str]]]:
    """Read a file of edits, each with its patch; raises UsageError."""
    name = os.fspath(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(
            f"The edits cannot be read from {name!r} ({why}): name another file."
        ) from error
    if lines[0] not in _HEADS:
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


def make_patch(before: str, after: str) -> list[str]:
    """Return the hunks that turn a text into another, without line ends."""
    hunks = difflib.unified_diff(_lines(before), _lines(after), lineterm="")
    return list(hunks)[2:]  # without the file names


def apply_patch(text: str, patch: Sequence[str]) -> str:
    """Return a text with the hunks of a patch applied.

    A hunk whose lines are elsewhere in the text is applied at the place nearest to its own.

    Raises:
        EditRefused: the lines of a hunk are not in the text.
    """
    lines, moved = _lines(text), 0
    for head, body in _hunks(patch):
        old = [line[1:] for line in body if line[:1] in (" ", "-")]
        new = [line[1:] for line in body if line[:1] in (" ", "+")]
        start = _find(lines, old, _start(head) + moved)
        lines[start : start + len(old)] = new
        moved += len(new) - len(old)
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _hunks(patch: Sequence[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in patch:
        if line.startswith("@@"):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return found


def _start(head: str) -> int:
    """Return the index of the first line of a hunk."""
    match = _HUNK_HEAD.match(head)
    if match is None:
        raise EditRefused(f"{head!r} is not the head of a hunk, such as '@@ -1,3 +1,4 @@'.")
    return int(match[1]) - (match[2] != "0")


def _find(lines: list[str], wanted: list[str], near: int) -> int:
    places = [
        at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted
    ]
    if not places:
        first = next((line.strip() for line in wanted if line.strip()), "")
        raise EditRefused(f"the IR there is another: the lines from {first!r} on are not in it")
    return min(places, key=lambda at: abs(at - near))
