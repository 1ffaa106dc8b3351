"""``actiondbg kernels count [options] -- PROGRAM ARGS...``."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.interpreter.values import bucket_count, index, milliseconds, positive_number
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.statistics.event_probe import choose_available, try_event
from actiondbg.statistics.events import DEFAULT, CountableEvent, listed_events
from actiondbg.support.globs import check_glob
from actiondbg.support.interrupts import exit_code, signal_name
from actiondbg.support.output_file import write_file, writing
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.kernels.counting.measurement import CallCost

_COMMAND = "actiondbg kernels count"
_HOOK_OPTIONS = {
    "FILTER_NAME": "--name",
    "SKIP_START_MS": "--skip-start",
    "PERF_EVENT_TYPES": "--events",
    "OUTPUT_CSV": "--csv",
    "BUCKET_COUNT": "--buckets",
    "GAMMA": "--gamma",
}
_HOOK_FLAGS = {"LIST_EVENT_TYPES": "--list-events", "NO_PROBABILITY_TABLE": "--no-tables"}
_EPILOG = """\
examples:
  actiondbg kernels count -- iree-benchmark-module --module=model.vmfb --function=main
  actiondbg kernels count --name '*matmul*' --events task-clock,page-faults -- python model.py
  actiondbg kernels count --csv counts -- iree-run-module --module=model.vmfb --function=main
  LD_PRELOAD=$(actiondbg kernels count --print-library) iree-run-module --module=model.vmfb

Counted are the dispatches of IREE on the CPU, one call for each workgroup, and the kernels of
shared libraries (functions _mlir_ciface_*). Neither IREE nor the module is built anew. The
variables IREE_HOOK_* of IREE's hook are understood; options come before them.

The result goes to stderr for a program, which has stdout, and to stdout for a folder of --keep.

exit status: that of the program (128 + N for a signal); 0 for a folder; 1 error, 2 bad usage,
3 the program could not be started. docs/kernels/count.md explains the output.
"""


class KernelCountOptions(Options):
    events: str | None = option(
        "LIST",
        help="comma-separated events, 'default' (those that this machine supports) or 'none'",
    )
    list_events: bool = flag(help="list the events, and whether this machine supports them")
    name: str | None = option(
        "GLOB", help="count functions of this name, and print their statistics"
    )
    skip_start: float = option(
        "MS",
        default=0.0,
        help="exclude calls that begin in the first MS milliseconds",
        parse=milliseconds,
    )
    by_thread: bool = flag(help="print the statistics of each thread")
    buckets: int = option(
        "N", default=16, help="the number of quantile buckets; 16 by default", parse=bucket_count
    )
    no_tables: bool = flag(help="leave out the tables of probabilities")
    gamma: float = option(
        "X",
        default=0.5,
        help="the exponent of the tables' shades; 0.5 by default",
        parse=positive_number,
    )
    limit: int = option(
        "N",
        default=30,
        help="the number of functions to list, 0 for all; 30 by default",
        parse=index,
    )
    csv: Path | None = option("DIR", help="write the calls of each thread to a CSV in DIR")
    keep: Path | None = option("DIR", help="keep the counts in DIR, to be read again")
    json: bool = flag(help="print one JSON object")
    output: Path | None = option("-o", "--output", "FILE", help="write the result to a file")
    print_library: bool = flag(help="print the path of the library for LD_PRELOAD")


@subcommand("kernels count", "[options] (-- PROGRAM ARGS... | DIR)", KernelCountOptions, _EPILOG)
def run(parser: LineParser[KernelCountOptions], argv: list[str]) -> int:
    """Count CPU events for each call of a dispatch function of IREE, or of a kernel."""
    ours, words = parser.split(argv)
    options = parser.read([*_hook_words(os.environ), *ours])
    # First: it is asked for in a shell whose environment may ask for the list.
    if options.print_library:
        from actiondbg.kernels.counting.program import counting_library

        print(counting_library())
        return 0
    if options.list_events:
        from actiondbg.commands.render.events import event_lines

        print(event_lines(map(try_event, listed_events())))
        return 0
    if not words:
        parser.error(f"the program is missing: {_COMMAND} [options] -- PROGRAM ARGS...")
    is_program = "--" in argv[len(ours) : len(argv) - len(words)]
    return _run(options, words, is_program)


def _run(options: KernelCountOptions, words: Sequence[str], is_program: bool) -> int:
    from actiondbg.kernels.counting.measurement import has_counts

    _check(options)
    kept = Path(words[0])
    if not is_program and len(words) == 1 and has_counts(kept):
        _report(options, words, kept, sys.stdout, [])
        return 0
    if not is_program and kept.is_dir():
        raise UsageError(
            f"{words[0]!r} has no counts: name a folder of --keep, or a program after '--'."
        )
    events, notes = choose_available((options.events or DEFAULT).split(","), _COMMAND)
    keep = options.keep
    with contextlib.nullcontext(keep) if keep else scratch_directory("calls") as folder:
        return _count(options, words, folder, events, notes)


def _count(
    options: KernelCountOptions,
    words: Sequence[str],
    folder: Path,
    events: Sequence[CountableEvent],
    notes: list[str],
) -> int:
    from actiondbg.kernels.counting.measurement import NothingCounted
    from actiondbg.kernels.counting.program import counting_library, run_counted

    status = run_counted(words, counting_library(), folder, events, options.name or "")
    if status < 0:
        print_notice(f"The program was killed by {signal_name(-status)}.")
    try:
        _report(options, words, folder, sys.stderr, notes)
    except NothingCounted as error:
        if not status:
            raise
        print_notice(str(error))
    return exit_code(status)


def _report(
    options: KernelCountOptions, words: Sequence[str], folder: Path, out: TextIO, notes: list[str]
) -> None:
    """Read the counts, write the requested files, and print the result."""
    from actiondbg.kernels.counting.measurement import CallSelection, cost_of, read_calls

    selection = CallSelection(options.name, options.skip_start, options.buckets, options.by_thread)
    cost = cost_of(read_calls(folder), selection)
    cost.calls.notes[:0] = notes
    if options.csv is not None:
        from actiondbg.kernels.counting.measurement import write_csv_files

        with writing(options.csv):
            write_csv_files(cost.calls, options.csv)
    text = _text(cost, words, options)
    if options.output is not None:
        write_file(options.output, f"{text}\n")
    else:
        print(text, file=out)


def _text(cost: CallCost, words: Sequence[str], options: KernelCountOptions) -> str:
    if options.json:
        return json.dumps({"argv": list(words), **cost.as_json()}, ensure_ascii=False)
    from actiondbg.commands.render.kernels.counts import counts_text

    return counts_text(cost, words, options.limit, not options.no_tables, options.gamma)


# --- options ----------------------------------------------------------------------


def _check(options: KernelCountOptions) -> None:
    need_packages(_COMMAND, ("numpy",), "kernels")
    if options.name is not None:
        check_glob(options.name, options.name, 0)
    for name, folder in (("--csv", options.csv), ("--keep", options.keep)):
        if folder is not None:
            _check_folder(name, folder)
    if options.keep is not None and options.keep.is_dir() and any(options.keep.iterdir()):
        raise UsageError(f"{str(options.keep)!r} is not empty: name a new folder for --keep.")
    output = options.output
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"{str(output)!r} cannot be written: its directory does not exist.")


def _check_folder(option: str, folder: Path) -> None:
    """Create the folder of an option; raise UsageError if files cannot be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{str(folder)!r} cannot be created ({error.strerror}): name another folder for "
            f"{option}."
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{str(folder)!r} is not writable: name another folder for {option}.")


def _hook_words(variables: Mapping[str, str]) -> list[str]:
    """Return the variables of IREE's hook as words of the command line."""
    words: list[str] = []
    for name, written in _HOOK_OPTIONS.items():
        if value := variables.get(f"IREE_HOOK_{name}"):
            words.append(f"{written}={value}")
    return words + [flag for name, flag in _HOOK_FLAGS.items() if f"IREE_HOOK_{name}" in variables]
