"""The command that finds the culprit, and the options that it has on the command line."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from actiondbg.bisection.verdict import Mode
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Flag, Option, Options, fields_of
from actiondbg.commands.render.bisection import Bisected, showing_progress
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.bisection.oracles.compare import Compare
    from actiondbg.bisection.oracles.oracle import Oracle
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.session.session import Session


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _tolerance(text: str) -> float:
    try:
        tolerance = float(text)
    except ValueError:
        tolerance = -1.0
    if tolerance < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return tolerance


BISECTION = Topic("Finding the action to blame")
EntryResult = Literal["void", "i32", "i64", "f32"]


class BisectOptions(Options):
    """The options of ``bisect``, at the prompt and on the command line."""

    # Oracles: one of them is needed.
    test: Annotated[
        str | None,
        Option(
            "--test",
            "CMD",
            help="a command of the shell judges the output, which is {} in it and its standard "
            "input: exit status 0 good, 1 to 124 bad, 125 untestable",
        ),
    ] = None
    filecheck: Annotated[
        str | None,
        Option(
            "--filecheck",
            "FILE",
            help="the output passes the checks of a file, or is bad",
            complete=completers.files,
        ),
    ] = None
    crash: Annotated[bool, Flag("--crash", help="bad when the tool crashes")] = False
    verify: Annotated[bool, Flag("--verify", help="bad when the verifier finds the IR broken")] = (
        False
    )
    diagnostic: Annotated[
        str | None,
        Option(
            "--diagnostic",
            "GLOB",
            help="bad when the tool emits a diagnostic whose text matches",
        ),
    ] = None
    compare: Annotated[
        bool,
        Flag(
            "--compare",
            help="bad when the program prints something else than without the passes: the output "
            "and the input are lowered and executed",
        ),
    ] = False
    # Of the oracle --compare.
    lower: Annotated[
        str | None,
        Option(
            "--lower",
            "PIPELINE",
            help="--compare: how both are lowered to the LLVM dialect",
        ),
    ] = None
    entry: Annotated[
        str | None,
        Option("--entry", "NAME", help="--compare: the function that is called (main)"),
    ] = None
    entry_result: Annotated[
        EntryResult | None, Option("--entry-result", help="--compare: what it returns (void)")
    ] = None
    shared_libs: Annotated[
        str | None,
        Option(
            "--shared-libs",
            "LIB,...",
            help="--compare: libraries of mlir-runner; its own if none are named",
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        Option(
            "--tolerance",
            "X",
            help="--compare: numbers are equal within this, relative or absolute (1e-5)",
            parse=_tolerance,
        ),
    ] = None
    input: Annotated[
        str | None,
        Option(
            "--input",
            "FILE",
            help="--compare: the input, if it cannot be told from the command line",
            complete=completers.files,
        ),
    ] = None
    # The search.
    mode: Annotated[
        Mode,
        Option(
            "--mode",
            help="first: the first action that turns good to bad; minimize: the fewest applied "
            "that are still bad; skip: the fewest skipped that make it good",
            prefix=True,
        ),
    ] = "first"
    tag: Annotated[
        str | None,
        Option("--tag", "GLOB", help="only actions of this tag", complete=completers.tags),
    ] = None
    name: Annotated[
        str | None,
        Option(
            "--name",
            "GLOB",
            help="only patterns or passes of this name, or folds of this operation",
            complete=completers.patterns,
        ),
    ] = None
    func: Annotated[str | None, Option("--func", "GLOB", help="only what is in this function")] = (
        None
    )
    always: Annotated[
        tuple[str, ...],
        Option(
            "--always",
            "GLOB",
            help="never skip what has this name, nor anything in such a pass",
            complete=completers.passes,
        ),
    ] = ()
    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            "N",
            help="how many trials run at a time (1; with --dask as many as its workers can)",
            short="-j",
            parse=values.positive,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        Option("--timeout", "SECONDS", help="for a trial, and for the oracle", parse=_seconds),
    ] = None
    repeat: Annotated[
        int,
        Option(
            "--repeat",
            "N",
            help="judge each output so often; verdicts that differ are told",
            parse=values.positive,
        ),
    ] = 1
    dask: Annotated[
        str | None, Option("--dask", "ADDRESS", help="give the trials to a Dask cluster")
    ] = None
    reduce: Annotated[
        bool, Flag("--reduce", help="make the input small, too, with the same action to blame")
    ] = False
    output: Annotated[
        str | None,
        Option(
            "--output",
            "FOLDER",
            help="for the report and the reproducer (./bisect-TOOL)",
            short="-o",
            complete=completers.files,
        ),
    ] = None
    resume: Annotated[
        bool,
        Flag("--resume", help="go on with what the interrupted bisection in the folder knows"),
    ] = False


_ORACLES = ("test", "filecheck", "crash", "verify", "diagnostic", "compare")
_OF_COMPARE = ("lower", "entry", "entry_result", "shared_libs", "tolerance", "input")


@BISECTION.command(
    "bisect",
    example="bisect --test './judge.sh {}' --jobs 2",
    needs_tool="Bisection",
)
def bisect(console: Console, options: BisectOptions) -> Bisected:
    """Run the tool again and again with some actions skipped, and find the one that makes its
    output bad; a report and a reproducer are written into a folder. The session stays where it is.
    """
    from actiondbg.bisection.api import bisect as find
    from actiondbg.bisection.output_folder import open_folder

    session = console.tool()
    oracle = oracle_of(options)
    folder = open_folder(folder_of(options), Path(session.target.argv[0]).name, options.resume)
    console.out.flush()
    try:
        with showing_progress(console.err, quiet=console.json) as progress:
            result = find(
                session.target.argv,
                oracle,
                **search_of(options),
                output=folder,
                stdin=_stdin_of(session),
                cwd=session.target.directory,
                env=session.target.environment,
                mlir_include=session.target.mlir_include,
                progress=progress,
            )
    except KeyboardInterrupt:
        if not console.interactive:
            raise
        raise ActiondbgError(interrupted(folder, "--output")) from None
    return Bisected(result)


def interrupted(folder: Path, option: str) -> str:
    """Return what is said after Ctrl-C; ``option`` names the folder."""
    if not folder.exists():
        return "Interrupted, before anything was known."
    quoted = shlex.quote(os.fspath(folder))
    return (
        f"Interrupted. What is known is kept in {quoted}: the same command with --resume "
        f"{option} {quoted} goes on from it."
    )


def _stdin_of(session: Session) -> str | os.PathLike[str]:
    """Return the file that the tool reads; our own standard input has the commands."""
    stdin = session.target.streams.stdin
    return stdin if isinstance(stdin, str | os.PathLike) else os.devnull


class _CompareKeywords(TypedDict, total=False):
    lower: str
    entry: str
    entry_result: EntryResult
    shared_libs: tuple[str, ...]
    tolerance: float
    input: Path


class SearchKeywords(TypedDict):
    """The keyword arguments of ``actiondbg.bisect`` that options give."""

    mode: Mode
    tag: str | None
    name: str | None
    func: str | None
    always: tuple[str, ...]
    jobs: int | None
    timeout: float | None
    repeat: int
    resume: bool
    reduce: bool
    dask: str | None


def search_of(options: BisectOptions) -> SearchKeywords:
    """Return the options of the search, as ``actiondbg.bisect`` takes them."""
    return {
        "mode": options.mode,
        "tag": options.tag,
        "name": options.name,
        "func": options.func,
        "always": options.always,
        "jobs": options.jobs,
        "timeout": options.timeout,
        "repeat": options.repeat,
        "resume": options.resume,
        "reduce": options.reduce,
        "dask": options.dask,
    }


def folder_of(options: BisectOptions) -> Path | None:
    """Return the folder that was named, or None."""
    return None if options.output is None else Path(options.output)


def oracle_of(options: BisectOptions) -> Oracle:
    """Return the oracle that the options name.

    Raises:
        UsageError: they name none, or several.
    """
    from actiondbg.bisection.oracles.oracle import Command, Crash, Diagnostic, FileCheck, Verify

    given = _given(options, _ORACLES)
    if len(given) != 1:
        names = ", ".join(_written(_ORACLES))
        what = f"{' and '.join(given)} are given" if given else "no oracle is given"
        raise UsageError(f"bisect needs one oracle, and {what}: name one of {names}.")
    if options.compare:
        return _compare(options)
    compared = _given(options, _OF_COMPARE)
    if compared:
        raise UsageError(f"{compared[0]} is of --compare, and the oracle is {given[0]}.")
    if options.test is not None:
        return Command(options.test)
    if options.filecheck is not None:
        return FileCheck(Path(options.filecheck))
    if options.diagnostic is not None:
        return Diagnostic(options.diagnostic)
    return Crash() if options.crash else Verify()


def _written(names: tuple[str, ...]) -> list[str]:
    """Return options as they are written, such as --shared-libs."""
    return [each.option for each in fields_of(BisectOptions) if each.name in names]


def _given(options: BisectOptions, names: tuple[str, ...]) -> list[str]:
    """Return those of some options that are given."""
    return [
        each.option
        for each in fields_of(BisectOptions)
        if each.name in names and getattr(options, each.name) not in (None, False)
    ]


def _compare(options: BisectOptions) -> Compare:
    from actiondbg.bisection.oracles.compare import Compare

    given = _CompareKeywords()
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
    return Compare(**given)
