"""The overview of a run: command, times, ending, counts of actions and changes."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.protocol.tags import CONVERSION_TAG, FOLD_TAG, ITERATION_TAG, PASS_TAG, PATTERN_TAG
from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.report.page_tables import OUTCOMES
from actiondbg.recording.report.queries import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class Source(NamedTuple):
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


def facts(source: Source, end: int) -> list[Fact]:
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


def _selected(source: Source) -> str:
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


class Count(NamedTuple):
    """The number of actions of a kind, by outcome."""

    kind: str
    calls: int
    outcomes: tuple[int, ...]  # as page_tables.OUTCOMES
    changed: int


def counts(database: DuckDBPyConnection) -> list[Count]:
    """Return one row per kind of action, most frequent first."""
    outcomes = ", ".join(f"count_if(outcome = '{each}')" for each in OUTCOMES)
    rows = ask(
        database,
        f"""
        SELECT tag::VARCHAR AS kind, count(*) AS calls, {outcomes}, count_if(changed)
        FROM actions GROUP BY tag ORDER BY calls DESC, kind
        """,
    )
    return [Count(KINDS.get(row[0]) or str(row[0]), row[1], row[2:-1], row[-1]) for row in rows]


def change_counts(database: DuckDBPyConnection) -> dict[str, int]:
    """Return the number of changes by kind."""
    sums = ", ".join(f"coalesce(sum({kind}), 0)::BIGINT" for kind in CHANGE_KINDS)
    [row] = ask(database, f"SELECT {sums} FROM actions")
    return dict(zip(CHANGE_KINDS, row, strict=True))
