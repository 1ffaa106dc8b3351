"""The bisect command, and its options at the prompt and on the command line."""

from __future__ import annotations

import argparse
import os
import shlex
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from actiondbg.bisection.verdict import Mode
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, fields_of, flag, option
from actiondbg.commands.render.bisection import Bisected, Report, progress_display
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.bisection.oracles.execute import Execute
    from actiondbg.bisection.oracles.oracle import Oracle
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.session.session import Session


def _tolerance(text: str) -> float:
    try:
        tolerance = float(text)
    except ValueError:
        tolerance = -1.0
    if tolerance < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative number")
    return tolerance


BISECTION = Topic("Bisection")
EntryResult = Literal["void", "i32", "i64", "f32"]


class OracleOptions(Options):
    """The oracles, of which one is chosen at most, and the options of ``--execute``."""

    test: str | None = option(
        "CMD",
        help="judge the output, given as {} and on stdin, by a shell command: exit status 0 is "
        "good, 1 to 124 bad, 125 untestable",
    )
    filecheck: str | None = option(
        "FILE",
        help="good if FileCheck accepts the output with the checks of FILE",
        complete=completers.files,
    )
    crash: bool = flag(help="bad if the tool crashes")
    verify: bool = flag(help="bad if the verifier rejects the IR")
    diagnostic: str | None = option(
        "GLOB", help="bad if the tool emits a diagnostic whose text matches"
    )
    execute: bool = flag(
        alias="--compare",
        help="bad if the output, lowered and executed, prints another result than the input",
    )
    validate: bool = flag(
        help="bad if the output does something else than the input, by proof or on chosen inputs"
    )
    # Options of the oracle --execute.
    lower: str | None = option(
        "PIPELINE", help="--execute: the pipeline that lowers both to the LLVM dialect"
    )
    entry: str | None = option("NAME", help="--execute: the entry function (main)")
    entry_result: EntryResult | None = option(
        help="--execute: the result type of the entry function (void)"
    )
    shared_libs: str | None = option(
        "LIB,...", help="--execute: shared libraries for mlir-runner; its own by default"
    )
    tolerance: float | None = option(
        "X",
        help="--execute: the relative or absolute tolerance of numbers (1e-5)",
        parse=_tolerance,
    )
    input: str | None = option(
        "FILE",
        help="--execute and --validate: the input file, if the command line is ambiguous",
        complete=completers.files,
    )


class BisectOptions(OracleOptions):
    """The options of ``bisect``, at the prompt and on the command line."""

    # The search.
    mode: Mode = option(
        default="first",
        help="first: find the first action that turns good to bad; minimize: apply the fewest "
        "that are still bad; skip: skip the fewest that make the output good",
        prefix=True,
    )
    tag: str | None = option("GLOB", help="only actions with this tag", complete=completers.tags)
    name: str | None = option(
        "GLOB",
        help="only patterns, passes or folded operations of this name",
        complete=completers.patterns,
    )
    func: str | None = option("GLOB", help="only actions in this function")
    always: tuple[str, ...] = option(
        "GLOB",
        help="never skip actions of this name, nor actions nested in them",
        complete=completers.passes,
    )
    jobs: int | None = option(
        "-j",
        "--jobs",
        "N",
        help="the number of parallel trials (1; with --dask the number of its threads)",
        parse=values.positive,
    )
    timeout: float | None = option(
        "SECONDS", help="the time limit of a trial, and of the oracle", parse=values.seconds
    )
    max_trials: int | None = option(
        "N",
        help="end the search after N trials, with the best answer so far",
        parse=values.positive,
    )
    max_seconds: float | None = option(
        "SECONDS",
        help="begin no trial after SECONDS; the best answer so far is the result",
        parse=values.seconds,
    )
    repeat: int = option(
        "N",
        default=1,
        help="judge each output N times, and report differing verdicts; repeat a good whole "
        "run with random addresses as often, at least 8 times",
        parse=values.positive,
    )
    no_fork: bool = flag(help="start the tool anew for each trial, if its forks do not work")
    dask: str | None = option("ADDRESS", help="run the trials on a Dask cluster")
    reduce: bool = flag(help="also reduce the input, keeping the culprit")
    output: str | None = option(
        "-o",
        "--output",
        "FOLDER",
        help="the folder of the report and the reproducer (./bisect-TOOL)",
        complete=completers.files,
    )
    resume: bool = flag(help="resume the interrupted bisection of the folder")


_ORACLES = ("test", "filecheck", "crash", "verify", "diagnostic", "execute", "validate")
_EXECUTE_OPTIONS = ("lower", "entry", "entry_result", "shared_libs", "tolerance", "input")


@BISECTION.command(
    "bisect",
    example="bisect --test './judge.sh {}' --jobs 2",
    needs_tool="Bisection",
)
def bisect(console: Console, options: BisectOptions) -> Bisected:
    """Find the action that makes the output bad, by runs of the tool that skip actions; write a
    report and a reproducer to a folder. The session itself is not affected.
    """
    from actiondbg.bisection.api import bisect as find
    from actiondbg.bisection.output_folder import open_folder

    session = console.live_session()
    if options.test is not None:
        console.permissions.check("shell", "--test")
    oracle = build_oracle(options)
    folder = open_folder(output_folder(options), Path(session.target.argv[0]).name, options.resume)
    console.out.flush()
    try:
        with _progress(console) as progress:
            result = find(
                session.target.argv,
                oracle,
                **search_keywords(options),
                output=folder,
                stdin=_stdin_of(session),
                cwd=session.target.directory,
                env=session.target.environment,
                without=session.target.without,
                progress=progress,
            )
    except KeyboardInterrupt:
        if not console.interactive:
            raise
        raise ActiondbgError(interruption_message(folder, "--output")) from None
    return Bisected(result)


def _progress(console: Console) -> AbstractContextManager[Report | None]:
    if console.report_search is not None:
        return nullcontext(console.report_search)
    return progress_display(console.err, quiet=console.json)


def interruption_message(folder: Path, option: str) -> str:
    """Return the message after Ctrl-C; ``option`` is the one that takes the folder."""
    if not folder.exists():
        return "Interrupted before the first verdict."
    quoted = shlex.quote(os.fspath(folder))
    return (
        f"Interrupted. The verdicts so far are in {quoted}: add --resume {option} {quoted} to the "
        "command to continue."
    )


def _stdin_of(session: Session) -> str | os.PathLike[str]:
    """Return the tool's input file; actiondbg's own standard input carries the commands."""
    stdin = session.target.streams.stdin
    return stdin if isinstance(stdin, str | os.PathLike) else os.devnull


class _ExecuteKeywords(TypedDict, total=False):
    lower: str
    entry: str
    entry_result: EntryResult
    shared_libs: tuple[str, ...]
    tolerance: float
    input: Path


class SearchKeywords(TypedDict):
    """The keyword arguments of ``actiondbg.bisect`` that select and control the search."""

    mode: Mode
    tag: str | None
    name: str | None
    func: str | None
    always: tuple[str, ...]
    jobs: int | None
    timeout: float | None
    max_trials: int | None
    max_seconds: float | None
    repeat: int
    no_fork: bool
    resume: bool
    reduce: bool
    dask: str | None


def search_keywords(options: BisectOptions) -> SearchKeywords:
    """Return the options of the search as keyword arguments of ``actiondbg.bisect``."""
    return {
        "mode": options.mode,
        "tag": options.tag,
        "name": options.name,
        "func": options.func,
        "always": options.always,
        "jobs": options.jobs,
        "timeout": options.timeout,
        "max_trials": options.max_trials,
        "max_seconds": options.max_seconds,
        "repeat": options.repeat,
        "no_fork": options.no_fork,
        "resume": options.resume,
        "reduce": options.reduce,
        "dask": options.dask,
    }


def output_folder(options: BisectOptions) -> Path | None:
    """Return the folder given with --output, or None."""
    return None if options.output is None else Path(options.output)


def build_oracle(options: OracleOptions) -> Oracle:
    """Return the oracle that the options select.

    Raises:
        UsageError: no oracle or several are selected.
    """
    given = _given(options, _ORACLES)
    if len(given) != 1:
        names = ", ".join(_option_names(_ORACLES))
        what = f"{' and '.join(given)} were given" if given else "none was given"
        raise UsageError(f"bisect needs one oracle, but {what}: give one of {names}.")
    return _build(options, given[0])


def optional_oracle(options: OracleOptions) -> Oracle | None:
    """Return the oracle that the options select, or None.

    Raises:
        UsageError: several are selected, or an option of one that is not.
    """
    given = _given(options, _ORACLES)
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} exclude each other: give one of them.")
    if given:
        return _build(options, given[0])
    compared = _given(options, _EXECUTE_OPTIONS)
    if compared:
        raise UsageError(f"{compared[0]} is an option of --execute: give that too.")
    return None


def _build(options: OracleOptions, given: str) -> Oracle:
    """Return the oracle of an option."""
    from actiondbg.bisection.oracles.oracle import Command, Crash, Diagnostic, FileCheck, Verify

    if options.execute:
        return _build_execute(options)
    if options.validate:
        return _build_validate(options)
    compared = _given(options, _EXECUTE_OPTIONS)
    if compared:
        raise UsageError(f"{compared[0]} is an option of --execute, but the oracle is {given}.")
    if options.test is not None:
        return Command(options.test)
    if options.filecheck is not None:
        return FileCheck(Path(options.filecheck))
    if options.diagnostic is not None:
        return Diagnostic(options.diagnostic)
    if options.crash:
        return Crash()
    assert options.verify, given
    return Verify()


def _option_names(names: tuple[str, ...]) -> list[str]:
    """Return the command-line names of fields, such as --shared-libs."""
    return [each.option for each in fields_of(OracleOptions) if each.name in names]


def _given(options: OracleOptions, names: tuple[str, ...]) -> list[str]:
    """Return the command-line names of the fields that were given."""
    return [
        each.option
        for each in fields_of(OracleOptions)
        if each.name in names and getattr(options, each.name) not in (None, False)
    ]


def _build_validate(options: OracleOptions) -> Oracle:
    from actiondbg.recording.dependencies import need_packages
    from actiondbg.validation.oracle import Validate

    need_packages("bisect --validate", ("numpy", "ml_dtypes", "bitwuzla"), extra="validate")
    compared = _given(options, tuple(each for each in _EXECUTE_OPTIONS if each != "input"))
    if compared:
        raise UsageError(f"{compared[0]} is an option of --execute, but the oracle is --validate.")
    return Validate(Path(options.input) if options.input else None)


def _build_execute(options: OracleOptions) -> Execute:
    from actiondbg.bisection.oracles.execute import Execute

    given = _ExecuteKeywords()
    if options.lower is not None:
        given["lower"] = options.lower
    if options.entry is not None:
        given["entry"] = options.entry
    if options.entry_result is not None:
        given["entry_result"] = options.entry_result
    if options.shared_libs:
        given["shared_libs"] = tuple(options.shared_libs.split(","))
    if options.tolerance is not None:
        given["tolerance"] = options.tolerance
    if options.input:
        given["input"] = Path(options.input)
    return Execute(**given)
