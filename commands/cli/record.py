"""``actiondbg record [options] -- TOOL ARGS...``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.cli.child_process import (
    code_of,
    print_compiling,
    print_ending,
    print_notice,
)
from actiondbg.commands.cli.line_parser import SUFFIX, LineParser, MlirInclude, Quiet
from actiondbg.commands.interpreter.options import Option, Options
from actiondbg.recording.capture.recorder import (
    IRDetail,
    RecordedRun,
    RecordingProcess,
    start_recording,
)
from actiondbg.recording.format.magic import is_recording

if TYPE_CHECKING:
    from actiondbg.recording.log.tally import Tally

_SECONDS = 0.2  # between two looks at how far it is
_CLEAR = "\r\x1b[K"
_EPILOG = """\
examples:
  actiondbg record -- mlir-opt in.mlir --canonicalize
  actiondbg record -o run.adbrec --ir changed -- mlir-opt in.mlir --canonicalize -o out.mlir
  actiondbg query run.adbrec "select name, count(*) from actions group by name"

exit status: the tool's (128 + N for a signal); 1 an error, 2 bad usage, 3 the tool could not be
started. docs/recordings.md says what is in a recording.
"""


class RecordOptions(Options):
    """The options of ``actiondbg record``."""

    output: Annotated[
        Path | None,
        Option(
            "--output",
            "RUN.adbrec",
            help="the recording; TOOL.adbrec by default, with a number if there is one already",
            short="-o",
            parse=Path,
        ),
    ] = None
    ir: Annotated[
        IRDetail,
        Option(
            "--ir",
            help="keep the IR before and after: of the operations that an action changes, or of "
            "the function around them; none by default",
        ),
    ] = "none"
    events: Annotated[
        str | None,
        Option("--events", "LIST", help="count events at each action; see actiondbg stat"),
    ] = None
    quiet: Quiet = False
    mlir_include: MlirInclude = None


def build_parser() -> LineParser[RecordOptions]:
    """Return the parser of the options; TOOL and its arguments are cut off before."""
    return LineParser(
        RecordOptions,
        "actiondbg record",
        "[options] -- TOOL ARGS...",
        "Record every action of a tool: what it did, to what, why not, how long.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word record; return the exit code, which is the tool's.

    Raises:
        ActiondbgError: it could not be recorded.
    """
    parser = build_parser()
    ours, tool = parser.split(argv)
    options = parser.read(ours)
    if not tool:
        parser.error("name the tool: actiondbg record [options] -- TOOL ARGS...")
    if options.output == Path("-"):
        parser.error("'-' is no name of a recording, which has to be a regular file: give it one.")
    output: Path = options.output or _unused(Path(tool[0]).name)
    replaces = is_recording(output)
    with start_recording(
        tool,
        output,
        ir=options.ir,
        events=options.events.split(",") if options.events else (),
        mlir_include=options.mlir_include,
        on_compile=print_compiling,
    ) as running:
        # Imported only now, while the tool runs.
        from actiondbg.recording.log.tally import Tally

        tally = Tally(running.path or output)
        done = _follow(running, tally) if _shows_progress() else running.wait()
    print_ending(done, is_whole=True)  # what it left is told of below
    for sentence in _report(done, output, tally, replaces, options.quiet):
        print_notice(sentence)
    return code_of(done.status)


def _unused(tool: str) -> Path:
    """Return a name that no file has: a recording is not lost because there is another one."""
    names = (Path(f"{tool}{number}{SUFFIX}") for number in chain(("",), _numbers()))
    return next(path for path in names if not path.exists())


def _numbers() -> Iterator[str]:
    return (f"-{number}" for number in count(2))


# --- while it runs ----------------------------------------------------------------


def _shows_progress() -> bool:
    # What the tool prints on the same terminal must not be mixed with it.
    return sys.stderr.isatty() and not sys.stdout.isatty()


def _follow(running: RecordingProcess, tally: Tally) -> RecordedRun:
    shown = False
    while (done := running.poll(_SECONDS)) is None:
        tally.update()
        # The tool's next line is written over this one.
        print(f"{_CLEAR}{_amount(tally)}", end="\r", file=sys.stderr, flush=True)
        shown = True
    if shown:
        print(_CLEAR, end="", file=sys.stderr, flush=True)
    return done


# --- at the end -------------------------------------------------------------------


def _report(
    done: RecordedRun, output: Path, tally: Tally, replaces: bool, quiet: bool
) -> Iterator[str]:
    """Yield the sentences that say what was recorded."""
    if done.path is None:
        yield f"There is no recording: the tool ended before it made an MLIR context ({output})."
        return
    tally.update()
    if not tally.ended and done.status >= 0:
        yield (
            f"The recording {output} has no end, as not all of it could be written (is the disk "
            "full?): what there is can be read."
        )
    if not quiet or done.status < 0:
        replaced = ", which replaces the one of before" if replaces else ""
        yield f"{_amount(tally)} in {output}{replaced}."


def _amount(tally: Tally) -> str:
    size, unit = tally.size / 1000, "kB"
    if size >= 1000:
        size, unit = size / 1000, "MB"
    each = f", {tally.size / tally.actions:.1f} bytes each" if tally.actions else ""
    return f"{tally.actions:,} action{'s'[: tally.actions != 1]} ({size:.1f} {unit}{each})"
