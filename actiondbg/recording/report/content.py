"""The content of a page, queried from the recording."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from actiondbg.recording.report import changes, omissions, overview, page_tables
from actiondbg.recording.report.detail import held_actions
from actiondbg.recording.report.diffs import PaintedDiffs
from actiondbg.recording.report.queries import Columns, Shared, Table, ask
from actiondbg.recording.report.suspects import suspects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from duckdb import DuckDBPyConnection

    from actiondbg.recording.recording import Recording
    from actiondbg.recording.report.limits import Limits

_MOST = 1_500  # buckets per thread: more than the columns of a screen
_LONGEST = 500  # characters of a name


class Density(TypedDict):
    """The actions of a run over time.

    Attributes:
        end: the end of the run, in ns.
        width: the width of a bucket, in ns.
        threads: for each thread its number and its counts per bucket.
    """

    end: int
    width: int
    threads: list[dict[str, object]]


def density(database: DuckDBPyConnection, buckets: int) -> Density:
    """Count the actions, and the actions that changed IR, by thread and by bucket."""
    [(end, threads)] = ask(
        database,
        """
        SELECT coalesce(max(start_ns + coalesce(duration_ns, 0)), 0), count(DISTINCT thread)
        FROM actions
        """,
    )
    count = max(min(_MOST, buckets // max(threads, 1)), 1)
    width = end // count + 1
    rows = ask(
        database,
        """
        SELECT thread, start_ns // $width AS bucket, count(*), count_if(changed)
        FROM actions GROUP BY ALL ORDER BY ALL
        """,
        width=width,
    )
    counted: dict[int, dict[str, list[int]]] = {}
    for thread, bucket, calls, changed in rows:
        both = counted.setdefault(thread, {"calls": [0] * count, "changed": [0] * count})
        both["calls"][bucket], both["changed"][bucket] = calls, changed
    columns: list[dict[str, object]] = [
        {"thread": thread, **both} for thread, both in counted.items()
    ]
    return {"end": end, "width": width, "threads": columns}


class Content(NamedTuple):
    """The content of a page.

    Attributes:
        title: the name of the tool.
        command: the command line.
        facts: the table at the top.
        counts: one row per kind of action.
        changes: the number of changes by kind.
        left_out: sentences on the parts of the recording in the page, and those left out.
        run: the data of the scripts.
    """

    title: str
    command: str
    facts: list[overview.Fact]
    counts: list[overview.Count]
    changes: dict[str, int]
    left_out: list[str]
    run: dict[str, object]


def content_of(source: overview.Source, database: DuckDBPyConnection, limits: Limits) -> Content:
    """Query the content of a page with some limits."""
    recording = source.recording
    shared = Shared()
    counts = overview.counts(database)
    when = density(database, limits.buckets)
    tables = _tables(recording, database, shared, limits)
    chosen = changes.changing_ordinals(database, limits.changing)
    listed = changes.changes(database, shared, chosen, limits.changes)
    diffs = PaintedDiffs(limits.diff_rows, limits.diff_bytes)
    if recording.header.has_ir:
        with_ir = changes.ordinals_with_ir(database, limits.diffs)
        changes.add_diffs(recording, diffs, with_ir, limits.compared)
    found = suspects(database, shared, limits.suspects)
    of_actions = [tables[name].columns for name in ("groups", "operations", "reasons")]
    named = {*chosen, *diffs.ordinals, *_named([*of_actions, *found.values()])}
    actions = held_actions(database, shared, limits.actions, named)
    held = omissions.Held(
        source=source,
        limits=limits,
        actions=len(actions["ordinal"]),
        listed=len(chosen),
        changed=sum(each.changed for each in counts),
        diffs=len(diffs.ordinals),
        with_ir=changes.count_with_ir(database) if recording.header.has_ir else 0,
        rows={name: (len(next(iter(t.columns.values()))), t.total) for name, t in tables.items()},
    )
    run: dict[str, object] = {
        "count": source.actions,
        "path": source.shown_path,
        "end": when["end"],
        "timed": not recording.header.imported,
        "events": recording.events,
        "outcomes": page_tables.OUTCOMES,
        "density": when,
        **{name: table.columns for name, table in tables.items()},
        "suspects": found,
        "changes": listed,
        "diffs": diffs.as_json(),
        "actions": actions,
        "names": [(tag, cut(name)) for tag, name in shared.names.all],
        "texts": [cut(text) for text in shared.texts.all],
        "searched": omissions.searched(held),
        "heldWords": omissions.held_actions(held),
    }
    return Content(
        title=_title(recording),
        command=overview.command(recording),
        facts=overview.facts(source, when["end"]),
        counts=counts,
        changes=overview.change_counts(database),
        left_out=omissions.left_out(held),
        run=run,
    )


def _title(recording: Recording) -> str:
    named = recording.header.imported or next(iter(recording.header.argv), "a run")
    return os.path.basename(named)


def _tables(
    recording: Recording, database: DuckDBPyConnection, shared: Shared, limits: Limits
) -> dict[str, Table]:
    places = partial(page_tables.places, database, shared, limits.places)
    tables = {
        "groups": page_tables.names(database, shared, limits.groups, recording.events),
        "reasons": page_tables.reasons(database, shared, limits.reasons),
        "functions": places("function"),
        "lines": places("file", ", coalesce(a.line, 0) AS line"),
        "operations": places("op"),
    }
    for name in ("full", "labels"):
        texts = tables["groups"].columns[name]
        texts[:] = [cut(text) if text else text for text in texts]
    return tables


def _named(tables: Iterable[Columns]) -> set[int]:
    """Return the actions that tables link to."""
    named: set[int] = set()
    for columns in tables:
        named.update(*(columns[name] for name in ("first", "last") if name in columns))
    return named


def cut(text: str, most: int = _LONGEST) -> str:
    """Return a text without what is longer than ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]} ..."
