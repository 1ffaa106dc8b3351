"""``actiondbg.bisect``: find the action that breaks a program; and the folder of its results."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import get_args

import msgspec

from actiondbg.bisection.bisection import Bisection, MakePool
from actiondbg.bisection.candidates import make_filter
from actiondbg.bisection.cluster import make_dask_pool
from actiondbg.bisection.folder import FolderFile, input_name
from actiondbg.bisection.oracles import Oracle, Predicate, make_oracle
from actiondbg.bisection.progress import Progress, ProgressReporter, SearchLimit
from actiondbg.bisection.reduction import reduce_input
from actiondbg.bisection.report.content import Report, ToolFacts, read_text
from actiondbg.bisection.report.html import html_report
from actiondbg.bisection.report.markdown import markdown_report
from actiondbg.bisection.reproducer.reproducer import Reproducer, ReproducerWriter
from actiondbg.bisection.result import Result
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.verdict import Mode
from actiondbg.bisection.verdict_store import VerdictStore, has_verdicts
from actiondbg.errors import ActiondbgError, FileNotWritten, UsageError
from actiondbg.support.atomic_write import make_free_folder, replaced_directory
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import undisturbed
from actiondbg.support.scratch_directory import make_directory, remove_directory
from actiondbg.tool.command_line import copy_stdin, inspect_command_line
from actiondbg.tool.program import command_words


@undisturbed
def open_folder(output: Path | None, tool: str, resume: bool) -> Path:
    """Choose and create the folder; it must be empty or not exist, unless it is resumed.

    Args:
        output: the folder; None for ``bisect-TOOL`` here, with a number if that exists.
        tool: the name of the tool.
        resume: choose the folder of an earlier bisection instead: ``output``, or the newest.

    Raises:
        UsageError: the folder is not empty, or there is nothing to resume.
        FileNotWritten: the folder cannot be created.
    """
    if resume:
        return output if output is not None else _newest(tool)
    if output is None:
        return _made(make_free_folder, Path(f"bisect-{tool}"))
    if output.is_dir() and any(output.iterdir()):
        way = "--resume to continue it, or another --output"
        if not (output / FolderFile.STATE).is_file():
            way = "another --output"
        raise UsageError(f"The folder {str(output)!r} is not empty: use {way}.")
    return _made(_make, output)


@contextlib.contextmanager
def opened_folder(output: Path | None, tool: str, resume: bool) -> Generator[Path]:
    """Yield the folder of ``open_folder``; what a bisection made is removed if it stays empty."""
    is_made = not _is_of_user(output)
    folder = open_folder(output, tool, resume)
    try:
        yield folder
    finally:
        if is_made:
            remove_if_empty(folder)


def _is_of_user(folder: Path | None) -> bool:
    """Whether a folder is there that no bisection has made."""
    return folder is not None and folder.exists() and not (folder / FolderFile.STATE).is_file()


def remove_state(folder: Path) -> None:
    """Remove the state file, because the bisection has ended."""
    (folder / FolderFile.STATE).unlink(missing_ok=True)


def remove_if_empty(folder: Path) -> None:
    """Remove a state file without verdicts, and the folder if it is empty."""
    if (folder / FolderFile.STATE).is_file() and not has_verdicts(folder / FolderFile.STATE):
        (folder / FolderFile.STATE).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def write_folder(
    folder: Path, bisection: Bisection, result: Result, verdicts: VerdictStore
) -> Reproducer:
    """Write the report and the reproducer.

    Args:
        folder: replaced as a whole, if it is empty or was written by this function.
        bisection: whose run the ordinals of the culprit's stack belong to.
        result: of the bisection; with a culprit.
        verdicts: on the outputs of the trials.

    Raises:
        UsageError: the result has no culprit.
        FileNotWritten: the folder cannot be written, or has other contents.
    """
    culprit, task = result.culprit, bisection.task
    if culprit is None:
        raise UsageError("The bisection found no culprit, so there is nothing to reproduce.")
    with replaced_directory(folder, FolderFile.MARKDOWN) as making:
        try:
            reproducer = ReproducerWriter(
                result,
                culprit,
                task.oracle,
                making,
                bisection.frozen_tool,
                bisection.setup,
                bisection.tool,
                task.env,
                verdicts,
                task.jobs or 1,
            ).write()
            report = _report(making, reproducer, bisection)
            _write(making / FolderFile.MARKDOWN, markdown_report(report))
            _write(making / FolderFile.HTML, html_report(report))
        except OSError as error:
            raise FileNotWritten(
                f"The report in {str(folder)!r} cannot be written ({error.strerror}): free disk "
                f"space there and in {gettempdir()!r}, and use --resume."
            ) from error
    return reproducer


def _report(folder: Path, reproducer: Reproducer, bisection: Bisection) -> Report:
    tool, oracle = bisection.tool, bisection.task.oracle
    texts = (
        read_text(folder, name, title, name in reproducer.generic)
        for name, title in reproducer.ir.items()
    )
    reports = [
        (FolderFile.MARKDOWN, "this report, to paste into an issue"),
        (FolderFile.HTML, "the same, with colours"),
    ]
    return Report(
        reproducer=replace(reproducer, files=[*reports, *reproducer.files]),
        tool=ToolFacts(tool.path.name, tool.llvm() or "unknown", tool.build_id, tool.assertions()),
        oracle=oracle.as_option(),
        symptom=oracle.symptom,
        texts=[text for text in texts if text is not None],
    )


def _write(file: Path, text: str) -> None:
    # A file name on the command line may hold any bytes.
    file.write_text(text, encoding="utf-8", errors="surrogateescape")


def _made(make: Callable[[Path], Path], folder: Path) -> Path:
    try:
        return make(folder)
    except OSError as error:
        raise FileNotWritten(
            f"The folder {str(folder)!r} cannot be created ({error.strerror}): name another with "
            "--output."
        ) from error


def _make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _newest(tool: str) -> Path:
    states = [
        *Path().glob(f"bisect-{tool}/{FolderFile.STATE}"),
        *Path().glob(f"bisect-{tool}-*/{FolderFile.STATE}"),
    ]
    if not states:
        raise UsageError(
            f"There is no bisection of {tool} to resume here: name its folder with --output, or "
            "leave --resume out."
        )
    return max(states, key=lambda file: file.stat().st_mtime).parent


# --- bisect ---


_REDUCTION_SECONDS = 1200.0
# The time limit of a trial of the reduction, at least: the larger of these.
_LEAST_SECONDS = 5.0
_TIMES_MEAN_TRIAL = 10.0


def bisect(
    argv: Sequence[str],
    oracle: Oracle | Predicate | str,
    *,
    mode: Mode = "first",
    tag: str | None = None,
    name: str | None = None,
    func: str | None = None,
    filter: Sequence[str] = (),
    always: Sequence[str] = (),
    jobs: int | None = None,
    timeout: float | None = None,
    max_trials: int | None = None,
    max_seconds: float | None = None,
    repeat: int = 1,
    no_fork: bool = False,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    reduce: bool = False,
    dask: str | None = None,
    stdin: str | os.PathLike[str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    without: Sequence[str] = (),
) -> Result:
    """Find the action that breaks a program.

    Args:
        argv: the tool's command line, such as ``["mlir-opt", "in.mlir", "--canonicalize"]``. The
            file of its ``-o`` is not written.
        oracle: judges the tool's output: a function of the output's path that returns a verdict,
            or True for good; a command of the shell, as for ``--test``; or an ``Oracle``.
        mode: "first": the first action that turns good to bad; "minimize": the smallest set of
            applied actions whose output is bad; "skip": the smallest set of skips whose output is
            good.
        tag: a glob of the candidates' tag; None for all.
        name: a glob of the pattern, of the pass, or of the operation that is folded.
        func: a glob of the symbol that contains the operation.
        filter: the candidates as ``SPEC [if EXPR]``, of which they match any; none for all. A
            SPEC is as of a breakpoint, without ordinals and ids, which differ in runs that skip
            actions.
        always: globs of names that are never skipped.
        jobs: how many trials run at a time, from 1; None for 1, or with ``dask`` for as many as
            its workers have threads. A function as the oracle is called from as many threads.
        timeout: the time limit of a trial and of a command of the oracle, in seconds. None: no
            limit for commands, and for trials 10 times the processor time of the whole run, at
            least 5 s, and 20 times its duration, at least a minute.
        max_trials: how many trials the search may make; None for any number. The best answer so far
            is the result then: a range, or a set that may not be the smallest.
        max_seconds: how long the search may take before its last trial begins; None for any time.
        repeat: how often each output is judged; if the verdicts differ, the result is "flaky". A
            whole run that is good is repeated as often with random addresses, at least 8 times.
        no_fork: start the tool anew for each trial instead of forking it: for a tool whose forks
            do not work. Without the capability "fork" it is done anyway.
        output: the folder for the report and the reproducer, and for the state file until then;
            None for no folder.
        resume: continue the bisection whose state file is in ``output``.
        reduce: reduce the input, as long as the culprit has the same tag and name.
        dask: the address of a Dask scheduler, whose workers run the trials.
        stdin: the file on the tool's standard input; None for this process's, if the tool reads it.
        cwd: the working directory of the tool and the oracle; None for this process's.
        env: the tool's environment; None for this process's.
        progress: called with each change of the progress.
        without: names of capabilities that the agent does not use, see ``launch``.

    Returns:
        The result, also if no culprit was found.

    Raises:
        UsageError: an argument is wrong, or there is nothing to resume.
        LaunchError: the tool could not be started, or the agent could not be loaded into it.
        OracleError: the oracle cannot judge.
        ToolGone: the tool does not repeat its run.
    """
    _check(mode, {"jobs": jobs, "repeat": repeat, "max_trials": max_trials})
    _check_seconds({"timeout": timeout, "max_seconds": max_seconds})
    scratch = make_directory()
    with contextlib.ExitStack() as at_end:
        at_end.callback(remove_directory, scratch)
        task = BisectionTask(
            argv=command_words(argv),
            oracle=make_oracle(oracle),
            filter=make_filter(tag, name, func, always, filter),
            mode=mode,
            jobs=jobs,
            seconds=timeout,
            repeat=repeat,
            stdin=_stdin(command_words(argv), stdin, cwd, scratch),
            cwd=Path(cwd) if cwd is not None else None,
            env=env,
            layouts=max(repeat, BisectionTask.layouts),
            no_fork=no_fork,
            limit=SearchLimit(max_trials, max_seconds),
            without=tuple(without),
        )
        folder = None
        if output is not None:
            opened = opened_folder(Path(output), Path(task.argv[0]).name, resume)
            folder = at_end.enter_context(opened)
        make_pool = None if dask is None else functools.partial(make_dask_pool, dask)
        run = _Run(task, ProgressReporter(progress), folder, make_pool)
        return run.find_and_reduce(resume, scratch) if reduce else run.find(resume)


def _with_note(result: Result, error: FileNotWritten) -> Result:
    """Keep an answer of which a file cannot be written, as on a full disk."""
    return msgspec.structs.replace(result, notes=[*result.notes, str(error)])


def _renamed(result: Result, source: Path | None) -> Result:
    """Return a result that names a reduced input, which is removed, as its copy in the folder."""
    if source is None:
        return result
    # Its locations are in many places, and in texts; a name may hold any bytes.
    with contextlib.suppress(UnicodeEncodeError):
        old, new = (msgspec.json.encode(str(name))[1:-1] for name in (source, input_name(source)))
        return msgspec.json.decode(msgspec.json.encode(result).replace(old, new), type=Result)
    return result


@dataclass
class _Run:
    """A bisection, the reduction of its input, and the folder that they end in."""

    task: BisectionTask
    progress: ProgressReporter
    folder: Path | None
    make_pool: MakePool | None

    def find(self, resume: bool) -> Result:
        """Bisect and write the folder."""
        verdicts = self._verdicts(resume)
        with Bisection(self.task, self.progress, self.make_pool) as bisection:
            return self._write(bisection, bisection.find(verdicts), verdicts)

    def find_and_reduce(self, resume: bool, scratch: Path) -> Result:
        """Bisect, reduce the input, bisect the reduced input and write the folder."""
        verdicts = self._verdicts(resume)
        with Bisection(self.task, self.progress, self.make_pool) as bisection:
            result = bisection.find(verdicts)
            if not result.found:
                return self._write(bisection, result, verdicts)
        try:
            reduced = self._reduce(result, scratch)
        except FileNotWritten as error:
            verdicts.save()
            return _with_note(result, error)
        with Bisection(reduced, self.progress, self.make_pool) as bisection:
            found = bisection.find(VerdictStore(None, {}))
            return self._write(bisection, _renamed(found, reduced.source()), verdicts)

    def _verdicts(self, resume: bool) -> VerdictStore:
        file = self.folder / FolderFile.STATE if self.folder else None
        verdicts = VerdictStore(file, self.task.identity(), resume)
        if verdicts.resumed:
            self.progress.add_note(f"Resumed with {counted(verdicts.resumed, 'verdict')}.")
        return verdicts

    def _write(self, bisection: Bisection, result: Result, verdicts: VerdictStore) -> Result:
        """Write the report and the reproducer, if there is a folder and a culprit."""
        if self.folder is None:
            return result
        if result.verdict == "limit":
            return result  # a higher limit continues
        remove_state(self.folder)
        if not result.found:
            return result
        self.progress.start_phase("the report", 0)
        try:
            written = write_folder(self.folder, bisection, result, verdicts)
        except FileNotWritten as error:
            verdicts.save()  # so that --resume only repeats the report
            return _with_note(result, error)
        except BaseException:
            verdicts.save()
            raise
        if not result.is_minimal:
            verdicts.save()  # a higher limit continues
        return msgspec.structs.replace(
            result,
            reproducer=os.path.abspath(self.folder),
            reproducer_verified=written.verified,
            reproducer_needs_actiondbg=written.needs_actiondbg,
            notes=[*result.notes, *written.notes],
            oracle_runs=result.oracle_runs + written.judged,
            seconds=self.progress.seconds,
        )

    def _reduce(self, result: Result, scratch: Path) -> BisectionTask:
        """Reduce the input; return the task with the reduced input."""
        task, progress = self.task, self.progress
        source = task.source()
        if source is None:
            raise UsageError(
                "The input cannot be reduced: the command line does not name one input file."
            )
        culprit = result.culprit
        expected = (culprit.tag, culprit.name) if culprit else None
        # A reduced program may loop forever.
        seconds = max(
            _LEAST_SECONDS, _TIMES_MEAN_TRIAL * progress.seconds / max(progress.trials, 1)
        )
        layouts = task.layouts if result.layout else 0
        task = replace(task, limit=SearchLimit())  # of the search in the whole input only
        limited = replace(task, seconds=min(task.seconds or seconds, seconds), layouts=layouts)
        progress.start_phase("the reduction")

        def is_interesting(path: Path) -> bool:
            silent = ProgressReporter(None)
            try:
                with Bisection(_with_source(limited, path), silent) as bisection:
                    found = bisection.find(VerdictStore(None, {})).culprit
            except ActiondbgError:  # such as for a program whose output differs in each run
                return False
            finally:
                progress.trials += silent.trials
            return found is not None and (found.tag, found.name) == expected

        reduced = reduce_input(
            (task.cwd or Path.cwd()) / source,
            is_interesting,
            lambda text: progress.start_phase(f"the reduction: {text}"),
            directory=scratch,
            seconds=_REDUCTION_SECONDS,
        )
        ended = {"interrupt": ", and was interrupted", "time": ", and took too long"}
        progress.add_note(
            f"The input was reduced from {reduced.before} to {reduced.after} {reduced.unit}, in "
            f"{counted(reduced.trials, 'attempt')}{ended.get(reduced.ended, '')}."
        )
        return _with_source(task, reduced.path)


def _with_source(task: BisectionTask, path: Path) -> BisectionTask:
    line = task.command_line()
    if line.reads_stdin:
        return replace(task, stdin=path)
    return replace(task, argv=line.with_input(path))


def _stdin(
    argv: list[str],
    given: str | os.PathLike[str] | None,
    cwd: str | os.PathLike[str] | None,
    scratch: Path,
) -> Path | None:
    """Return the file of the tool's standard input, which each trial reads anew."""
    if given is not None:
        return Path(given).absolute()
    line = inspect_command_line(argv, Path(cwd) if cwd is not None else None)
    return copy_stdin(scratch) if line.reads_stdin else None


def _check(mode: str, numbers: Mapping[str, int | None]) -> None:
    if mode not in get_args(Mode):
        raise UsageError(f"Unknown mode {mode!r}: use one of {', '.join(get_args(Mode))}.")
    for word, number in numbers.items():
        if number is not None and number < 1:
            raise UsageError(f"{word} must be at least 1, got {number}.")


def _check_seconds(limits: Mapping[str, float | None]) -> None:
    for word, seconds in limits.items():
        if seconds is not None and seconds <= 0:
            raise UsageError(f"The {word} must be more than 0 s, got {seconds:g} s.")
