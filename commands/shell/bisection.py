"""The bisect command, and its options at the prompt and on the command line."""

from __future__ import annotations

import os
import shlex
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.bisection.verdict import Mode
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import flag, option
from actiondbg.commands.interpreter.oracle_options import OracleOptions, build_oracle
from actiondbg.commands.render.bisection import Bisected, Report, progress_display
from actiondbg.errors import ActiondbgError

if TYPE_CHECKING:
    from actiondbg.bisection.result import Result
    from actiondbg.commands.interpreter.console import Console


BISECTION = Topic("Bisection")


class BisectOptions(OracleOptions):
    """The options of ``bisect``, at the prompt and on the command line.

    Those of the search are arguments of ``actiondbg.bisect`` with the same names.
    """

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
    filter: tuple[str, ...] = option(
        "SPEC",
        help="only actions that match a SPEC [if EXPR] of 'break'; repeatable: any of them",
        complete=completers.spec,
    )
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
    output: Path | None = option(
        "-o",
        "--output",
        "FOLDER",
        help="the folder of the report and the reproducer (./bisect-TOOL)",
        complete=completers.files,
    )
    resume: bool = flag(help="resume the interrupted bisection of the folder")


@BISECTION.command(
    "bisect",
    example="bisect --test './judge.sh {}' --jobs 2",
    needs_tool="Bisection",
)
def bisect(console: Console, options: BisectOptions) -> Bisected:
    """Find the action that makes the output bad, by runs of the tool that skip actions; write a
    report and a reproducer to a folder. The session itself is not affected.
    """
    from actiondbg.bisection.api import opened_folder

    session = console.live_session()
    oracle = build_oracle(options, console.permissions)
    search = prepared_search(options)
    console.out.flush()
    shown: AbstractContextManager[Report | None] = progress_display(console.err, quiet=console.json)
    if console.report_search is not None:
        shown = nullcontext(console.report_search)
    # Its own standard input carries the commands.
    stdin = session.target.streams.stdin
    tool = session.target.argv
    with opened_folder(options.output, Path(tool[0]).name, options.resume) as folder:
        try:
            with shown as progress:
                result = search(
                    tool,
                    oracle,
                    output=folder,
                    stdin=stdin if isinstance(stdin, str | os.PathLike) else os.devnull,
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


def interruption_message(folder: Path, option: str) -> str:
    """Return the message after Ctrl-C; ``option`` is the one that takes the folder."""
    from actiondbg.bisection.folder import FolderFile
    from actiondbg.bisection.verdict_store import has_verdicts

    state = folder / FolderFile.STATE
    if not (state.is_file() and has_verdicts(state)):
        return "Interrupted before the first verdict."
    quoted = shlex.quote(os.fspath(folder))
    return (
        f"Interrupted. The verdicts so far are in {quoted}: add --resume {option} {quoted} to the "
        "command to continue."
    )


def prepared_search(options: BisectOptions) -> partial[Result]:
    """Return ``actiondbg.bisect`` with the arguments that select and control the search.

    Raises:
        UsageError: the choice of candidates has a syntax error.
    """
    from actiondbg.bisection.api import bisect
    from actiondbg.bisection.candidates import make_filter

    make_filter(options.tag, options.name, options.func, options.always, options.filter)
    names = [name for name in BisectOptions.__annotations__ if name != "output"]
    return partial(bisect, **{name: getattr(options, name) for name in names})
