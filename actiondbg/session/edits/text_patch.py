"""Patches: the hunks of a unified diff of printed IR, and their application."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from actiondbg.errors import EditRefused

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def make_patch(before: str, after: str, context: int = 3) -> list[str]:
    """Return the hunks that turn a text into another, without line ends.

    Args:
        before: the text before.
        after: the text after.
        context: the number of unchanged lines around a change.
    """
    hunks = difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=context)
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
    """Return the head and the lines of each hunk."""
    found: list[tuple[str, list[str]]] = []
    for line in patch:
        if line.startswith("@@"):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return found


def _start(head: str) -> int:
    """Return the index of the first line of a hunk."""
    match = _HEAD.match(head)
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
