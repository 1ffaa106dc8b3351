"""``actiondbg kernels bisect [options] [DISPATCH...]``."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from actiondbg.bisection.verdict import Mode
from actiondbg.commands.cli.kernels.options import GenerateLine, OperationOptions, VerifyLine
from actiondbg.commands.cli.kernels.sweep_commands import (
    dispatch_filter,
    generate_requested,
    kernels_of,
    names_problems,
    requested_kinds,
    requested_operations,
    sweep_settings,
)
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import changed_fields, option, positional
from actiondbg.commands.interpreter.values import positive, positive_number
from actiondbg.commands.render.bisection import progress_display
from actiondbg.commands.render.kernels.culprits import (
    culprit_lines,
    row_line,
    triage_object,
    triage_text,
)
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.kernels.bisection.dispatch_bisection import (
    BisectedKernel,
    RowBisector,
    can_be_bisected,
    triage,
)
from actiondbg.kernels.bisection.random_pipelines import random_dispatches, small_operations
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.profiling.profiler import TimeLimit
from actiondbg.kernels.results.entry import entries_of
from actiondbg.kernels.results.report_files import ReportFiles, parse_tags
from actiondbg.kernels.sweep.settings import SweepSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actiondbg.kernels.model import Dispatch, Operation
    from actiondbg.kernels.results.entry import Row
    from actiondbg.kernels.verification.verifier import DispatchVerifier

UNDECIDED = 1  # exit code
_EPILOG = """\
examples:
  actiondbg kernels bisect 'matmul_64*'
  actiondbg kernels bisect --operation-kind conv_2d --dispatches '*s2x2*' \\
      --pipeline 'convert-linalg-to-affine-loops,affine-super-vectorize{virtual-vector-size=4,4}'
  actiondbg kernels bisect --random-pipelines 60
  actiondbg kernels bisect 'matmul_64*' --slower-than 0.5

Generated kernels are compiled and verified, unless they are up to date, and each wrong one is
bisected. With problems, pipelines or configurations, these are generated first.

exit status: 0 each wrong kernel has a culprit, or none is wrong, 1 one has none, or error, 2 bad
usage.
docs/kernels/bisect.md explains the search.
"""


class KernelBisectOptions(GenerateLine, VerifyLine):
    names: tuple[str, ...] = positional(
        "DISPATCH", help="globs or regular expressions, as --dispatches"
    )
    random_pipelines: int = option(
        "N",
        default=0,
        help="generate N kernels with random pipelines of mlir, over the operations in turn",
        parse=positive,
    )
    mode: Mode = option(
        default="first",
        help="find the first bad action, the smallest bad set, or the smallest set of skips; first",
    )
    slower_than: float | None = option(
        "MS",
        help="find what makes a right kernel slower: a call takes more milliseconds",
        parse=positive_number,
    )
    faster_than: float | None = option(
        "MS", help="find what makes a right kernel faster: a call takes less", parse=positive_number
    )
    seed: int = option("N", default=0, help="of the random pipelines; 0", parse=int)


@subcommand("kernels bisect", "[options] [DISPATCH...]", KernelBisectOptions, _EPILOG)
def run(parser: LineParser[KernelBisectOptions], argv: list[str]) -> int:
    """Find the action of the compiler that makes each wrong kernel wrong."""
    options = parser.read_intermixed(argv)
    interrupted = False
    line = _Line(options)
    try:
        line.run()
    except KeyboardInterrupt:
        interrupted = True
    return line.finish(interrupted)


class _Line:
    """The kernels of a command line, with their rows so far."""

    def __init__(self, options: KernelBisectOptions) -> None:
        self._options = options
        self._files = ReportFiles(options.output, append=options.append)
        self._tags = parse_tags(options.tags)
        self._rows: dict[str, Row] = {}
        self._bisected: list[BisectedKernel] = []

    def run(self) -> None:
        with kernels_of(self._options, _settings(self._options)) as kernels:
            verifier = self._sweep(kernels, _dispatches(self._options, kernels))
        if verifier is not None:
            self._bisect(kernels, verifier)

    def _sweep(self, kernels: Kernels, dispatches: Sequence[Dispatch]) -> DispatchVerifier | None:
        """Compile and verify kernels; return the verifier, None of a dry run."""
        sweep = kernels.sweep(dispatches)
        try:
            sweep.run(dispatches)
        finally:
            done = [each.name for each in dispatches if each.name in sweep.rows]
            self._rows = {name: sweep.rows[name] for name in done}
        return sweep.stages.verifier

    def _bisect(self, kernels: Kernels, verifier: DispatchVerifier) -> None:
        """Bisect the wrong kernels, and print each culprit when it is found."""
        for name, row in self._rows.items():
            if not row.is_wrong:
                continue
            self._print(row_line(row))
            if can_be_bisected(row):
                self._rows[name] = self._bisected_row(row, kernels, verifier)
                self._print(*culprit_lines(self._bisected[-1]))

    def _bisected_row(self, row: Row, kernels: Kernels, verifier: DispatchVerifier) -> Row:
        # One display for each: what is printed beside it would be wrapped.
        with progress_display(sys.stderr, quiet=True) as progress:
            bisector = RowBisector(
                kernels.folder,
                kernels.providers,
                verifier,
                mode=self._options.mode,
                limit=kernels.settings.limit,
                progress=progress,
            )
            bisected = bisector.bisect(row)
        self._bisected += bisector.bisected
        return bisected

    def _print(self, *lines: str) -> None:
        if not (self._options.quiet or self._options.json):
            print("\n".join(lines), flush=True)

    def finish(self, interrupted: bool) -> int:
        """Print the triage and write the files; return the exit code."""
        options = self._options
        rows = list(self._rows.values())
        groups = triage(self._bisected)
        self._files.write(entries_of([replace(row, tags=self._tags) for row in rows]))
        if options.json:
            print(json.dumps(triage_object(rows, groups), ensure_ascii=False))
        elif not options.quiet and not options.dry_run:
            print(triage_text(rows, groups))
        if interrupted:
            print_notice("interrupted: the same command continues.")
            return 128 + signal.SIGINT
        wrong = sum(row.is_wrong for row in rows)
        found = sum(len(group.kernels) for group in groups if group.is_found)
        return 0 if found == wrong else UNDECIDED


def _settings(options: KernelBisectOptions) -> SweepSettings:
    settings = replace(sweep_settings(options), bisect=False)
    if options.slower_than is not None and options.faster_than is not None:
        raise UsageError("--slower-than and --faster-than exclude each other.")
    given = options.slower_than or options.faster_than
    if given is None:
        return settings
    limit = TimeLimit(given / 1e3, "TOO SLOW" if options.slower_than else "TOO FAST")
    return replace(settings, limit=limit, jobs=1)  # one at a time: others would slow it


def _dispatches(options: KernelBisectOptions, kernels: Kernels) -> list[Dispatch]:
    if options.random_pipelines:
        operations: Sequence[Operation] = small_operations()
        if changed_fields(options, OperationOptions):
            operations = requested_operations(options, requested_kinds(options.operation_kind))
        dispatches = random_dispatches(operations, options.random_pipelines, options.seed)
        kernels.write(dispatches)
        return dispatches
    if names_problems(options):
        return generate_requested(options, kernels)
    return kernels.select(dispatch_filter(options, options.names))
