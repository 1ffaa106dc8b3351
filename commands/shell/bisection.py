"""The command that finds the action to blame, and the options that it has on the command line."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from actiondbg.bisection.verdict import Mode
from actiondbg.commands.cli.bisect_progress import showing_progress
from actiondbg.commands.interpreter.declaration import (
    Argument,
    Arguments,
    arg,
    choice,
    command,
    flag,
    positive,
)
from actiondbg.commands.render.results import Bisected
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.bisection.oracles.compare import Compare
    from actiondbg.bisection.oracles.oracle import Oracle
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.session.session import Session

BISECTION = "Finding the action to blame"


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


# In the order in which help lists them.
ORACLES = (
    arg(
        "--test",
        metavar="CMD",
        help="a command of the shell judges the output, which is {} in it and its standard input: "
        "exit status 0 good, 1 to 124 bad, 125 untestable",
    ),
    arg(
        "--filecheck",
        metavar="FILE",
        help="the output passes the checks of a file, or is bad",
        complete="file",
    ),
    flag("--crash", "bad when the tool crashes"),
    flag("--verify", "bad when the verifier finds the IR broken"),
    arg(
        "--diagnostic",
        metavar="GLOB",
        help="bad when the tool emits a diagnostic whose text matches",
    ),
    flag(
        "--compare",
        "bad when the program prints something else than without the passes: the output and the "
        "input are lowered and executed",
    ),
)
_COMPARE = (
    arg("--lower", metavar="PIPELINE", help="--compare: how both are lowered to the LLVM dialect"),
    arg("--entry", metavar="NAME", help="--compare: the function that is called (main)"),
    arg(
        "--entry-result",
        choices=("void", "i32", "i64", "f32"),
        help="--compare: what it returns (void)",
        words=("void", "i32", "i64", "f32"),
    ),
    arg(
        "--shared-libs",
        metavar="LIB,...",
        help="--compare: libraries of mlir-runner; its own if none are named",
    ),
    arg(
        "--tolerance",
        type=_tolerance,
        metavar="X",
        help="--compare: numbers are equal within this, relative or absolute (1e-5)",
    ),
    arg(
        "--input",
        metavar="FILE",
        help="--compare: the input, if it cannot be told from the command line",
        complete="file",
    ),
)
_SEARCH = (
    choice(
        "--mode",
        get_args(Mode),
        "first: the first action that turns good to bad; minimize: the fewest applied that are "
        "still bad; skip: the fewest skipped that make it good",
        default="first",
    ),
    arg("--tag", metavar="GLOB", help="only actions of this tag", complete="tag"),
    arg(
        "--name",
        metavar="GLOB",
        help="only patterns or passes of this name, or folds of this operation",
        complete="pattern",
    ),
    arg("--func", metavar="GLOB", help="only what is in this function"),
    arg(
        "--always",
        metavar="GLOB",
        action="append",
        default=[],
        help="never skip what has this name, nor anything in such a pass",
        complete="pass",
    ),
    arg(
        "--jobs",
        short="-j",
        type=positive,
        metavar="N",
        help="how many trials run at a time (1; with --dask as many as its workers can)",
    ),
    arg("--timeout", type=_seconds, metavar="SECONDS", help="for a trial, and for the oracle"),
    arg(
        "--repeat",
        type=positive,
        default=1,
        metavar="N",
        help="judge each output so often; verdicts that differ are told",
    ),
    arg("--dask", metavar="ADDRESS", help="give the trials to a Dask cluster"),
    flag("--reduce", "make the input small, too, with the same action to blame"),
    arg(
        "--output",
        short="-o",
        metavar="FOLDER",
        help="for the report and the reproducer (./bisect-TOOL)",
        complete="file",
    ),
    flag("--resume", "go on with what the interrupted bisection in the folder knows"),
)
OPTIONS: tuple[Argument, ...] = (*ORACLES, *_COMPARE, *_SEARCH)


@command(
    "bisect",
    BISECTION,
    "Run the tool again and again with some actions skipped, and find the one that makes its "
    "output bad; a report and a reproducer are written into a folder. The session stays where it "
    "is.",
    "bisect --test './judge.sh {}' --jobs 2",
    *OPTIONS,
    needs_tool="nothing can be run again in it",
)
def bisect(front: Front, args: Arguments) -> Any:
    from actiondbg.bisection.api import bisect as find
    from actiondbg.bisection.folder import open_folder

    session = front.tool()
    oracle = oracle_of(args)
    folder = open_folder(folder_of(args), Path(session.argv[0]).name, args.resume)
    front.out.flush()
    try:
        with showing_progress(front.err, quiet=front.json) as progress:
            result = find(
                session.argv,
                oracle,
                **keywords_of(args),
                output=folder,
                stdin=_stdin_of(session),
                cwd=session.program.cwd,
                env=session.program.env,
                mlir_include=session.program.mlir_include,
                progress=progress,
            )
    except KeyboardInterrupt:
        if not front.interactive:
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
    stdin = session.streams.stdin
    return stdin if isinstance(stdin, str | os.PathLike) else os.devnull


def keywords_of(args: Arguments) -> dict[str, Any]:
    """Return the options of the search, as ``actiondbg.bisect`` takes them."""
    names = ("mode", "tag", "name", "func", "always", "jobs", "timeout", "repeat")
    return {name: getattr(args, name) for name in (*names, "resume", "reduce", "dask")}


def folder_of(args: Arguments) -> Path | None:
    """Return the folder that was named, or None."""
    return None if args.output is None else Path(args.output)


def oracle_of(args: Arguments) -> Oracle:
    """Return the oracle that the options name.

    Raises:
        UsageError: they name none, or several.
    """
    from actiondbg.bisection.oracles.oracle import Command, Crash, Diagnostic, FileCheck, Verify

    given = [option.name for option in ORACLES if _value(args, option) not in (None, False)]
    if len(given) != 1:
        names = ", ".join(option.name for option in ORACLES)
        what = f"{' and '.join(given)} are given" if given else "no oracle is given"
        raise UsageError(f"bisect needs one oracle, and {what}: name one of {names}.")
    compared = [option.name for option in _COMPARE if _value(args, option) is not None]
    if given[0] == "--compare":
        return _compare(args)
    if compared:
        raise UsageError(f"{compared[0]} is of --compare, and the oracle is {given[0]}.")
    if given[0] == "--test":
        return Command(args.test)
    if given[0] == "--filecheck":
        return FileCheck(Path(args.filecheck))
    if given[0] == "--diagnostic":
        return Diagnostic(args.diagnostic)
    return Crash() if given[0] == "--crash" else Verify()


def _compare(args: Arguments) -> Compare:
    from actiondbg.bisection.oracles.compare import Compare

    given: dict[str, Any] = {
        "lower": args.lower,
        "entry": args.entry,
        "entry_result": args.entry_result,
        "shared_libs": tuple(args.shared_libs.split(",")) if args.shared_libs else None,
        "tolerance": args.tolerance,
        "input": Path(args.input) if args.input else None,
    }
    return Compare(**{name: value for name, value in given.items() if value is not None})


def _value(args: Arguments, option: Argument) -> Any:
    return getattr(args, option.name.lstrip("-").replace("-", "_"))
