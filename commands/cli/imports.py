"""``actiondbg import [options] LOG``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from actiondbg.commands.cli.line_parser import SUFFIX, LineParser, Quiet, subcommand
from actiondbg.commands.interpreter.options import Options, option, positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import is_same
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.counts import counted, size_text
from actiondbg.support.output_file import writing
from actiondbg.support.recording_file import is_recording, refuse_recording

if TYPE_CHECKING:
    from actiondbg.recording.imported.importer import Import

_STDIN = "-"
_EPILOG = """\
examples:
  mlir-opt in.mlir --canonicalize --mlir-print-ir-after-all 2> passes.log
  actiondbg import passes.log -o run.adbrec
  actiondbg report run.adbrec -o report.html
  iree-opt in.mlir --mlir-print-ir-after-all 2>&1 >/dev/null | actiondbg import - -o run.adbrec

LOG is what a compiler printed with --mlir-print-ir-after-all, --mlir-print-ir-before-all or both,
also compressed by gzip; a folder of --mlir-print-ir-tree-dir; or - for standard input. The
recording has the passes with the IR around them, without times: docs/import.md lists what reads it.

exit status: 0 success, 1 error, 2 bad usage.
"""


class ImportOptions(Options):
    log: str = positional("LOG", help="a log, a folder of dumps, or -")
    output: Path | None = option(
        "-o", "--output", "RUN.adbrec", help="the recording; by default LOG with the suffix .adbrec"
    )
    rest: Path | None = option(
        "FILE", help="write the lines that belong to no dump, such as diagnostics, to a file"
    )
    quiet: Quiet = False


@subcommand("import", "[options] LOG", ImportOptions, _EPILOG)
def run(parser: LineParser[ImportOptions], argv: list[str]) -> int:
    """Make a recording of passes from the IR that a compiler printed."""
    options = parser.read(argv)
    need_packages("actiondbg import")
    output = _output(options)
    replaces = is_recording(output)
    found = _import(options, output)
    for sentence in found.notes:
        print_notice(sentence)
    if not options.quiet:
        print_notice(_report(found, output, replaces, options.rest))
    return 0


def _output(options: ImportOptions) -> Path:
    """Return the path of the recording; raises UsageError for one that is not to be written."""
    if is_recording(options.log):
        raise UsageError(
            f"{options.log!r} is a recording already: open it with 'actiondbg open {options.log}'."
        )
    if options.output is None and options.log == _STDIN:
        raise UsageError("the recording of standard input needs a name: give it with -o.")
    output = options.output or Path(options.log.rstrip("/")).with_suffix(SUFFIX)
    if str(output) == _STDIN:
        raise UsageError(
            "'-' is not a path for a recording, which must be a regular file: name one."
        )
    if output.exists() and not is_recording(output) and (output.is_dir() or output.stat().st_size):
        raise UsageError(
            f"{str(output)!r} is not a recording and is not overwritten: name another file."
        )
    for path in (output, options.rest):
        if path is not None and is_same(path, options.log):
            raise UsageError(f"{str(path)!r} is the log and is not overwritten: name another file.")
    if options.rest is not None:
        refuse_recording(options.rest)
        if is_same(options.rest, output):
            raise UsageError(
                f"{str(options.rest)!r} is the file of the recording: name another for --rest."
            )
    return output


def _import(options: ImportOptions, output: Path) -> Import:
    from actiondbg.recording.imported.importer import import_log

    progress = ProgressLine(sys.stderr)

    def report(lines: int, dumps: int) -> None:
        progress.change(f"... {lines:,} lines, {dumps:,} dumps,")

    with contextlib.ExitStack() as stack:
        rest: IO[bytes] | None = None
        if options.rest is not None:
            stack.enter_context(writing(options.rest))
            rest = stack.enter_context(open_whole(options.rest))
        stack.enter_context(writing(output))
        stack.enter_context(progress.shown("... 0 lines"))
        return import_log(options.log, output, progress=report, rest=rest)


def _report(found: Import, output: Path, replaces: bool, rest: Path | None) -> str:
    shown = size_text(output.stat().st_size)
    replaced = ", replacing the previous recording" if replaces else ""
    passes = counted(found.passes, "pass")
    others = ""
    if found.rest:
        are = "is" if found.rest == 1 else "are"
        where = f"in {rest}" if rest is not None else "left out (--rest FILE keeps them)"
        lines = counted(found.rest, "line")
        others = f" {lines} outside of the dumps {are} {where}."
    return f"{passes} ({shown}) in {output}{replaced}.{others}"
