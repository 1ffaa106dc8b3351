"""The page: one self-contained file that allows no other scripts."""

from __future__ import annotations

import contextlib
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.ir.html import token_colors
from actiondbg.recording.format.arrow import Ints, Table, int_array, pa
from actiondbg.recording.query.database import keep_actions, open_database
from actiondbg.recording.query.filters import where_any
from actiondbg.recording.report.content import Content, content_of, cut
from actiondbg.recording.report.overview import SIZE, Limits, Source
from actiondbg.recording.report.queries import OUTCOMES
from actiondbg.recording.session.columns import ActionColumns
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
    from collections.abc import Sequence

    from actiondbg.recording.recording import Recording

_STEP = 10  # units between the beginnings of two actions
_SCRIPTS = ("base", "action", "timeline", "tables", "search", "start")
_SMALLER = 0.7  # factor for the limits of a page that is too large
_TRIES = 12
_LONGEST = 4_000  # characters of the command line


def actions_in_steps(recording: Recording) -> Table:
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
    limits = Limits().scaled(size / SIZE)
    where = where_any(filters)
    with contextlib.closing(open_database(recording)) as database:
        if recording.header.imported:
            database.register("actions", actions_in_steps(recording))
        count = keep_actions(database, where) if where else recording.count
        source = Source(recording, is_kept, count, filters)
        page = _page(content_of(source, database, limits), sections, script)
        for _ in range(_TRIES):
            if len(page.encode(errors="replace")) <= size * 1e6:
                break
            limits = limits.scaled(_SMALLER)
            page = _page(content_of(source, database, limits), sections, script)
    return ReportPage(page, count)


def _page(content: Content, sections: Sequence[str], further: str) -> str:
    title = f"actiondbg: {content.title}"
    body = Template(_asset("page.html")).substitute(
        heading=html(title),
        command=html(cut(content.command, _LONGEST)),
        facts=facts(
            (name, code(text) if is_code else text) for name, text, is_code in content.facts
        ),
        counts=_counts(content),
        held=element("ul", joined(*(element("li", line) for line in content.left_out))),
        sections="".join(f"<section>\n{section}</section>\n" for section in sections),
    )
    return html_page(
        title,
        Html(body.rstrip()),
        style=_asset("style.css") + token_colors(),
        data=content.run,
        scripts=[asset(*TABLES), *(_asset(f"{name}.js") for name in _SCRIPTS), further],
        maker="report",
    )


def _asset(name: str) -> Html:
    return asset(__spec__.parent, name)


def _counts(content: Content) -> Html:
    """Return the table of kinds of actions, without columns for outcomes that never occurred."""
    shown = [
        at
        for at in range(len(OUTCOMES))
        if at == 0 or any(row.outcomes[at] for row in content.counts)
    ]
    head = ["", "actions", *(OUTCOMES[at] for at in shown), "changed the IR"]
    rows = [
        (
            Cell(row.kind, is_heading=True),
            row.calls,
            *(row.outcomes[at] for at in shown),
            row.changed,
        )
        for row in content.counts
    ]
    changed = ", ".join(f"{count:,} {kind}" for kind, count in content.changes.items() if count)
    return joined(
        table(rows, head),
        element("p", f"Changes to operations and blocks: {changed or 'none'}."),
    )
