"""The overview of a run, and what of it is in the page and what is left out."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from actiondbg.protocol.tags import CONVERSION_TAG, FOLD_TAG, ITERATION_TAG, PASS_TAG, PATTERN_TAG
from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.report.queries import OUTCOMES, ask
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from actiondbg.recording.recording import Recording

_IR = {
    "none": "not recorded: record with --ir changed to get diffs here",
    "output": "after the last action only: record with --ir changed to get diffs here",
    "changed": "of the operations that changed; durations are without its recording",
    "function": "of the functions that changed; durations are without its recording",
    "pass": "of the functions that passes changed; durations are without its recording",
}
KINDS = {
    PASS_TAG: "passes",
    PATTERN_TAG: "patterns",
    FOLD_TAG: "folds",
    ITERATION_TAG: "greedy iterations",
    CONVERSION_TAG: "conversions",
}


class ReportSource(NamedTuple):
    """The recording of a page, and the number of actions that the page is about.

    ``is_kept``: it still exists when the page is read. ``filters`` are the SPECs that selected
    the actions; none for all.
    """

    recording: Recording
    is_kept: bool
    actions: int
    filters: Sequence[str] = ()

    @property
    def shown_path(self) -> str:
        """The path of the recording in the page."""
        return self.recording.path if self.is_kept else "RUN.adbrec"


class Fact(NamedTuple):
    """A line of the table at the top; ``is_code``: the text is in a monospace font."""

    title: str
    text: str
    is_code: bool = False


def facts(source: ReportSource, end: int) -> list[Fact]:
    """Return the facts of the run; ``end`` is the end of the last action, in ns."""
    recording = source.recording
    header = recording.header
    if header.imported:
        return [
            Fact("Imported from", header.imported, True),
            Fact("Passes", f"{source.actions:,}{_selected(source)}"),
            Fact("IR", "of the dumps in the log"),
            *([Fact("Recording", recording.path, True)] if source.is_kept else ()),
        ]
    started = datetime.fromtimestamp(header.started / 1e9, UTC)
    threads = "on" if header.threads else "off"
    return [
        Fact("Directory", header.cwd, True),
        Fact("LLVM", header.llvm),
        Fact("Started", f"{started:%Y-%m-%d %H:%M:%S} UTC"),
        Fact("Ended", ending(recording)),
        Fact("Actions", f"{source.actions:,}{_selected(source)} in {end / 1e9:,.3f} s"),
        Fact("Threads of the tool", threads),
        Fact("IR", _IR.get(header.ir, header.ir)),
        *([Fact("Recording", recording.path, True)] if source.is_kept else ()),
    ]


def _selected(source: ReportSource) -> str:
    if not source.filters:
        return ""
    return f" of {source.recording.count:,} (--filter {shlex.join(source.filters)})"


def command(recording: Recording) -> str:
    """Return the command line, quoted for a shell; that of an import."""
    if recording.header.imported:
        return shlex.join(["actiondbg", "import", recording.header.imported])
    return shlex.join(recording.header.argv)


def ending(recording: Recording) -> str:
    """Describe how the tool ended, and whether the recording is complete."""
    words = recording.ending.described()
    return f"{words}. {recording.cut}" if recording.cut else words


class KindCount(NamedTuple):
    """The number of actions of a kind, by outcome."""

    kind: str
    calls: int
    outcomes: tuple[int, ...]  # as queries.OUTCOMES
    changed: int


def counts(database: DuckDBPyConnection) -> list[KindCount]:
    """Return one row per kind of action, most frequent first."""
    outcomes = ", ".join(f"count_if(outcome = '{each}')" for each in OUTCOMES)
    rows = ask(
        database,
        f"""
        SELECT tag::VARCHAR AS kind, count(*) AS calls, {outcomes}, count_if(changed)
        FROM actions GROUP BY tag ORDER BY calls DESC, kind
        """,
    )
    return [KindCount(KINDS.get(row[0]) or str(row[0]), row[1], row[2:-1], row[-1]) for row in rows]


def change_counts(database: DuckDBPyConnection) -> dict[str, int]:
    """Return the number of changes by kind."""
    sums = ", ".join(f"coalesce(sum({kind}), 0)::BIGINT" for kind in CHANGE_KINDS)
    [row] = ask(database, f"SELECT {sums} FROM actions")
    return dict(zip(CHANGE_KINDS, row, strict=True))


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

    source: ReportSource
    limits: ReportLimits
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


def _the_rest(source: ReportSource) -> str:
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


SIZE = 5.0  # MB: the default size of a page


class ReportLimits(msgspec.Struct, frozen=True):
    """The most rows of each kind; the defaults are those of a page of 5 MB.

    Attributes:
        actions: actions in the timeline, the list of the slowest, and the search.
        changing: actions whose changes are listed.
        changes: listed changes of one action.
        diffs: actions whose diff is shown.
        diff_rows: rows of one diff.
        diff_bytes: bytes of all diffs together.
        compared: characters of IR to compare for diffs: a million takes about 0.3 s.
        groups: rows of the table of passes, patterns and folds.
        places: functions, and source lines.
        reasons: reasons of failure.
        suspects: rows of each table of rewrites that may not converge.
        buckets: time buckets of all threads together.
    """

    actions: int = 30_000
    changing: int = 2_000
    changes: int = 30
    diffs: int = 400
    diff_rows: int = 150
    diff_bytes: int = 2_000_000
    compared: int = 16_000_000
    groups: int = 2_000
    places: int = 3_000
    reasons: int = 500
    suspects: int = 50
    buckets: int = 6_000

    def scaled(self, factor: float) -> ReportLimits:
        """Return the limits multiplied by a factor."""
        fields = msgspec.structs.asdict(self)
        return ReportLimits(**{name: max(1, int(most * factor)) for name, most in fields.items()})
