"""``actiondbg log [options] (-- TOOL ARGS... | RUN.adbrec)``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, NamedTuple

from actiondbg.commands.cli import line_parser, recorded_tool
from actiondbg.commands.cli.line_parser import SUFFIX, LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.render.terminal.output import color_allowed, paged, print_notice
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_overwritten, is_same
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.support.output_file import writing
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.recording.capture.recorder import RecordedRun, RecordingProcess
    from actiondbg.recording.log.log import LiveLog
    from actiondbg.recording.recording import Recording

_OFF = "\x1b[39m"
# All of the same length, as the outcome of an unfinished action is overwritten in place.
_COLORS = {
    "name": "\x1b[36m",
    "succeeded": "\x1b[32m",
    "unchanged": _OFF,
    "failed": "\x1b[31m",
    "skipped": "\x1b[33m",
    "unfinished": "\x1b[35m",
}
_SECONDS = 0.02  # between two updates of the log
_EPILOG = """\
examples:
  actiondbg log -- mlir-opt in.mlir --canonicalize
  actiondbg log -o run.log -- mlir-opt in.mlir --canonicalize -o out.mlir
  actiondbg log --changed --loc in.mlir:184 -- mlir-opt in.mlir --canonicalize
  actiondbg log --filter 'pattern:*Select* if depth > 2' --filter pass:cse run.adbrec
  actiondbg log --upstream-format -o run.log -- flang-22 -c in.f90

Without -o the log goes to stdout when the tool has ended, paged on a terminal; the standard output
of the tool is then discarded, unless redirected with --tool-stdout.

exit status: that of the tool (128 + N for a signal); 0 for a recording; 1 error, 2 bad usage,
3 the tool could not be started. docs/log.md explains the lines.
"""


class Destination(NamedTuple):
    """The output of the log: a file, or standard output if ``path`` is None."""

    path: Path | None
    colors: bool = True

    def paint(self, role: str, text: str) -> str:
        """Colour a text, see ``log.lines.Paint``."""
        is_colored = self.colors and self.path is None and sys.stdout.isatty() and color_allowed()
        return colored(role, text) if is_colored else text

    def file(self, directory: Path) -> Path:
        """Return the file of the log while the tool runs: the output, or a copy for ``show``.

        Raises:
            FileNotWritten: the file cannot be written.
        """
        is_seekable = self.path is not None and (not self.path.exists() or self.path.is_file())
        if self.path is None or not is_seekable:
            return directory / "log"
        with writing(self.path), self.path.open("ab"):
            return self.path

    def show(self, file: Path) -> None:
        """Copy the log from a temporary file; raise FileNotWritten or BrokenPipeError."""
        if file != self.path:
            import shutil  # after the run of the tool

            with self.open() as out, file.open("rb") as log:
                shutil.copyfileobj(log, out)

    @contextlib.contextmanager
    def open(self) -> Generator[IO[bytes]]:
        """Open the output; raise FileNotWritten or BrokenPipeError."""
        if self.path is not None:
            with writing(self.path), open_whole(self.path) as file:
                yield file
        elif sys.stdout.isatty():
            with paged(sys.stdout) as pager:
                yield pager.buffer
        else:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()


def colored(role: str, text: str) -> str:
    return f"{_COLORS[role]}{text}{_OFF}"


class LogOptions(Options):
    output: Path | None = option(
        "-o",
        "--output",
        "FILE",
        help="write the log to a file, while the tool runs",
        parse=line_parser.file_or_stdout,
    )
    filter: tuple[str, ...] = option(
        "SPEC", help="only actions that match a SPEC [if EXPR] of 'break'; repeatable: any of them"
    )
    loc: str | None = option("FILE:LINE", help="only actions on operations of this location")
    outcome: Annotated[
        tuple[str, ...],
        option(
            "--outcome",
            "OUTCOME",
            help="only actions with one of these outcomes: succeeded, failed, changed, unchanged, "
            "skipped, unfinished, reason:GLOB; comma-separated and repeatable",
        ),
        flag("--changed", help="short for --outcome changed", value="changed"),
        flag("--failed", help="short for --outcome failed", value="failed"),
    ] = ()
    json: bool = flag(help="print one JSON object an action, with all fields")
    upstream_format: bool = flag(help="print exactly what --log-actions-to of mlir-opt prints")
    tool_stdout: str | None = option("FILE", help="redirect the standard output of the tool")
    partial: line_parser.Partial = False
    follow: line_parser.Follow = None
    randomize: line_parser.Randomize = False
    skip: line_parser.Skip = ()
    no_color: line_parser.NoColor = False


@subcommand("log", "[options] (-- TOOL ARGS... | RUN.adbrec)", LogOptions, _EPILOG)
def run(parser: LineParser[LogOptions], argv: list[str]) -> int:
    """Log the actions of a tool in dispatch order, a line each."""
    options, tool, recorded = parser.read_with_target(argv)
    parser.need_target(tool)
    _check(options, tool, recorded)
    where = _where(options)
    destination = Destination(options.output, not options.no_color)
    if recorded:
        from actiondbg.recording import open_recording

        recording = open_recording(tool[0], partial=options.partial)
        recorded_tool.print_cut(tool[0], recording.cut)
        _write(recording, options, destination, where)
        return 0
    if options.upstream_format:
        return _log_upstream(tool, options, destination)
    if where is None and not options.json:
        return _log_live(tool, options, destination)
    return _log_afterwards(tool, options, destination, where)


def _check(options: LogOptions, tool: list[str], recorded: bool) -> None:
    """Check that the options go together, before the tool runs.

    Raises:
        UsageError: options exclude each other.
        ActiondbgError: a package is missing.
    """
    if not options.upstream_format:
        need_packages("actiondbg log")
    elif recorded:
        raise UsageError(
            "--upstream-format needs the tool, as it prints IR that recordings do not contain."
        )
    elif other := _not_upstream(options):
        raise UsageError(f"--upstream-format and {other} exclude each other: give one of them.")
    if recorded and options.tool_stdout:
        raise UsageError("--tool-stdout needs a tool, not a recording.")
    for path in (options.output, options.tool_stdout):
        if path is not None:
            check_overwritten(path, tool)
    if options.output and options.tool_stdout and is_same(options.output, options.tool_stdout):
        raise UsageError(
            f"{options.tool_stdout!r} is the file of the log: name another file for --tool-stdout."
        )


def _not_upstream(options: LogOptions) -> str | None:
    """Return the first option that the upstream format does not support, or None."""
    asked = {
        "--json": options.json,
        "--filter": options.filter,
        "--loc": options.loc,
        "--outcome, --changed or --failed": options.outcome,
    }
    return next((name for name, value in asked.items() if value), None)


def _where(options: LogOptions) -> str | None:
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


def _write(
    recording: Recording, options: LogOptions, destination: Destination, where: str | None
) -> int:
    from actiondbg.recording.log.log import write_json, write_log

    with destination.open() as out:
        if options.json:
            count = write_json(recording, out, where)
        else:
            count = write_log(recording, out, where, destination.paint)
    if count == 0 and recording.count:
        print_notice(f"No action matches, of {recording.count:,}.")
    return count


# --- a tool ---------------------------------------------------------------------------


def _log_live(tool: list[str], options: LogOptions, destination: Destination) -> int:
    """Write the log while the tool runs; without an output file, print it at the end."""
    with scratch_directory("log") as directory:
        file = destination.file(directory)
        with _started(tool, options, directory / f"run{SUFFIX}") as running:
            try:
                with writing(file):
                    done, count = _write_live(running, file, destination)
            except FileNotWritten:
                if file == destination.path:
                    if not file.stat().st_size:  # the lines of a log that is cut stay
                        file.unlink()
                    raise
                file.unlink(missing_ok=True)
                return _print_recorded(running.wait(), options, destination, None)
        status = _report(done, count)
        destination.show(file)
    return status


def _write_live(
    running: RecordingProcess, file: Path, destination: Destination
) -> tuple[RecordedRun, int]:
    """Write the log until the tool has ended; return its run, and the number of lines."""
    # Imported here, as the import takes long and the tool runs meanwhile.
    from actiondbg.recording.log.log import LiveLog

    assert running.path is not None
    try:
        log = LiveLog(running.path, file, destination.paint)
        done = _follow(running, log)
    except OSError:
        running.wait()  # the tool need not fail with the log
        raise
    log.finish()
    return done, log.count


def _follow(running: RecordingProcess, log: LiveLog) -> RecordedRun:
    try:
        while (done := running.poll(_SECONDS)) is None:
            try:
                with HeldInterrupts():  # an interrupt in the middle would lose lines
                    log.update()
            except KeyboardInterrupt:
                running.interrupt()
        return done
    except SystemExit:
        # A signal ends actiondbg and the tool: log the actions up to then.
        running.close()
        log.finish()
        raise


def _log_afterwards(
    tool: list[str], options: LogOptions, destination: Destination, where: str | None
) -> int:
    """Write the log when the tool has ended: a filter may depend on later actions."""
    with scratch_directory("log") as directory:
        path = directory / f"run{SUFFIX}"
        with _started(tool, options, path) as running:
            modules = ("actiondbg.recording.log.log", "actiondbg.recording.query.database")
            done = recorded_tool.wait_and_import(running, *modules)
        return _print_recorded(done, options, destination, where)


def _print_recorded(
    done: RecordedRun, options: LogOptions, destination: Destination, where: str | None
) -> int:
    count = 0
    if done.path is not None:
        from actiondbg.recording import open_recording

        recording = open_recording(done.path, partial=True)
        count = _write(recording, options, destination, where)
    return _report(done, count)


def _log_upstream(tool: list[str], options: LogOptions, destination: Destination) -> int:
    with scratch_directory("log") as directory:
        file = destination.file(directory)
        with writing(file):
            file.write_bytes(b"")  # a tool without an MLIR context writes none
        with _started(tool, options, None, upstream_log=file) as running:
            done = running.wait()
        status = recorded_tool.print_ending(done)
        destination.show(file)
        if _is_cut(file):
            own = file == destination.path
            way = "name another file" if own else "set TMPDIR to another directory"
            print_notice(
                f"The log {str(file)!r} is incomplete, as the disk may be full: its lines up to "
                f"then are kept. Free disk space, or {way}."
            )
            return status or 1
    return status


def _is_cut(log: Path) -> bool:
    """Whether the last line lacks its end, which the agent cuts off when it cannot write more."""
    from actiondbg.support.scratch_directory import is_full

    if not log.is_file():
        return False
    if not log.stat().st_size:
        return is_full(log.parent)
    with log.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def _started(
    tool: list[str],
    options: LogOptions,
    output: Path | None,
    upstream_log: Path | None = None,
) -> AbstractContextManager[RecordingProcess]:
    """Start the tool, and forward Ctrl-C to it; the actions up to then are logged."""
    from actiondbg.recording.capture.recorder import start_recording

    started = start_recording(
        tool,
        output,
        # The output of the tool must not mix with the log.
        stdout=options.tool_stdout or (None if options.output else os.devnull),
        follow=options.follow,
        randomize=options.randomize,
        skip=options.skip,
        upstream_log=upstream_log,
    )
    return recorded_tool.forward_interrupts(started)


# --- messages -------------------------------------------------------------------------


def _report(done: RecordedRun, count: int) -> int:
    """Print what the log lacks; return the exit code."""
    status = recorded_tool.print_ending(
        done, f"the log has the {counted(count, 'action')} up to then"
    )
    recorded_tool.print_others(done)
    if done.path is None and done.status >= 0:
        print_notice(f"There is nothing to log: {recorded_tool.without_context(done)}.")
    return status
