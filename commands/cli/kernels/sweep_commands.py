"""``actiondbg kernels generate``, ``compile``, ``verify``, ``profile`` and ``run``.

What other commands share with them is here, too: the operations, configurations and providers that
options name, settings, progress and output.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from actiondbg.commands import FAILED
from actiondbg.commands.cli.kernels.options import (
    CompileLine,
    FolderOptions,
    GenerateLine,
    KernelRunLine,
    OperationOptions,
    ProblemOptions,
    ProfileLine,
    ProviderOptions,
    VerifyLine,
    check_used,
)
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import changed_fields
from actiondbg.commands.render.kernels.rows import report_lines, report_object
from actiondbg.commands.render.terminal.output import print_notice, print_result, terminal_width
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.registry import SPLIT_K_ALIASES, find_kind, kind_names
from actiondbg.kernels.problems.problem import (
    SPLIT_K_SLICES,
    load_set,
    parameters_name,
    parse_range,
    problem_operations,
    read_configurations,
    read_problems,
)
from actiondbg.kernels.programs.extraction import cut_program
from actiondbg.kernels.providers.provider import ProviderSettings
from actiondbg.kernels.providers.registry import provider_name
from actiondbg.kernels.results.entry import Row, entries_of
from actiondbg.kernels.results.report_files import ReportFiles, parse_tags
from actiondbg.kernels.sweep.generation import DispatchFilter, PlannedDispatches
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import Report, SweepProgress
from actiondbg.statistics.event_probe import choose_available
from actiondbg.statistics.events import CountableEvent

ALL = "all"
_SMALL = "small"
_DEFAULT_PROVIDERS = ["mlir"]
LineT = TypeVar("LineT", bound=CompileLine)
_GENERATE = """\
examples:
  actiondbg kernels generate --problem-m 64,128 --problem-n 64 --problem-k 64
  actiondbg kernels generate --problem-set bert_base_128 --provider iree
  actiondbg kernels generate --from model.mlir

exit status: 0 success, 1 error, 2 bad usage.
docs/kernels/index.md lists the kinds, their fields and the problem sets.
"""
_COMPILE = """\
examples:
  actiondbg kernels compile
  actiondbg kernels compile --dispatches 'matmul_512x*' --dry-run

exit status: 0 success, 1 a compilation failed, 2 bad usage.
docs/kernels/index.md shows the folder.
"""
_VERIFY = """\
examples:
  actiondbg kernels verify
  actiondbg kernels verify --operation-kind matmul --bisect

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels/index.md explains the rows.
"""
_PROFILE = """\
examples:
  actiondbg kernels profile --output times.csv
  actiondbg kernels profile --dispatches 'matmul_512x512x512_*' --benchmark-repetitions 20

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels/index.md explains the rows.
"""
_RUN = """\
examples:
  actiondbg kernels run --problem-m 64:513:64 --problem-n 128 --problem-k 256
  actiondbg kernels run --problem-set resnet50 --provider mlir,iree --output resnet50.html
  actiondbg kernels run --from model.mlir --bisect

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels/index.md explains the rows.
"""


def requested_kinds(text: str) -> list[str]:
    """Return the kinds of ``--operation-kind``."""
    if text == ALL:
        return kind_names()
    return [find_kind(each.strip()).kind for each in text.split(",")]


def requested_operations(
    options: OperationOptions, kinds: Sequence[str], default_set: str = _SMALL
) -> list[Operation]:
    """Return the operations that options name, each once; those of a set if they name none."""
    operations: list[Operation] = []
    given = _given_fields(options)
    if options.types and not given:
        raise UsageError(
            "--types needs the fields of a problem, such as --problem-m: the problems of sets, "
            "files and programs have types of their own."
        )
    if given:
        operations += _of_fields(given, options.types, kinds)
    for name in options.problem_set:
        operations += [each for each in load_set(name) if each.kind in kinds]
    if options.problems is not None:
        operations += read_problems(options.problems)
    if options.model is not None:
        operations += _of_program(options.model)
    if not (given or options.problem_set or options.problems or options.model):
        operations = [each for each in load_set(default_set) if each.kind in kinds]
    return list(dict.fromkeys(operations))


def names_problems(options: ProblemOptions) -> bool:
    """Whether options name operations or configurations to be generated."""
    return bool(changed_fields(options, ProblemOptions))


def _of_program(path: Path) -> list[Operation]:
    """Return the operations of a program; print what is left out."""
    cut = cut_program(path)
    for reason, count in Counter(cut.left_out).items():
        times = f" ({count} times)" if count > 1 else ""
        print_notice(f"left out of {path.name}: {reason}{times}")
    return list(cut.operations)


def requested_slices(options: ProblemOptions, kinds: str) -> Sequence[int]:
    """Return the slices of sums; those of the dispatch profiler for its kind splitk_matmul."""
    if options.split_k_slices:
        return parse_range(options.split_k_slices)
    return SPLIT_K_SLICES if _has_split_k(kinds) else ()


def default_set(kinds: str) -> str:
    """Return the problem set of kinds for which no operation is named."""
    return "splitk_matmul" if _has_split_k(kinds) else _SMALL


def _has_split_k(kinds: str) -> bool:
    return any(each.strip() in SPLIT_K_ALIASES for each in kinds.split(","))


def _given_fields(options: OperationOptions) -> dict[str, str]:
    """Return the fields of a kind that options give, as text."""
    given = {"m": options.problem_m, "n": options.problem_n, "k": options.problem_k}
    fields = {name: text for name, text in given.items() if text}
    for word in options.problem:
        name, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"--problem: '{word}' has no value: write FIELD=VALUE.")
        fields[name] = text
    return fields


def _of_fields(given: dict[str, str], types: str, kinds: Sequence[str]) -> list[Operation]:
    """Return the operations of the kinds that have the fields."""
    classes = [find_kind(name) for name in kinds]
    if list(kinds) == kind_names():  # those that have all of them, and need no others
        fields = {each: dataclasses.fields(each) for each in classes}
        classes = [
            kind
            for kind, its in fields.items()
            if {each.name for each in its if each.default is dataclasses.MISSING} <= given.keys()
            and given.keys() <= {each.name for each in its}
        ]
    if not classes:
        raise UsageError(
            f"No kind of operation has just the fields {', '.join(given)}: name one with "
            "--operation-kind, and its fields with --problem FIELD=VALUE."
        )
    operations: list[Operation] = []
    for each in classes:
        entry: dict[str, object] = {"kind": each.kind, **_typed(each, given)}
        operations += problem_operations(entry | ({"types": types} if types else {}))
    return operations


def _typed(kind: type[Operation], given: dict[str, str]) -> dict[str, object]:
    """Return fields with the values of tuples parsed: ``128x256``, or words with commas."""
    kinds = {each.name: each.type for each in dataclasses.fields(kind)}
    typed: dict[str, object] = {}
    for name, text in given.items():
        if kinds.get(name) == "tuple[int, ...]":
            typed[name] = [_size(name, each) for each in text.split("x")]
        elif kinds.get(name) == "tuple[str, ...]":
            typed[name] = text.split(",")
        else:
            typed[name] = text
    return typed


def _size(name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"--problem: {name} must be sizes such as 128x256, got '{text}'.")
    return int(text)


def requested_configurations(options: ProblemOptions) -> list[Configuration]:
    """Return the user's own configurations; none for the predefined ones."""
    chosen = [{"pipeline": each} for each in options.pipeline]
    configurations = [
        Configuration("mlir", f"mlir_{parameters_name(each)}", each) for each in chosen
    ]
    if options.configurations is not None:
        configurations += read_configurations(options.configurations)
    return configurations


def dispatch_filter(options: FolderOptions, names: Sequence[str] = ()) -> DispatchFilter:
    """Return the filter of the options, with further names of dispatches."""
    text = options.operation_kind
    kinds = () if text == ALL else requested_kinds(text)
    wanted = ",".join([*names, *([options.dispatches] if options.dispatches else [])])
    return DispatchFilter(kinds, named_providers(options), wanted)


def split_names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [each.strip() for each in text.split(",") if each.strip()]


def requested_providers(options: FolderOptions) -> list[str]:
    """Return the names of ``--provider``; mlir without."""
    return named_providers(options) or _DEFAULT_PROVIDERS


def named_providers(options: FolderOptions) -> list[str]:
    """Return the names of ``--provider``; those of the user's classes are registered."""
    return [provider_name(each) for each in split_names(options.provider)]


@contextmanager
def progress_bar(shown: bool) -> Generator[Report | None]:
    """Yield a callback that shows the progress on stderr, with an estimate of the time left."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(progress: SweepProgress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bar.add_task(progress.stage, words="")
            words = f"{progress.failed} failed" if progress.failed else ""
            bar.update(
                tasks[progress.stage], completed=progress.done, total=progress.total, words=words
            )

        yield report


def provider_settings(options: ProviderOptions, batch_size: int | None = None) -> ProviderSettings:
    return ProviderSettings(options.build_dir, options.device, options.cuda_arch, batch_size)


@contextmanager
def kernels_of(options: CompileLine, settings: SweepSettings) -> Generator[Kernels]:
    """Yield the kernels that options describe; progress, or each command, is shown meanwhile."""
    shows = options.verbose or options.dry_run
    with progress_bar(shown=not shows) as report:
        yield Kernels(
            settings,
            providers=requested_providers(options),
            provider_settings=provider_settings(options, settings.batch_size),
            report=report,
            show=partial(print, flush=True) if shows else None,
            warn=print_notice,
        )


def sweep_settings(options: CompileLine) -> SweepSettings:
    """Return the settings of a sweep, which does what the command has options for."""
    settings = SweepSettings(
        generated_dir=options.generated_dir,
        jobs=options.num_cpu,
        force_compile=options.force_compile,
        dry_run=options.dry_run,
        save_commands=options.save_cmds,
        verify=isinstance(options, VerifyLine),
        profile=isinstance(options, ProfileLine),
        dask=options.dask,
    )
    if isinstance(options, VerifyLine):
        settings = replace(
            settings,
            references=tuple(split_names(options.verification_providers)),
            run_seconds=options.timeout,
            memory=options.memory,
            bisect=options.bisect,
        )
    if isinstance(options, ProfileLine):
        events: Sequence[CountableEvent] = ()
        if options.events:
            names = split_names(options.events)
            events, notes = choose_available(names, "actiondbg kernels count")
            for note in notes:
                print_notice(note)
        settings = replace(
            settings,
            verify=options.verification_enabled and not options.compile_only,
            profile=options.profiling_enabled and not options.compile_only,
            repetitions=options.benchmark_repetitions,
            batch_size=options.batch_size,
            remeasure=options.remeasure,
            events=tuple(events),
        )
    return settings


def generate_requested(options: CompileLine | GenerateLine, kernels: Kernels) -> list[Dispatch]:
    """Generate the dispatches that options name."""
    kinds = requested_kinds(options.operation_kind)
    if options.provider or options.configurations is None:
        check_used(options, requested_providers(options))
    configurations = requested_configurations(options)
    planned = kernels.plan(
        requested_operations(options, kinds, default_set(options.operation_kind)),
        configurations=configurations,
        default=options.default_config,
        split_k=requested_slices(options, options.operation_kind),
    )
    wanted = dispatch_filter(options)
    dispatches = [each for each in planned.dispatches if wanted(each)]
    if not dispatches:
        raise UsageError(_nothing_planned(options, planned))
    is_split = any("split_k_slices" in each.configuration.parameters for each in dispatches)
    if options.split_k_slices and not is_split:
        raise UsageError(
            f"--split-k-slices {options.split_k_slices} is not used: "
            f"{next(iter(planned.obstacles), 'no configuration splits its sums.')}"
        )
    # Predefined ones are chosen to fit.
    own = planned.obstacles if configurations or options.split_k_slices else []
    for obstacle in (*own, *planned.left_out):
        print_notice(f"left out: {obstacle}")
    kernels.write(dispatches)
    return dispatches


def choose_dispatches(options: CompileLine, kernels: Kernels) -> list[Dispatch]:
    """Generate the dispatches that options name; without such options, select generated ones."""
    if names_problems(options):
        return generate_requested(options, kernels)
    dispatches = kernels.select(dispatch_filter(options))
    check_used(options, [each.configuration.provider for each in dispatches])
    return dispatches


def _nothing_planned(options: CompileLine | GenerateLine, planned: PlannedDispatches) -> str:
    if planned.dispatches:
        some = ", ".join(each.name for each in planned.dispatches[:3])
        if not options.dispatches:
            return f"No configuration is of the provider {options.provider}; there are {some}."
        return f"No dispatch matches '{options.dispatches}'; there are {some}."
    if planned.obstacles or planned.left_out:
        return f"No configuration fits: {[*planned.obstacles, *planned.left_out][0]}"
    return "No operation is requested: name sizes, a problem set, a file or a model."


def run_sweep(
    parser: LineParser[LineT], argv: list[str], choose: Callable[[LineT, Kernels], list[Dispatch]]
) -> int:
    """Sweep over dispatches, print the rows and write the files of ``--output``.

    Returns:
        The exit code: 0 if all is right, 1 if a kernel is wrong, 130 after Ctrl-C.
    """
    options = parser.read(argv)
    return _sweep(options, choose)


def _sweep(options: LineT, choose: Callable[[LineT, Kernels], list[Dispatch]]) -> int:
    settings = sweep_settings(options)
    output = _Output(options)
    with kernels_of(options, settings) as kernels:
        with _writing(options.generated_dir):
            dispatches = choose(options, kernels)
        sweep = kernels.sweep(dispatches)
        stopped: KeyboardInterrupt | OSError | None = None
        try:
            sweep.run(dispatches)
        except (KeyboardInterrupt, OSError) as error:  # such as a full disk: rows are printed first
            stopped = error
    rows = [sweep.rows[each.name] for each in dispatches if each.name in sweep.rows]
    if not options.dry_run:
        output.write(rows)
    if isinstance(stopped, OSError):
        with _writing(options.generated_dir):
            raise stopped
    if stopped is not None:
        print_notice(
            f"interrupted after {len(rows)} of {len(dispatches)} dispatches: the same command "
            "continues."
        )
        return 128 + signal.SIGINT
    return FAILED if any(row.is_wrong for row in rows) else 0


@contextmanager
def _writing(folder: Path) -> Generator[None]:
    """Raise a sentence for an OSError in the block: generated kernels could not be written."""
    try:
        yield
    except BrokenPipeError:  # of the standard output
        raise
    except OSError as error:
        raise ActiondbgError(
            f"'{folder}' cannot be written ({error.strerror or error}): make room or name another "
            "--generated-dir; the same command then continues."
        ) from error


class _Output:
    """Rows on the terminal and in files; checked before the sweep, as that may take hours."""

    def __init__(self, options: CompileLine) -> None:
        verified = isinstance(options, VerifyLine)
        self._reports: list[Path] = []
        if isinstance(options, KernelRunLine) and not (options.output or options.dry_run):
            folder = GeneratedFolder(options.generated_dir).path
            folder.mkdir(parents=True, exist_ok=True)
            self._reports = [folder / "report.csv", folder / "report.html"]
        paths = [*(options.output if verified else ()), *self._reports]
        self._files = ReportFiles(paths, append=verified and options.append)
        self._tags = parse_tags(options.tags) if verified else ()
        self._json = verified and options.json
        self._quiet = verified and options.quiet

    def write(self, rows: Sequence[Row]) -> None:
        """Print rows, then write the files: a full disk loses no row."""
        entries = entries_of([replace(row, tags=self._tags) for row in rows])
        if self._json:
            print_result(report_object(entries))
        elif not self._quiet:
            print_result(report_lines(entries, width=terminal_width()))
        self._files.write(entries)
        if self._reports and not (self._json or self._quiet):
            print(f"Report: {', '.join(map(str, self._reports))}")


@subcommand("kernels generate", "[options]", GenerateLine, _GENERATE)
def generate_kernels(parser: LineParser[GenerateLine], argv: list[str]) -> int:
    """Write the MLIR of dispatches: operations, each with configurations."""
    options = parser.read(argv)
    kernels = Kernels(
        SweepSettings(generated_dir=options.generated_dir),
        providers=requested_providers(options),
        provider_settings=provider_settings(options),
    )
    dispatches = generate_requested(options, kernels)
    if options.quiet:
        return 0
    operation = None
    for each in dispatches:  # as the dispatch profiler prints it
        if each.operation != operation:
            operation = each.operation
            print(f"[Generating]: {kernels.folder.source(operation)}")
        print(f"    Emitting tuning configuration : {each.configuration.name}")
    return 0


@subcommand("kernels compile", "[options]", CompileLine, _COMPILE)
def compile_kernels(parser: LineParser[CompileLine], argv: list[str]) -> int:
    """Compile what is generated and not up to date."""
    return run_sweep(parser, argv, choose_dispatches)


@subcommand("kernels verify", "[options]", VerifyLine, _VERIFY)
def verify_kernels(parser: LineParser[VerifyLine], argv: list[str]) -> int:
    """Compare the results of generated kernels with NumPy."""
    return run_sweep(parser, argv, choose_dispatches)


@subcommand("kernels profile", "[options]", ProfileLine, _PROFILE)
def profile_kernels(parser: LineParser[ProfileLine], argv: list[str]) -> int:
    """Measure the times of generated kernels, in turn."""
    return run_sweep(parser, argv, choose_dispatches)


@subcommand("kernels run", "[options]", KernelRunLine, _RUN)
def run_kernels(parser: LineParser[KernelRunLine], argv: list[str]) -> int:
    """Generate, compile, verify and profile kernels."""
    return run_sweep(parser, argv, generate_requested)
