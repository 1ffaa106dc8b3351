"""The sentences of the page on what is in it and what is left out."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actiondbg.recording.report.limits import Limits
    from actiondbg.recording.report.overview import Source

_TABLES = {
    "groups": "names of passes, patterns and folds, longest self time first",
    "reasons": "reasons of failure, most frequent first",
    "functions": "functions, most changed first",
    "lines": "source lines, most changed first",
    "operations": "names of operations, most changed first",
}
_SEARCHED = {
    "groups": "names",
    "operations": "operations",
    "functions": "functions",
    "lines": "lines",
    "reasons": "reasons",
}


class Held(NamedTuple):
    """The amount of content in the page.

    Attributes:
        listed: the number of actions with listed changes.
        changed: the number of actions that changed the IR.
        diffs: the number of actions with a diff.
        with_ir: the number of actions with recorded IR.
        rows: for each table the number of rows in the page and in total.
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
    """Return sentences on the content, the one on actions first, the way to the rest last."""
    sentences = [held_actions(held), _changes(held), _diffs(held)]
    for name, what in _TABLES.items():
        shown, total = held.rows[name]
        if shown < total:
            sentences.append(f"{shown:,} of {total:,} {what}.")
    sentences.append(
        f"At most {held.limits.suspects:,} rewrites of each kind that may not converge, and at "
        f"most {held.limits.diff_rows:,} rows of a diff."
    )
    if held.source.recording.header.ir == "changed":
        sentences.append("The IR was recorded as one line per operation that an action changed.")
    return [*sentences, _the_rest(held.source)]


def _the_rest(source: Source) -> str:
    path = shlex.quote(source.shown_path)
    start = "The recording holds everything"
    if not source.is_kept:
        start = f"A recording holds everything: actiondbg record -o {path} -- TOOL ARGS... makes it"
    return (
        f'{start}; actiondbg open {path} goes to any action, actiondbg query {path} "SELECT ..." '
        f"queries all of them, and actiondbg report {path} --size 20 writes a page with four times "
        "as much."
    )


def held_actions(held: Held) -> str:
    """Return the sentence on single actions."""
    count = held.source.actions
    if held.actions >= count:
        return f"The page holds all {counted(count, 'action')}."
    if held.source.recording.header.imported:
        return (
            f"The page holds {held.actions:,} of {counted(count, 'pass')}, and all their parents."
        )
    return (
        f"The page holds {held.actions:,} of {counted(count, 'action')}: those with the "
        "longest durations "
        "and self times, those with changes shown, and all their parents. The tables, and the bars "
        "above the lanes of the timeline, count every action."
    )


def searched(held: Held) -> str:
    """Return the sentence on the scope of a search."""
    parts = [
        f"{shown:,} {what}" if shown == total else f"{shown:,} of {total:,} {what}"
        for name, what in _SEARCHED.items()
        for shown, total in (held.rows[name],)
    ]
    count = held.source.actions
    actions = f"all {counted(count, 'action')}"
    if held.actions < count:
        actions = f"{held.actions:,} of {counted(count, 'action')} (the others are not in the page)"
    return f"Searched {', '.join(parts)}, {counted(held.diffs, 'diff')}, and {actions}."


def _changes(held: Held) -> str:
    most = held.limits.changes
    if held.listed >= held.changed:
        return (
            f"The changes of all {counted(held.changed, 'action')} that changed the "
            f"IR: at most {most} of "
            "each."
        )
    return (
        f"The changes of {held.listed:,} of {counted(held.changed, 'action')} that "
        "changed the IR: the "
        f"first of each name, then the second of each, and so on; at most {most} of each action."
    )


def _diffs(held: Held) -> str:
    if not held.with_ir and held.source.recording.header.imported:
        return "There are no diffs: no pass is known to have changed the IR."
    if not held.with_ir:
        return (
            "There are no diffs, because the recording holds no IR of changing actions: record it "
            "with --ir changed."
        )
    if held.diffs >= held.with_ir:
        return f"The diffs of all {counted(held.with_ir, 'action')} whose IR was recorded."
    return (
        f"The diffs of {held.diffs:,} of {counted(held.with_ir, 'action')} whose IR was "
        "recorded, chosen "
        "like those with changes."
    )
