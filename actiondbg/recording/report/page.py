"""The page: one self-contained file that allows no other scripts, and its content."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Set
from functools import partial
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.ir.html import token_colors
from actiondbg.ir.value_names import ValueNames
from actiondbg.recording.format.arrow import Ints, int_array, pa
from actiondbg.recording.format.arrow import Table as ArrowTable
from actiondbg.recording.query.database import keep_actions, open_database
from actiondbg.recording.query.filters import where_any
from actiondbg.recording.report import overview, queries
from actiondbg.recording.report.diffs import PaintedDiffs, recorded_diff
from actiondbg.recording.report.overview import SIZE, ReportLimits, ReportSource
from actiondbg.recording.report.queries import (
    ALL_CHANGES,
    NAME,
    OUTCOMES,
    Columns,
    Shared,
    Table,
    ask,
    ask_columns,
)
from actiondbg.recording.report.suspects import suspects
from actiondbg.recording.session.table_columns import ActionColumns
from actiondbg.support.html_page import (
    TABLES,
    Cell,
    Html,
    asset,
    code,
    element,
    facts,
    html,
    html_page,
    joined,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from actiondbg.recording.recording import Recording

_STEP = 10  # units between the beginnings of two actions
_SCRIPTS = ("base", "action", "timeline", "tables", "search", "start")
_SMALLER = 0.7  # factor for the limits of a page that is too large
_TRIES = 12
_LONGEST = 4_000  # characters of the command line


def actions_in_steps(recording: Recording) -> ArrowTable:
    """Return the table of actions, with a step as the time between the beginnings of two actions.

    An action that may have changed the IR counts as one without a change.
    """
    table: Any = recording.table("actions")
    ordinals: Ints = table.column("ordinal").to_numpy()
    last = ActionColumns(recording).line.behind  # by ordinal, as an import lacks no action
    columns = {
        "start_ns": ordinals * _STEP,
        "duration_ns": (last - ordinals + 1) * _STEP - 1,
        "self_ns": np.zeros_like(ordinals),
    }
    at = table.column_names.index("changed")
    table = table.set_column(at, "changed", table.column("changed").fill_null(False))
    unfinished = np.array(table.column("outcome").to_pylist()) == "unfinished"
    for name, values in columns.items():
        absent = unfinished if name == "duration_ns" else None
        at = table.column_names.index(name)
        table = table.set_column(at, name, int_array(values, pa.int64(), absent))
    return table


class ReportPage(NamedTuple):
    """The HTML of a report, and the number of actions that it is about."""

    html: str
    actions: int


def report_page(
    recording: Recording,
    size: float = SIZE,
    *,
    is_kept: bool = True,
    filters: Sequence[str] = (),
    sections: Sequence[str] = (),
    script: str = "",
) -> ReportPage:
    """Make the report of a recording.

    Args:
        recording: a recording of any length.
        size: the largest size of the page, in MB. A long recording is shown by its longest actions
            and by summaries of all.
        is_kept: whether the recording still exists when the page is read.
        filters: SPECs, each with ``if EXPR`` or without: the page is about actions that match any,
            and actions inside of them; none for all.
        sections: HTML of further sections, with headings of level 2.
        script: of these sections, run after those of the page.

    Raises:
        UsageError: a filter has a syntax error.
    """
    limits = ReportLimits().scaled(size / SIZE)
    where = where_any(filters)
    with contextlib.closing(open_database(recording)) as database:
        if recording.header.imported:
            database.register("actions", actions_in_steps(recording))
        count = keep_actions(database, where) if where else recording.count
        source = ReportSource(recording, is_kept, count, filters)
        page = _page(source, database, limits, sections, script)
        for _ in range(_TRIES):
            if len(page.encode(errors="replace")) <= size * 1e6:
                break
            limits = limits.scaled(_SMALLER)
            page = _page(source, database, limits, sections, script)
    return ReportPage(page, count)


def _page(
    source: ReportSource,
    database: DuckDBPyConnection,
    limits: ReportLimits,
    sections: Sequence[str],
    further: str,
) -> str:
    recording = source.recording
    counts = overview.counts(database)
    held, run = content_of(source, database, limits, counts)
    named = recording.header.imported or next(iter(recording.header.argv), "a run")
    title = f"actiondbg: {os.path.basename(named)}"
    lines = overview.facts(source, run["end"])
    body = Template(_asset("page.html")).substitute(
        heading=html(title),
        command=html(cut(overview.command(recording), _LONGEST)),
        facts=facts((name, code(text) if is_code else text) for name, text, is_code in lines),
        counts=_counts(counts, overview.change_counts(database)),
        held=element("ul", joined(*(element("li", line) for line in overview.left_out(held)))),
        sections="".join(f"<section>\n{section}</section>\n" for section in sections),
    )
    return html_page(
        title,
        Html(body.rstrip()),
        style=_asset("style.css") + token_colors(),
        data=run,
        scripts=[asset(*TABLES), *(_asset(f"{name}.js") for name in _SCRIPTS), further],
        maker="report",
    )


def _asset(name: str) -> Html:
    return asset(__spec__.parent, name)


def _counts(counts: Sequence[overview.KindCount], changes: Mapping[str, int]) -> Html:
    """Return the table of kinds of actions, without columns for outcomes that never occurred."""
    shown = [
        at for at in range(len(OUTCOMES)) if at == 0 or any(row.outcomes[at] for row in counts)
    ]
    head = ["", "actions", *(OUTCOMES[at] for at in shown), "changed the IR"]
    rows = [
        (
            Cell(row.kind, is_heading=True),
            row.calls,
            *(row.outcomes[at] for at in shown),
            row.changed,
        )
        for row in counts
    ]
    changed = ", ".join(f"{count:,} {kind}" for kind, count in changes.items() if count)
    return joined(
        table(rows, head),
        element("p", f"Changes to operations and blocks: {changed or 'none'}."),
    )


_MOST = 1_500  # buckets per thread: more than the columns of a screen
_LONGEST_NAME = 500  # characters
_OF_SELF = 0.1  # the share of actions chosen by self time instead of duration
_CHANGED, _ROLLED_BACK = 1, 2  # bits of the column ``flags``
_LONGEST_COMPARED = 400_000  # characters of a compared text: longer ones take seconds
_CHANGING = "FROM actions a WHERE a.changed"
_WITH_IR = """FROM actions a SEMI JOIN (
    SELECT DISTINCT ordinal FROM ir JOIN actions USING (ordinal) WHERE changed) USING (ordinal)"""


def density(database: DuckDBPyConnection, buckets: int) -> dict[str, Any]:
    """Count the actions, and the actions that changed IR, by thread and by bucket.

    Returns:
        The end of the run and the width of a bucket, in ns; for each thread its number and its
        counts per bucket.
    """
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
    columns = [{"thread": thread, **both} for thread, both in counted.items()]
    return {"end": end, "width": width, "threads": columns}


def content_of(
    source: ReportSource,
    database: DuckDBPyConnection,
    limits: ReportLimits,
    counts: Sequence[overview.KindCount],
) -> tuple[overview.Held, dict[str, Any]]:
    """Query the content of a page with some limits; return what it holds, and its scripts' data."""
    recording = source.recording
    shared = Shared()
    when = density(database, limits.buckets)
    tables = _tables(recording, database, shared, limits)
    chosen = _in_rounds(database, _CHANGING, limits.changing)
    listed = listed_changes(database, shared, chosen, limits.changes)
    diffs = PaintedDiffs(limits.diff_rows, limits.diff_bytes)
    if recording.header.has_ir:
        compared = _in_rounds(database, _WITH_IR, limits.diffs)
        add_diffs(recording, diffs, compared, limits.compared)
    found = suspects(database, shared, limits.suspects)
    of_actions = [tables[name].columns for name in ("groups", "operations", "reasons")]
    named = {*chosen, *diffs.ordinals, *_named([*of_actions, *found.values()])}
    actions = held_actions(database, shared, limits.actions, named)
    held = overview.Held(
        source=source,
        limits=limits,
        actions=len(actions["ordinal"]),
        listed=len(chosen),
        changed=sum(each.changed for each in counts),
        diffs=len(diffs.ordinals),
        with_ir=count_with_ir(database) if recording.header.has_ir else 0,
        rows={name: (len(next(iter(t.columns.values()))), t.total) for name, t in tables.items()},
    )
    run: dict[str, Any] = {
        "count": source.actions,
        "path": source.shown_path,
        "end": when["end"],
        "timed": not recording.header.imported,
        "events": recording.header.events,
        "outcomes": queries.OUTCOMES,
        "density": when,
        **{name: table.columns for name, table in tables.items()},
        "suspects": found,
        "changes": listed,
        "diffs": diffs.as_json(),
        "actions": actions,
        "names": [(tag, cut(name)) for tag, name in shared.names.all],
        "texts": [cut(text) for text in shared.texts.all],
        "searched": overview.searched(held),
        "heldWords": overview.held_actions(held),
    }
    return held, run


def _tables(
    recording: Recording, database: DuckDBPyConnection, shared: Shared, limits: ReportLimits
) -> dict[str, Table]:
    places = partial(queries.places, database, shared, limits.places)
    tables = {
        "groups": queries.names(database, shared, limits.groups, recording.header.events),
        "reasons": queries.reasons(database, shared, limits.reasons),
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


def cut(text: str, most: int = _LONGEST_NAME) -> str:
    """Return a text without what is longer than ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]} ..."


# --- single actions ---


def held_actions(
    database: DuckDBPyConnection, shared: Shared, most: int, named: Set[int]
) -> Columns:
    """Return actions in order, with all their parents.

    They are the ``named`` ones and those with the longest times, ``most`` together.
    """
    ordinals = _with_parents(database, _longest(database, max(most - len(named), 1)) | named)
    found = ask_columns(
        database,
        f"""
        SELECT a.ordinal, coalesce(a.parent, 0) AS parent, a.thread, a.tag::VARCHAR AS tag,
               {NAME} AS name, a.op::VARCHAR AS op, coalesce(a.operation, 0) AS operation,
               a.file::VARCHAR AS file, coalesce(a.line, 0) AS line, coalesce(a.col, 0) AS col,
               a.function::VARCHAR AS function, a.outcome::VARCHAR AS outcome,
               a.changed::INT * {_CHANGED} + a.rolled_back::INT * {_ROLLED_BACK} AS flags,
               a.fold::VARCHAR AS fold, a.reason::VARCHAR AS reason,
               ({ALL_CHANGES})::BIGINT AS changes, a.start_ns AS start,
               coalesce(a.duration_ns, -1) AS duration, coalesce(a.self_ns, 0) AS self
        FROM actions a WHERE a.ordinal IN (SELECT unnest($ordinals::BIGINT[])) ORDER BY a.ordinal
        """,
        ordinals=sorted(ordinals),
    )
    found["outcome"] = [OUTCOMES.index(each) for each in found["outcome"]]
    inside = _counts_inside(database, found["ordinal"])
    callers = list(zip(found["ordinal"], found["thread"], strict=True))
    found["inside"] = [inside.get(caller, 0) for caller in callers]
    found["elsewhere"] = _inside_elsewhere(inside, callers)
    found["parent"] = _distances(found["ordinal"], found["parent"])
    numbered = shared.number(found, "op", "file", "function", "fold", "reason")
    return {**numbered, **{name: _steps(numbered[name]) for name in ("ordinal", "start")}}


def _longest(database: DuckDBPyConnection, most: int) -> set[int]:
    """Choose the actions with the longest durations and self times."""
    busiest = int(most * _OF_SELF)
    found: set[int] = set()
    for order, count in (
        ("duration_ns DESC NULLS FIRST", most - busiest),
        ("self_ns DESC", busiest),
    ):
        sql = f"SELECT ordinal FROM actions ORDER BY {order}, ordinal LIMIT $count"
        found.update(ordinal for (ordinal,) in ask(database, sql, count=count))
    return found


def _with_parents(database: DuckDBPyConnection, ordinals: Set[int]) -> set[int]:
    """Add all parents of actions."""
    found, new = set(ordinals), set(ordinals)
    while new:
        rows = ask(
            database,
            """
            SELECT DISTINCT parent FROM actions
            WHERE parent IS NOT NULL AND ordinal IN (SELECT unnest($ordinals::BIGINT[]))
            """,
            ordinals=sorted(new),
        )
        new = {parent for (parent,) in rows} - found
        found |= new
    return found


def _counts_inside(database: DuckDBPyConnection, ordinals: list[int]) -> dict[tuple[int, int], int]:
    """Count the children of each action by thread."""
    rows = ask(
        database,
        """
        SELECT parent, thread, count(*) FROM actions
        WHERE parent IN (SELECT unnest($parents::BIGINT[])) GROUP BY parent, thread
        """,
        parents=ordinals,
    )
    return {(parent, thread): count for parent, thread, count in rows}


def _inside_elsewhere(
    inside: dict[tuple[int, int], int], callers: list[tuple[int, int]]
) -> list[int]:
    """Count the children of each action in other threads."""
    counts = Counter[int]()
    for (parent, _), count in inside.items():
        counts[parent] += count
    return [counts[ordinal] - inside.get((ordinal, thread), 0) for ordinal, thread in callers]


def _distances(ordinals: list[int], parents: list[int]) -> list[int]:
    """Return the distance in the list from each action back to its parent; 0 for none."""
    place = {ordinal: at for at, ordinal in enumerate(ordinals)}
    return [at - place[parent] if parent else 0 for at, parent in enumerate(parents)]


def _steps(numbers: list[int]) -> list[int]:
    """Return the differences of ascending numbers, which are shorter as text."""
    return [number - before for before, number in zip([0, *numbers], numbers, strict=False)]


# --- changes ---


def listed_changes(
    database: DuckDBPyConnection, shared: Shared, ordinals: list[int], most: int
) -> dict[str, object]:
    """Return the first changes of actions, and the number of further ones."""
    found = ask_columns(
        database,
        """
        WITH numbered AS (
            SELECT c.*, row_number() OVER (PARTITION BY ordinal ORDER BY seq) AS nth,
                   count(*) OVER (PARTITION BY ordinal) AS count
            FROM changes c WHERE ordinal IN (SELECT unnest($ordinals::BIGINT[]))
        )
        SELECT c.ordinal, c.kind::VARCHAR AS kind, c.operation, c.op::VARCHAR AS op,
               c.file::VARCHAR AS file, coalesce(c.line, 0) AS line, coalesce(c.col, 0) AS col,
               coalesce(c."by", 0) AS "by", o.op::VARCHAR AS by_op, c.block, c.guess, c.count
        FROM numbered c LEFT JOIN operations o ON o.operation = c."by"
        WHERE c.nth <= $most ORDER BY c.ordinal, c.seq
        """,
        ordinals=ordinals,
        most=most,
    )
    numbered = shared.number(found, "kind", "op", "file", "by_op")
    rows = zip(*(numbered[name] for name in CHANGE_COLUMNS), strict=True)
    listed: dict[int, list[Any]] = {}
    left_out: dict[int, int] = {}
    for ordinal, count, row in zip(numbered["ordinal"], numbered["count"], rows, strict=True):
        listed.setdefault(ordinal, []).append([int(each) for each in row])
        if count > most:
            left_out[ordinal] = count - most
    return {"columns": CHANGE_COLUMNS, "of": listed, "left_out": left_out}


CHANGE_COLUMNS = ("kind", "operation", "op", "file", "line", "col", "by", "by_op", "block", "guess")


def add_diffs(
    recording: Recording, diffs: PaintedDiffs, ordinals: Sequence[int], compared: int
) -> None:
    """Add the diffs of actions until the size or the characters to compare are used up."""
    names = ValueNames()
    for ordinal in ordinals:
        diff = recorded_diff(recording, ordinal, names, _LONGEST_COMPARED)
        diffs.add(ordinal, diff)
        compared -= len(diff.before) + len(diff.after) if diff else 0
        if diffs.is_full or compared <= 0:
            break


def count_with_ir(database: DuckDBPyConnection) -> int:
    """Count the actions with recorded IR."""
    [(count,)] = ask(database, f"SELECT count(*) {_WITH_IR}")
    return count


def _in_rounds(database: DuckDBPyConnection, source: str, most: int) -> list[int]:
    """Return ordinals of actions: the first of each name, then the second of each ..."""
    rows = ask(
        database,
        f"""
        WITH chosen AS (
            SELECT a.ordinal,
                   row_number() OVER (PARTITION BY a.tag, a.name ORDER BY a.ordinal) AS round
            {source}
        )
        SELECT ordinal FROM chosen ORDER BY round, ordinal LIMIT $most
        """,
        most=most,
    )
    return [ordinal for (ordinal,) in rows]
