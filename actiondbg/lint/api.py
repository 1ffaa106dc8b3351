"""The check of a tool, or of recordings, for what breaks the rules."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.lint.linter import Linter
from actiondbg.lint.rules import DEFAULT_RULES, Finding, Rule
from actiondbg.support.counts import counted
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool.command_line import copy_stdin, inspect_command_line

if TYPE_CHECKING:
    from actiondbg.lint.linted_runs import LintedRun
    from actiondbg.lint.rerun import Repeated

Stage = Literal["tool", "recordings", "commands"]
Progress = Callable[[Stage, int, int], None]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Linted:
    """What breaks the rules in some runs.

    Attributes:
        findings: by rule, the most frequent first.
        rules: that were to be checked.
        checked: the names of those that were checked in a run.
        runs: the number of recorded runs.
        is_interrupted: whether Ctrl-C ended tools: the findings are those up to then.
        is_incomplete: whether actions of the tool could not be recorded, and so not be checked.
    """

    findings: Sequence[Finding]
    rules: Sequence[Rule]
    checked: frozenset[str]
    runs: int
    is_interrupted: bool = False
    is_incomplete: bool = False

    @classmethod
    def by(
        cls, linter: Linter, *, is_interrupted: bool = False, is_incomplete: bool = False
    ) -> Linted:
        """Return what a linter has found."""
        checked = frozenset(linter.checked)
        found = list(linter.finish())
        return cls(found, linter.rules, checked, linter.runs, is_interrupted, is_incomplete)


def _ignore(*_: object) -> None:
    return


def lint_tool(
    argv: Sequence[str],
    *,
    rules: Sequence[Rule] = (),
    rerun: bool = False,
    follow: str | None = None,
    stdin: Path | None = None,
    progress: Progress = _ignore,
    tell: Tell = _ignore,
    show_errors: Callable[[Path], None] = _ignore,
) -> Linted:
    """Run a tool, and check what it does; its stdout and the file of its ``-o`` are not written.

    Args:
        argv: the command line.
        rules: to check; the default ones if it is empty.
        rerun: run it as often as the rules need that compare runs.
        follow: a glob of the processes to check of a program that starts tools.
        stdin: the file that the tool reads; None to copy the standard input of this process if the
            tool reads it.
        progress: called before the tool starts.
        tell: called with sentences: what takes long, and what is not checked.
        show_errors: called with the file of what the tool wrote to its stderr, which is removed
            afterwards; not with ``rerun``.

    Raises:
        LaunchError: the tool cannot be started.
        ActiondbgError: it made no MLIR context, or failed before its first action.
        UsageError: the command line is empty, or a rule needs ``rerun``.
    """
    from actiondbg.lint.linted_runs import ToolCommand
    from actiondbg.lint.rerun import Repetition

    if not argv:
        raise UsageError("The command line is empty: give the tool and its arguments.")
    linter = _linter(rules, rerun)
    with scratch_directory("lint") as folder:
        if stdin is None and inspect_command_line(list(argv)).reads_stdin:
            stdin = copy_stdin(folder)  # for each run
        command = ToolCommand(tuple(argv), os.getcwd(), str(stdin or os.devnull))
        repetition = Repetition(command, folder, follow, tell)
        progress("tool", 0, 0)
        try:
            done = repetition.lint(linter, is_compared=rerun)
        except KeyboardInterrupt:
            tell("Interrupted in a further run: what the first one did is checked.")
            return Linted.by(linter, is_interrupted=True)
        if repetition.errors is not None and not rerun:
            show_errors(repetition.errors)
        is_incomplete = _tell_of_end(argv[0], done, tell)
        return Linted.by(linter, is_interrupted=done.is_interrupted, is_incomplete=is_incomplete)


def _tell_of_end(tool: str, done: Repeated, tell: Tell) -> bool:
    """Tell how a tool ended, if not well; return whether actions of it are not recorded.

    Raises:
        ActiondbgError: there is nothing to check.
    """
    how = _status(done.status)
    if not done.recordings:
        raise ActiondbgError(
            f"There is nothing to check: {tool!r} made no MLIR context (it ended with {how})."
        )
    cut = [each for each in done.recordings if each.cut is not None]
    for each in () if done.is_endless else cut:
        tell(f"{each.path}: {each.cut}")
    is_whole = not (done.is_interrupted or cut)
    if done.status and is_whole and not any(each.count for each in done.recordings):
        raise ActiondbgError(
            f"There is nothing to check: {tool!r} ended with {how} before its first action."
        )
    if done.status and not done.is_endless:
        tell(f"The tool ended with {how}: what it did up to then is checked.")
    return bool(cut)


def lint_recordings(
    paths: Sequence[str],
    *,
    rules: Sequence[Rule] = (),
    rerun: bool = False,
    follow: str | None = None,
    jobs: int | None = None,
    partial: bool = False,
    progress: Progress = _ignore,
    tell: Tell = _ignore,
) -> Linted:
    """Check recorded runs.

    Args:
        paths: suites, recordings, folders of recordings, and globs of these.
        rules: to check; the default ones if it is empty.
        rerun: run each command again, with checks, and as often as the rules need that compare
            runs.
        follow: with ``rerun`` a glob of the processes to check of a program that starts tools.
        jobs: with ``rerun`` how many commands run at a time; None for the number of cores.
        partial: read damaged recordings up to the damage.
        progress: called with the number of recordings that are checked; and, where commands run
            again, with the number of those that have, and of all.
        tell: called with sentences about what is not checked.

    Raises:
        RecordingError: nothing is found, or a recording cannot be read.
        ActiondbgError: the commands run again, and a recording has none.
        UsageError: a rule needs ``rerun``, or the format of a suite is not known.
        KeyboardInterrupt: Ctrl-C while recordings are read. While commands run again, Ctrl-C ends
            them instead, and the result has the findings up to then.
    """
    from actiondbg.lint.linted_runs import recorded_runs

    linter = _linter(rules, rerun)
    runs = recorded_runs(paths, partial=partial, warn=tell)
    if rerun:
        is_interrupted = _rerun(linter, runs, jobs, follow, progress, tell)
        return Linted.by(linter, is_interrupted=is_interrupted)
    for run in runs:
        progress("recordings", linter.runs, 0)
        linter.add(run.recording, run.path, run.test)
    if linter.unchecked and any(each.need == "checks" for each in linter.rules):
        tell(
            f"{counted(linter.unchecked, 'recording')} without checks: use --rerun, or record with "
            "--checks."
        )
    return Linted.by(linter)


def _rerun(
    linter: Linter,
    runs: Iterable[LintedRun],
    jobs: int | None,
    follow: str | None,
    progress: Progress,
    tell: Tell,
) -> bool:
    """Run commands again; return whether that was interrupted."""
    from actiondbg.lint.rerun import Rerun

    rerun = Rerun(linter, jobs=jobs, follow=follow)
    is_interrupted = False
    try:
        rerun.run(_with_commands(runs), lambda done, total: progress("commands", done, total))
    except KeyboardInterrupt:
        is_interrupted = True
        tell(
            f"Interrupted after {rerun.done:,} of {counted(rerun.total, 'command')}: what they did "
            "is checked."
        )
    if rerun.failed:
        tell(
            f"{counted(rerun.failed, 'command')} could not be run again: the tool, the directory "
            "or an input is gone, or the input was a pipe."
        )
    return is_interrupted


def _linter(rules: Sequence[Rule], rerun: bool) -> Linter:
    for rule in rules:
        if rule.need == "repetition" and not rerun:
            raise UsageError(f"The rule {rule.name} compares several runs: give --rerun, too.")
    return Linter(rules or DEFAULT_RULES)


def _with_commands(runs: Iterable[LintedRun]) -> Iterator[LintedRun]:
    """Yield runs; raise ActiondbgError for an imported one, which has no command line."""
    for run in runs:
        recording = run.recording
        if recording.header.imported:
            raise ActiondbgError(
                f"{recording.path} was imported from {recording.header.imported}, which has no "
                "command line to run again: use `actiondbg lint --rerun -- TOOL ARGS...`."
            )
        yield run


def _status(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
