"""``actiondbg.bisect``: find the action that breaks a program."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec

from actiondbg.bisection.bisection import MakePool, Work, spool
from actiondbg.bisection.command_line import look_at
from actiondbg.bisection.filters import choose
from actiondbg.bisection.folder import close_folder, open_folder, tidy_folder
from actiondbg.bisection.oracles.oracle import Oracle, Predicate, make_oracle
from actiondbg.bisection.progress import Meter, Progress
from actiondbg.bisection.reduction.reduction import reduce_input
from actiondbg.bisection.reproducer.reproducer import write_reproducer
from actiondbg.bisection.request import Request
from actiondbg.bisection.result import Result
from actiondbg.bisection.state import STATE, State
from actiondbg.bisection.verdict import Mode
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.support.scratch_directory import make_directory, remove_directory

_REDUCTION = 1200.0  # seconds after which an input is small enough
_SHORTEST = 5.0  # seconds that a trial of it may take at least
_TIMES = 10.0  # or as many times what one of the first bisection took


def bisect(
    argv: Sequence[str],
    oracle: Oracle | Predicate | str,
    *,
    mode: Mode = "first",
    tag: str | None = None,
    name: str | None = None,
    func: str | None = None,
    always: Sequence[str] = (),
    jobs: int | None = None,
    timeout: float | None = None,
    repeat: int = 1,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    reduce: bool = False,
    dask: str | None = None,
    stdin: str | os.PathLike[str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    mlir_include: str | os.PathLike[str] | None = None,
    on_compile: Callable[[], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Find the action that breaks a program.

    Args:
        argv: the tool's command line, such as ``["mlir-opt", "in.mlir", "--canonicalize"]``. Its
            ``-o`` file is not written.
        oracle: judges the tool's output: a function of the output's path that returns True if it
            is good, or a verdict; a command of the shell, as ``--test`` takes it; or an ``Oracle``.
        mode: "first": the first action that turns good to bad; "minimize": the smallest set of
            applied actions that is still bad; "skip": the smallest set of skips that makes it good.
        tag: a glob of the candidates' tag; None for all.
        name: a glob of the pattern, of the pass, or of the operation that is folded.
        func: a glob of the symbol that holds the operation.
        always: globs of names that must not be skipped.
        jobs: how many trials run at a time, from 1; None for 1, or with ``dask`` for as many as
            its workers can. A function that is the oracle is called from as many threads.
        timeout: seconds for a trial and for a command of the oracle; None for no limit of ours but
            one for trials, far above what the whole run takes.
        repeat: how often each output is judged; if the verdicts differ, the result is "flaky".
        output: the folder for the report and the reproducer, and for what is known until then;
            None for none.
        resume: go on with what is known in ``output``.
        reduce: make the input small, with the guilty action still to blame.
        dask: the address of a Dask scheduler, whose workers make the trials.
        stdin: what the tool reads on its standard input; None for ours, if it reads it.
        cwd: where the tool and the oracle run; None for here.
        env: the tool's environment; None for ours.
        mlir_include: the tool's MLIR headers, when they are not found by themselves.
        on_compile: called when the agent is compiled, which takes some seconds, once.
        progress: called with each step.

    Returns:
        What was found, or why nothing was.

    Raises:
        UsageError: an argument is wrong, or it cannot be resumed.
        LaunchError: the tool could not be started, or the agent not be put into it.
        OracleError: the oracle cannot judge.
        ToolGone: the tool does not do the same in every run.
    """
    _check(mode, jobs, repeat, timeout)
    private = make_directory()
    try:
        request = Request(
            argv=list(argv),
            oracle=make_oracle(oracle),
            choice=choose(tag, name, func, always),
            mode=mode,
            jobs=jobs,
            seconds=timeout,
            repeat=repeat,
            stdin=_stdin(list(argv), stdin, cwd, private),
            cwd=Path(cwd) if cwd is not None else None,
            env=env,
            mlir_include=Path(mlir_include) if mlir_include is not None else None,
            on_compile=on_compile,
        )
        folder = None
        if output is not None:
            folder = open_folder(Path(output), Path(request.argv[0]).name, resume)
        return _bisect(request, Meter(progress), folder, resume, reduce, dask, private)
    finally:
        remove_directory(private)
        if output is not None:
            tidy_folder(Path(output))


def _bisect(
    request: Request,
    meter: Meter,
    folder: Path | None,
    resume: bool,
    reduce: bool,
    dask: str | None,
    private: Path,
) -> Result:
    state = State(folder / STATE if folder else None, request.identity(), resume)
    if state.resumed:
        meter.note(f"{state.resumed} verdicts are known from before.")
    with Work(request, meter, _pool_of(dask)) as work:
        result = work.find(state)
        if not (reduce and result.found):
            return _reported(work, result, folder, state, meter)
    smaller = _reduced(request, result, meter, private)
    with Work(smaller, meter, _pool_of(dask)) as work:
        return _reported(work, work.find(State(None, {})), folder, state, meter)


def _reported(
    work: Work, result: Result, folder: Path | None, state: State, meter: Meter
) -> Result:
    """Write the folder, if there is to be one and something was found."""
    if folder is None:
        return result
    close_folder(folder)
    if not result.found:
        return result
    meter.phase("the report", 0)
    try:
        made = write_reproducer(
            result,
            work.request.oracle,
            folder,
            work.trials,
            work.around,
            work.tool,
            environment=work.request.env,
        )
    except BaseException:
        state.keep()  # all but the report is known
        raise
    return msgspec.structs.replace(
        result,
        reproducer=str(made.folder),
        reproducer_verified=made.verified,
        notes=[*result.notes, *made.notes],
        seconds=meter.seconds,
    )


def _reduced(request: Request, result: Result, meter: Meter, private: Path) -> Request:
    """Make the input small; return what is to be found in the smallest."""
    source = request.source()
    if source is None:
        raise UsageError("Which file is the input cannot be told, so it cannot be made small.")
    guilty = result.guilty
    wanted = (guilty.tag, guilty.name) if guilty else None
    # A smaller program may loop for ever.
    seconds = max(_SHORTEST, _TIMES * meter.seconds / max(meter.trials, 1))
    bounded = replace(request, seconds=min(request.seconds or seconds, seconds))
    meter.phase("the reduction")

    def is_interesting(path: Path) -> bool:
        quiet = Meter(None)
        try:
            with Work(_with_source(bounded, path), quiet) as work:
                found = work.find(State(None, {})).guilty
        except ActiondbgError:  # such as of a program that prints something else in each run
            return False
        finally:
            meter.trials += quiet.trials
        return found is not None and (found.tag, found.name) == wanted

    reduced = reduce_input(
        (request.cwd or Path.cwd()) / source,
        is_interesting,
        lambda text: meter.phase(f"the reduction: {text}"),
        directory=private,
        seconds=_REDUCTION,
    )
    ended = {"interrupt": ", and was interrupted", "time": ", and took too long"}
    meter.note(
        f"The input was reduced from {reduced.before} to {reduced.after} {reduced.unit}, in "
        f"{reduced.trials} attempts{ended.get(reduced.ended, '')}."
    )
    return _with_source(request, reduced.path)


def _with_source(request: Request, path: Path) -> Request:
    line = request.line()
    if line.reads_stdin:
        return replace(request, stdin=path)
    return replace(request, argv=line.with_input(path))


def _stdin(
    argv: list[str],
    given: str | os.PathLike[str] | None,
    cwd: str | os.PathLike[str] | None,
    private: Path,
) -> Path | None:
    """Return the file that the tool reads as its standard input; ours is kept in one."""
    if given is not None:
        return Path(given).absolute()
    reads = look_at(argv, Path(cwd) if cwd is not None else None).reads_stdin
    if not reads or sys.__stdin__ is None or sys.__stdin__.isatty():
        return None
    file = private / "stdin"
    spool(sys.__stdin__.fileno(), file)
    return file


def _pool_of(dask: str | None) -> MakePool | None:
    if dask is None:
        return None
    from actiondbg.bisection.trials.cluster import make_pool

    return functools.partial(make_pool, dask)


def _check(mode: str, jobs: int | None, repeat: int, timeout: float | None) -> None:
    if mode not in get_args(Mode):
        raise UsageError(f"The mode {mode!r} is none of {', '.join(get_args(Mode))}.")
    for word, number in (("jobs", jobs), ("repeat", repeat)):
        if number is not None and number < 1:
            raise UsageError(f"{word} is {number}, and has to be at least 1.")
    if timeout is not None and timeout <= 0:
        raise UsageError(f"The timeout is {timeout:g} s, and has to be more than 0.")
