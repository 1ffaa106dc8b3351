"""The page: one self-contained file that allows no other scripts."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.ir.html import token_colors
from actiondbg.recording.format.arrow import Ints, Table, int_array, pa
from actiondbg.recording.query.database import keep_actions, open_database
from actiondbg.recording.query.filters import where_any
from actiondbg.recording.report.content import Content, content_of
from actiondbg.recording.report.groups import OUTCOMES
from actiondbg.recording.report.limits import SIZE, Limits
from actiondbg.recording.report.overview import Source
from actiondbg.support.html_page import code, html_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from actiondbg.recording.recording import Recording

_STEP = 10  # units between the beginnings of two actions
_SCRIPTS = ("base", "table", "action", "timeline", "tables", "search", "main")
_SMALLER = 0.7  # factor for the limits of a page that is too large
_TRIES = 12
_LONGEST = 4_000  # characters of the command line


def actions_in_steps(recording: Recording) -> Table:
    """Return the table of actions, with a step as the time between the beginnings of two actions.

    An action that may have changed the IR counts as one without a change.
    """
    table: Any = recording.table("actions")
    ordinals: Ints = table.column("ordinal").to_numpy()
    last = _last_inside(ordinals, table.column("parent").fill_null(0).to_numpy())
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


def _last_inside(ordinals: Ints, parents: Ints) -> Ints:
    """Return the ordinal of the last action nested in each, or its own."""
    last: list[int] = ordinals.tolist()
    rows = {ordinal: row for row, ordinal in enumerate(last)}
    around: list[int] = parents.tolist()
    for row, parent in reversed(list(enumerate(around))):
        if parent:
            last[rows[parent]] = max(last[rows[parent]], last[row])
    return np.array(last, np.int64)


class ReportPage(NamedTuple):
    """The report of a recording.

    Args:
        html: the text of the page.
        actions: the number of actions that it is about.
    """

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
    script = "\n".join([*(_asset(f"{name}.js") for name in _SCRIPTS), further])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    title = f"actiondbg: {content.title}"
    body = Template(_asset("page.html")).substitute(
        heading=escape(title),
        command=escape(_short(content.command)),
        facts=_facts(content.facts),
        counts=_counts(content),
        held="<ul>\n"
        + "".join(f"<li>{escape(line)}</li>\n" for line in content.left_out)
        + "</ul>",
        sections="".join(f"<section>\n{section}</section>\n" for section in sections),
        run=_as_script(content.run),
        script=script,
    )
    head = Template(_asset("head.html")).substitute(hash=f"sha256-{digest}")
    return html_page(title, _asset("style.css") + token_colors(), body.rstrip(), head=head)


def _asset(name: str) -> str:
    return (files(__spec__.parent) / "assets" / name).read_text(encoding="utf-8")


def _as_script(value: dict[str, Any]) -> str:
    """Return JSON without ``<``, which could end the script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _facts(facts: Iterable[tuple[str, str, bool]]) -> str:
    return _table(
        (f"<th scope=row>{escape(title)}</th>", code(text) if is_code else escape(text))
        for title, text, is_code in facts
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _counts(content: Content) -> str:
    """Return the table of kinds of actions, without columns for outcomes that never occurred."""
    shown = [
        at
        for at in range(len(OUTCOMES))
        if at == 0 or any(row.outcomes[at] for row in content.counts)
    ]
    head = ["", "actions", *(OUTCOMES[at] for at in shown), "changed the IR"]
    rows = [
        [f"<th scope=row>{escape(row.kind)}</th>"]
        + [_number(each) for each in (row.calls, *(row.outcomes[at] for at in shown), row.changed)]
        for row in content.counts
    ]
    changed = ", ".join(f"{count:,} {kind}" for kind, count in content.changes.items() if count)
    return f"{_table(rows, head)}<p>Changes to operations and blocks: {changed or 'none'}.</p>"


def _number(count: int) -> str:
    return f"<td class=n>{count:,}</td>" if count else "<td class=n></td>"


def _table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Return a table; plain cells become ``td`` elements."""
    top = "".join(f"<th scope=col>{escape(title)}</th>" for title in head)
    lines = "".join(
        "<tr>"
        + "".join(c if c.startswith(("<th", "<td")) else f"<td>{c}</td>" for c in row)
        + "</tr>\n"
        for row in rows
    )
    return f"<table>{f'<tr>{top}</tr>' if top else ''}\n{lines}</table>"
