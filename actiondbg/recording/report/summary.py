"""What the page holds of the recording and what not, in words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actiondbg.recording.report.limits import Limits
    from actiondbg.recording.report.overview import Source

_TABLES = {
    "groups": "names of passes, patterns and folds, those of the longest self time",
    "reasons": "reasons of failure, the commonest",
    "functions": "functions, those in which most was changed",
    "lines": "lines of source, those of whose operations most were changed",
    "operations": "names of operations, those that were changed most often",
}
_SEARCHED = {
    "groups": "names",
    "operations": "operations",
    "functions": "functions",
    "lines": "lines",
    "reasons": "reasons",
}


class Held(NamedTuple):
    """How much the page holds.

    Attributes:
        source: what it is made of.
        limits: of the page.
        actions: how many are held one by one.
        listed: of how many the changes are listed.
        changed: how many changed the IR.
        diffs: how many have a diff.
        with_ir: of how many the recording holds the IR.
        rows: of each table, how many rows it has in the page, and how many in all.
    """

    source: Source
    limits: Limits
    actions: int
    listed: int
    changed: int
    diffs: int
    with_ir: int
    rows: Mapping[str, tuple[int, int]]


def left_out(held: Held) -> list[str]:
    """Return sentences, the one on actions first and the way to the rest last."""
    told = [held_actions(held), _changes(held), _diffs(held)]
    for name, what in _TABLES.items():
        shown, total = held.rows[name]
        if shown < total:
            told.append(f"{shown:,} of {total:,} {what}.")
    told.append(
        f"Of what may not converge at most {held.limits.suspects:,} of each kind are shown, "
        f"and of a diff at most {held.limits.diff_rows:,} rows."
    )
    if held.source.recording.header.ir == "changed":
        told.append("The IR was recorded as a line for each operation that an action changed.")
    return [*told, _the_rest(held.source)]


def _the_rest(source: Source) -> str:
    path = shlex.quote(source.shown_path)
    start = "The recording holds all of it"
    if not source.is_kept:
        start = f"A recording holds all of it, made by actiondbg record -o {path} -- TOOL ARGS..."
    return (
        f'{start}: actiondbg open {path} goes to any action, actiondbg query {path} "SELECT ..." '
        f"asks about all of them, and actiondbg report {path} --size 20 makes a page that holds "
        "four times as much."
    )


def held_actions(held: Held) -> str:
    """Return the sentence on single actions."""
    count = held.source.recording.count
    if held.actions >= count:
        return f"All {count:,} actions are in the page."
    return (
        f"Of {count:,} actions the page holds {held.actions:,} one by one: those that took "
        "longest, by all of their time and by their own, those whose changes it shows, and all "
        "that are around these. Every action is counted in the tables, and in the bars above the "
        "lanes of the timeline."
    )


def searched(held: Held) -> str:
    """Return what a search looks through."""
    parts = [
        f"{shown:,} {what}" if shown == total else f"{shown:,} of {total:,} {what}"
        for name, what in _SEARCHED.items()
        for shown, total in (held.rows[name],)
    ]
    count = held.source.recording.count
    actions = f"all {count:,} actions"
    if held.actions < count:
        actions = f"{held.actions:,} of {count:,} actions (the others are not in the page)"
    return f"Looked through {', '.join(parts)}, {held.diffs:,} diffs, and {actions}."


def _changes(held: Held) -> str:
    most = held.limits.changes
    if held.listed >= held.changed:
        return (
            f"The changes of all {held.changed:,} actions that made some: at most {most} of each."
        )
    return (
        f"The changes of {held.listed:,} of {held.changed:,} actions that made some: the first of "
        f"each name, then the second of each, and so on; at most {most} of each action."
    )


def _diffs(held: Held) -> str:
    if not held.with_ir:
        return (
            "There are no diffs, as the recording holds no IR of actions that changed something: "
            "actiondbg record --ir changed keeps it."
        )
    if held.diffs >= held.with_ir:
        return f"The diffs of all {held.with_ir:,} actions whose IR was recorded."
    return (
        f"The diffs of {held.diffs:,} of {held.with_ir:,} actions whose IR was recorded, chosen "
        "as the changes are."
    )
