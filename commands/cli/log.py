"""``actiondbg log [options] (-- TOOL ARGS... | RUN.adbrec)``."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.cli.child_process import (
    code_of,
    forward_interrupts,
    print_compiling,
    print_cut,
    print_ending,
    print_notice,
    wait_and_import,
)
from actiondbg.commands.cli.line_parser import (
    SUFFIX,
    LineParser,
    MlirInclude,
    NoColor,
    Partial,
    file_or_stdout,
)
from actiondbg.commands.cli.log_output import Destination
from actiondbg.commands.cli.output_file import writing
from actiondbg.commands.interpreter.options import Flag, Option, Options
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.recording.dependencies import need_packages
from actiondbg.recording.overwrite import check_overwritten, is_same
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.recording.capture.recorder import RecordedRun, RecordingProcess
    from actiondbg.recording.log.log import LiveLog
    from actiondbg.recording.recording import Recording

_SECONDS = 0.02  # between two looks at what came
_EPILOG = """\
examples:
  actiondbg log -- mlir-opt in.mlir --canonicalize
  actiondbg log -o run.log -- mlir-opt in.mlir --canonicalize -o out.mlir
  actiondbg log --changed --loc in.mlir:184 -- mlir-opt in.mlir --canonicalize
  actiondbg log --filter 'pattern:*Select* if depth > 2' --filter pass:cse run.adbrec
  actiondbg log --upstream-format -o run.log -- flang-22 -c in.f90

Without -o the log goes to stdout, through a pager where that is a terminal, when the tool has
ended; what the tool itself prints to its stdout is then dropped, unless --tool-stdout says where
it goes. exit status: the tool's (128 + N for a signal); 0 for a recording; 1 an error, 2 bad usage,
3 the tool could not be started. docs/log.md explains the lines.
"""


class LogOptions(Options):
    """The options of ``actiondbg log``."""

    output: Annotated[
        Path | None,
        Option(
            "--output",
            "FILE",
            help="write the log into a file, live",
            short="-o",
            parse=file_or_stdout,
        ),
    ] = None
    filter: Annotated[
        tuple[str, ...],
        Option(
            "--filter",
            "SPEC",
            help="only actions that 'break SPEC [if EXPR]' would stop at; again: or these",
        ),
    ] = ()
    loc: Annotated[
        str | None, Option("--loc", "FILE:LINE", help="only actions on operations from there")
    ] = None
    outcome: Annotated[
        tuple[str, ...],
        Option(
            "--outcome",
            "OUTCOME",
            help="only actions that ended so: succeeded, failed, changed, unchanged, skipped, "
            "reason:GLOB, several with commas between, or unfinished ones; again: or so",
        ),
        Flag("--changed", help="the same as --outcome changed", value="changed"),
        Flag("--failed", help="the same as --outcome failed", value="failed"),
    ] = ()
    json: Annotated[bool, Flag("--json", help="one JSON object a line, with all that is known")] = (
        False
    )
    upstream_format: Annotated[
        bool,
        Flag("--upstream-format", help="what the tool's own --log-actions-to prints, to the byte"),
    ] = False
    tool_stdout: Annotated[
        str | None,
        Option("--tool-stdout", "FILE", help="where the tool's standard output goes"),
    ] = None
    partial: Partial = False
    mlir_include: MlirInclude = None
    no_color: NoColor = False


def build_parser() -> LineParser[LogOptions]:
    """Return the parser of the options; TOOL and its arguments are cut off before."""
    return LineParser(
        LogOptions,
        "actiondbg log",
        "[options] (-- TOOL ARGS... | RUN.adbrec)",
        "Log every action of a tool, a line each, in the order in which they begin.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word log; return the exit code.

    Raises:
        ActiondbgError: there is no log, or it is not whole.
    """
    parser = build_parser()
    options, tool, is_made = parser.read_around(argv)
    if not tool:
        parser.error("name a recording or the tool: actiondbg log [options] -- TOOL ARGS...")
    try:
        _check(options, tool, is_made)
        where = _where(options)
    except UsageError as error:
        parser.error(str(error))
    destination = Destination(options.output, not options.no_color)
    if is_made:
        return _log_recording(tool[0], options, destination, where)
    if options.upstream_format:
        return _log_upstream(tool, options, destination)
    if where is None and not options.json:
        return _log_live(tool, options, destination)
    return _log_afterwards(tool, options, destination, where)


def _check(options: LogOptions, tool: list[str], is_made: bool) -> None:
    """Refuse what cannot be done.

    Raises:
        UsageError: options do not go together.
        ActiondbgError: a package is missing.
    """
    if not options.upstream_format:
        need_packages("actiondbg log")
    elif is_made:
        raise UsageError("--upstream-format prints IR, which is not in a recording: name the tool.")
    elif other := _not_upstreams(options):
        raise UsageError(
            f"--upstream-format prints what upstream does, and does not go with {other}: leave one "
            "of them out."
        )
    if is_made and options.tool_stdout:
        raise UsageError("--tool-stdout is for a tool that is run, not for a recording.")
    for path in (options.output, options.tool_stdout):
        if path is not None:
            check_overwritten(path, tool)
    if options.output and options.tool_stdout and is_same(options.output, options.tool_stdout):
        raise UsageError(
            f"{options.tool_stdout!r} is for the log already: name another file for --tool-stdout."
        )


def _not_upstreams(options: LogOptions) -> str | None:
    """Return the first option that upstream's format has nothing for; None if there is none."""
    asked = {
        "--json": options.json,
        "--filter": options.filter,
        "--loc": options.loc,
        "--outcome, --changed or --failed": options.outcome,
    }
    return next((name for name, value in asked.items() if value), None)


def _where(options: LogOptions) -> str | None:
    """Return what is to be logged, as SQL; None for all.

    Raises:
        UsageError: a SPEC, a condition, a location or an OUTCOME is written wrongly.
    """
    if not (options.filter or options.loc or options.outcome):
        return None
    from actiondbg.recording.query.filters import where, where_location, where_outcome

    parts: list[str] = []
    if options.outcome:
        parts.append(" OR ".join(map(where_outcome, options.outcome)))
    if options.filter:
        parts.append(" OR ".join(map(where, options.filter)))
    if options.loc:
        parts.append(where_location(options.loc))
    return " AND ".join(f"({part})" for part in parts)


# --- a recording ----------------------------------------------------------------------


def _log_recording(
    path: str, options: LogOptions, destination: Destination, where: str | None
) -> int:
    from actiondbg.recording import open_recording

    recording = open_recording(path, partial=options.partial)
    print_cut(path, recording.cut)
    _write(recording, options, destination, where)
    return 0


def _write(
    recording: Recording, options: LogOptions, destination: Destination, where: str | None
) -> int:
    from actiondbg.recording.log.log import write_json, write_log

    with destination.opened() as out:
        if options.json:
            return write_json(recording, out, where)
        return write_log(recording, out, where, destination.paint)


# --- a tool ---------------------------------------------------------------------------


def _log_live(tool: list[str], options: LogOptions, destination: Destination) -> int:
    """Write the log while the tool runs; show it at the end, if it does not go to a file."""
    with scratch_directory("log") as directory:
        file = destination.file(directory)
        with _started(tool, options, directory / f"run{SUFFIX}") as running:
            # They take their time to be imported: the tool runs meanwhile.
            from actiondbg.recording.log.log import LiveLog

            assert running.path is not None
            try:
                with writing(file):
                    log = LiveLog(running.path, file, destination.paint)
                    done = _follow(running, log)
            except FileNotWritten:
                running.wait()  # the tool is not ended for that
                raise
        with writing(file):
            log.finish()
        _report(done, running.path, log.count)
        destination.show(file)
    return code_of(done.status)


def _follow(running: RecordingProcess, log: LiveLog) -> RecordedRun:
    try:
        while (done := running.poll(_SECONDS)) is None:
            log.update()
        return done
    except SystemExit:
        # A signal ends us, and the tool with us: what it did by then is logged.
        running.close()
        log.finish()
        raise


def _log_afterwards(
    tool: list[str], options: LogOptions, destination: Destination, where: str | None
) -> int:
    """Log a run when it is over: what a filter selects may depend on all of it."""
    with scratch_directory("log") as directory:
        path = directory / f"run{SUFFIX}"
        with _started(tool, options, path) as running:
            modules = ("actiondbg.recording.log.log", "actiondbg.recording.query.database")
            done = wait_and_import(running, *modules)
        count = 0
        if done.path is not None:
            from actiondbg.recording import open_recording

            recording = open_recording(done.path, partial=True)
            count = _write(recording, options, destination, where)
        _report(done, path, count)
    return code_of(done.status)


def _log_upstream(tool: list[str], options: LogOptions, destination: Destination) -> int:
    with scratch_directory("log") as directory:
        file = destination.file(directory)
        with writing(file):
            file.write_bytes(b"")  # a tool that makes no MLIR context writes none
        with _started(tool, options, None, upstream_log=file) as running:
            done = running.wait()
        print_ending(done, is_whole=True)
        destination.show(file)
    return code_of(done.status)


def _started(
    tool: list[str],
    options: LogOptions,
    output: Path | None,
    upstream_log: Path | None = None,
) -> AbstractContextManager[RecordingProcess]:
    """Start the tool; Ctrl-C is for it while it runs, and what it did by then is logged."""
    from actiondbg.recording.capture.recorder import start_recording

    started = start_recording(
        tool,
        output,
        # Else it would be mixed with the log.
        stdout=options.tool_stdout or (None if options.output else os.devnull),
        mlir_include=options.mlir_include,
        on_compile=print_compiling,
        upstream_log=upstream_log,
    )
    return forward_interrupts(started)


# --- what is said ---------------------------------------------------------------------


def _report(done: RecordedRun, recording: Path, count: int) -> None:
    from actiondbg.recording.log.tally import Tally

    tally = Tally(recording)
    tally.update()
    told = f"the log has {count:,} action{'s'[: count != 1]}, up to then"
    print_ending(done, tally.ended, told)
    if done.path is None and done.status >= 0:
        print_notice("There is nothing to log: the tool ended before it made an MLIR context.")
