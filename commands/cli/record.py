"""``actiondbg record [options] -- TOOL ARGS...``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.cli import line_parser
from actiondbg.commands.cli.line_parser import SUFFIX, LineParser, subcommand
from actiondbg.commands.cli.recorded_tool import (
    print_ending,
    print_incomplete,
    wait_noticing,
    without_context,
)
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.recording.capture.recorder import (
    IRDetail,
    RecordedRun,
    RecordingProcess,
    start_recording,
)
from actiondbg.support.atomic_write import create_free
from actiondbg.support.counts import counted, size_text
from actiondbg.support.output_file import writing
from actiondbg.support.recording_file import is_recording

if TYPE_CHECKING:
    from actiondbg.commands.render.terminal.progress import ProgressLine
    from actiondbg.recording.log.tally import Tally

_SECONDS = 0.2  # between two updates of the progress
_EPILOG = """\
examples:
  actiondbg record -- mlir-opt in.mlir --canonicalize
  actiondbg record -o run.adbrec --ir changed -- mlir-opt in.mlir --canonicalize -o out.mlir
  actiondbg query run.adbrec "select name, count(*) from actions group by name"

exit status: that of the tool (128 + N for a signal); 1 error, 2 bad usage, 3 the tool could not be
started. docs/recordings.md describes recordings.
"""


class RecordOptions(Options):
    output: Path | None = option(
        "-o",
        "--output",
        "RUN.adbrec",
        help="the recording; by default TOOL.adbrec, with a number if that exists",
    )
    ir: IRDetail = option(
        default="none",
        help="record the IR before and after each action: of the changed operations, or of the "
        "function around them; pass: of functions, around passes only; output: at the end only, "
        "for actiondbg compare; none by default",
    )
    events: str | None = option("LIST", help="count events in each action; see actiondbg stat")
    lineage: bool = flag(help="record from which operation each was made; see actiondbg track")
    checks: bool = flag(
        help="check that patterns keep the rules of rewriting, in one thread; see actiondbg lint"
    )
    quiet: line_parser.Quiet = False
    follow: line_parser.Follow = None
    randomize: line_parser.Randomize = False
    without: line_parser.Without = ()
    skip: line_parser.Skip = ()


@subcommand("record", "[options] -- TOOL ARGS...", RecordOptions, _EPILOG)
def run(parser: LineParser[RecordOptions], argv: list[str]) -> int:
    """Record all actions of a tool, with outcomes, changes, reasons and times."""
    ours, tool = parser.split(argv)
    options = parser.read(ours)
    if not tool:
        parser.error("the tool is missing: actiondbg record [options] -- TOOL ARGS...")
    if options.output == Path("-"):
        parser.error("'-' is not a path for a recording, which must be a regular file: name one.")
    replaces = options.output is not None and is_recording(options.output)
    with (
        _output(options, tool) as output,
        start_recording(
            tool,
            output,
            ir=options.ir,
            events=options.events.split(",") if options.events else (),
            lineage=options.lineage,
            checks=options.checks,
            one_thread=options.checks,
            follow=options.follow,
            randomize=options.randomize,
            skip=options.skip,
            without=options.without,
        ) as running,
    ):
        # Imported here, while the tool runs.
        from actiondbg.commands.render.terminal.progress import ProgressLine
        from actiondbg.recording.log.tally import Tally

        tally = Tally(running.path or output)
        # The line must not mix with output of the tool on the same terminal.
        progress = ProgressLine(sys.stderr, enabled=not (options.quiet or sys.stdout.isatty()))
        if progress.shows:
            done = _follow(running, tally, progress)
        else:
            done = running.wait() if options.quiet else wait_noticing(running)
    status = print_ending(done, kept=output)
    for sentence in _report(done, output, tally, replaces, options.quiet):
        print_notice(sentence)
    cut = [print_incomplete(done, path, output.parent / path.name) for path in done.others]
    return status or int(any(cut))


@contextlib.contextmanager
def _output(options: RecordOptions, tool: Sequence[str]) -> Generator[Path]:
    """Yield the path of the recording; without one, a new file, which is removed if it stays empty.

    Raises:
        FileNotWritten: the file cannot be created.
    """
    if options.output is not None:
        yield options.output
        return
    wanted = Path(f"{Path(tool[0]).name}{SUFFIX}")
    with writing(wanted):
        output = create_free(wanted)
    try:
        yield output
    finally:
        with contextlib.suppress(OSError):
            if not output.stat().st_size:
                output.unlink()


# --- progress ---------------------------------------------------------------------


def _follow(running: RecordingProcess, tally: Tally, progress: ProgressLine) -> RecordedRun:
    with progress.shown(_amount(tally)):
        while True:
            try:
                while (done := running.poll(_SECONDS)) is None:
                    tally.update()
                    progress.change(_amount(tally))
                return done
            except KeyboardInterrupt:  # beside `poll`
                running.interrupt()


# --- messages ---------------------------------------------------------------------


def _report(
    done: RecordedRun, output: Path, tally: Tally, replaces: bool, quiet: bool
) -> Iterator[str]:
    from actiondbg.recording.log.tally import Tally

    if done.path is None:
        yield f"No recording in {output}: {without_context(done)}."
        return
    tally.update()
    if not quiet or done.status < 0:
        replaced = ", replacing the previous recording" if replaces else ""
        yield f"{_amount(tally)} in {output}{replaced}."
    for path in done.others:
        other = Tally(path)
        other.update()
        if not quiet:
            yield f"{_amount(other)} in {output.parent / path.name}, of another process."
    if done.unobserved is not None:
        yield done.unobserved


def _amount(tally: Tally) -> str:
    each = f", {tally.size / tally.actions:.1f} bytes each" if tally.actions else ""
    return f"{counted(tally.actions, 'action')} ({size_text(tally.size)}{each})"
