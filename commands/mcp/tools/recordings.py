"""Tools that make and query recordings, and that examine compilers."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, field

from actiondbg.commands.mcp.declaration import Arguments, tool
from actiondbg.commands.mcp.desk import Desk
from actiondbg.commands.mcp.tools.sessions import Command, Stdin
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.support.counts import counted
from actiondbg.support.scratch_directory import scratch_directory

_MOST_ROWS = 10_000
_STDERR = 4_000  # characters
_TRY_SECONDS = 30.0  # a tool, of doctor


class RecordArguments(Arguments, frozen=True, kw_only=True):
    command: Command
    output: Annotated[str, Meta(description="the recording to write, such as run.adbrec")]
    ir: Annotated[
        Literal["none", "output", "changed", "function"],
        Meta(
            description="the IR to record: function, of each action before and after; changed, the "
            "changed operations only; output, at the end only"
        ),
    ] = "function"
    lineage: Annotated[bool, Meta(description="record what history became and came_from need")] = (
        True
    )
    stdin: Stdin = None


@tool("record")
def record(desk: Desk, given: RecordArguments) -> object:
    """Record a whole run of a compiler to a file: each action with its outcome, changes, reasons
    and times. query asks about it in SQL, open debugs it.
    """
    from actiondbg.recording.capture.recorder import start_recording
    from actiondbg.recording.log.tally import Tally

    restrictions = desk.restrictions
    output = Path(restrictions.path(given.output))
    with scratch_directory("mcp") as scratch:
        errors = scratch / "stderr"
        errors.touch()
        with start_recording(
            restrictions.check_command(given.command),
            output,
            ir=given.ir,
            lineage=given.lineage,
            stdin=os.devnull if given.stdin is None else restrictions.path(given.stdin),
            stdout=os.devnull,
            stderr=errors,
        ) as running:
            tally = Tally(running.path or output)
            while (done := running.poll(1.0)) is None:
                tally.update()
                desk.report(counted(tally.actions, "action"), tally.actions, None)
        printed = errors.read_text(errors="replace")[-_STDERR:].strip()
    wrote = [f"The tool wrote to its standard error:\n{printed}"] if printed else []
    if done.path is None:
        raise ActiondbgError(
            "\n".join(
                [
                    f"There is no recording: the tool ended with status {done.status} without "
                    "making an MLIR context.",
                    *wrote,
                ]
            )
        )
    tally.update()
    is_cut = tally.is_torn or (not tally.ended and done.status >= 0)
    missing = ["The recording is incomplete, as the disk may be full."] if is_cut else []
    return [
        f"{counted(tally.actions, 'action')} in {given.output}; the tool ended with status "
        f"{done.status}.",
        *missing,
        *wrote,
    ]


class QueryArguments(Arguments, frozen=True, kw_only=True):
    recordings: Annotated[
        list[str],
        Meta(min_length=1, description="recordings; of several, tables have a column run"),
    ]
    sql: Annotated[
        str | None,
        Meta(description="a query in DuckDB's SQL; without it, the tables and columns are listed"),
    ] = None


@tool("query", only_reads=True)
def query(desk: Desk, given: QueryArguments) -> object:
    """Query recordings in SQL. Tables: actions (ordinal, tag, name, outcome, duration_ns, ...),
    changes, operations, reasons, findings, links, ir, runs. Use LIMIT.
    """
    from actiondbg.recording.errors import need_packages

    need_packages("The tool query")
    from actiondbg.commands.render.query import write_table
    from actiondbg.recording.query.database import LISTING, confine
    from actiondbg.recording.query.execution import ask
    from actiondbg.recording.query.sources import open_sources

    paths = [desk.restrictions.path(each) for each in given.recordings]
    for path in paths:
        if not os.path.isfile(path):
            raise UsageError(f"{path!r} is not a recording: record makes one.")
    sources = open_sources(paths, partial=True)
    with contextlib.closing(sources.connect()) as database:
        confine(database)
        out = io.BytesIO()
        ask(database, given.sql or LISTING, lambda reader: write_table(reader, out, _MOST_ROWS))
    return [*sources.sentences(), out.getvalue().decode(errors="replace") or "No rows."]


class DoctorArguments(Arguments, frozen=True, kw_only=True):
    tools: Annotated[
        list[str], Meta(description="names or paths; by default all that the server may run")
    ] = field(default_factory=list[str])


@tool("doctor", only_reads=True)
def doctor(desk: Desk, given: DoctorArguments) -> object:
    """Examine compilers: whether they can be debugged, their LLVM version, and what is missing."""
    from actiondbg.commands.render.doctor import examined_text
    from actiondbg.doctor.examination import examine
    from actiondbg.doctor.subject import subjects_of

    names = given.tools or desk.restrictions.tools()
    if not names:
        raise UsageError("No tool is named: give one of a directory that the server may run.")
    texts: list[str] = []
    for name in names:
        desk.restrictions.check_command([name])
        for subject in subjects_of(name):
            desk.report(name, len(texts), None)
            texts.append(examined_text(examine(subject, _TRY_SECONDS)))
    return "\n\n".join(texts)


class RecordingArguments(Arguments, frozen=True, kw_only=True):
    recording: str


@tool("describe_recording", only_reads=True, listed=False)
def describe_recording(desk: Desk, given: RecordingArguments) -> object:
    """Describe a recording: the command, the passes in order, and the patterns with outcomes."""
    from actiondbg.commands.interpreter.options import NoOptions
    from actiondbg.commands.shell import status
    from actiondbg.recording.session import open_session

    console = desk.open_recording(
        open_session(desk.restrictions.path(given.recording), partial=True)
    )
    while console.session.state != "exited":
        console.session.continue_()
    return [
        console.greeting,
        status.info_program(console, NoOptions()),
        status.pipeline(console, NoOptions()),
        status.patterns(console, status.PatternsOptions()),
    ]
