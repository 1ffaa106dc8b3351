"""Repeated runs: of one command as often as the rules need, or of the commands of recordings."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actiondbg.errors import LaunchError
from actiondbg.lint.linted_runs import LintedRun, ToolCommand
from actiondbg.lint.linter import Linter
from actiondbg.lint.rules import BY_NAME, Finding, FindingPlace
from actiondbg.recording import open_recording
from actiondbg.recording.capture.endless import Look, look_text, wait_watching
from actiondbg.recording.capture.recorder import IRDetail, RecordingProcess, start_recording
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool.command_line import inspect_command_line

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_POISON = 0xA5
_RANDOM_RUNS = 2
# How long a further run may take: so many times what the first one took, and some seconds.
_LONGEST, _SECONDS = 10, 5.0
_MOST_BYTES = 10**9  # of the recording of a run
_CHANGING = """
    SELECT ordinal, tag, name, op, line, texts
    FROM actions AS own LEFT JOIN (
        SELECT ordinal, string_agg(
            concat(operation, "when", md5(text)), ',' ORDER BY operation, "when"
        ) AS texts
        FROM ir GROUP BY ordinal
    ) USING (ordinal)
    WHERE changed AND NOT EXISTS (FROM actions WHERE parent = own.ordinal)
    ORDER BY ordinal
"""


@dataclass(frozen=True)
class Repeated:
    """A run of a command."""

    recordings: Sequence[Recording]  # of its processes that made an MLIR context
    status: int  # its exit status; negative for a signal
    output: bytes  # of it, on stdout and in the file of ``-o``
    is_endless: bool = False  # whether it took too long or repeated actions, and was terminated

    @property
    def recording(self) -> Recording | None:
        """The first recording; None if there is none."""
        return self.recordings[0] if self.recordings else None

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended it: it shows nothing about what it would have done."""
        return self.status == -signal.SIGINT

    def is_like(self, other: Repeated) -> bool:
        """Whether another run gives the same output and status."""
        return (self.output, self.status) == (other.output, other.status)


class Repetition:
    """Runs a command again and again.

    Args:
        command: to run.
        folder: of recordings and outputs, which exists.
        follow: a glob of the processes to record of a program that starts tools.
        tell: called with sentences about a run that takes long.

    Attributes:
        errors: what the first run wrote to its stderr; None before its end.
    """

    def __init__(
        self,
        command: ToolCommand,
        folder: Path,
        follow: str | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._command = command
        self._tell = tell
        self._follow = follow
        self._folder = folder
        self._count = 0
        self._running: RecordingProcess | None = None
        self.errors: Path | None = None
        self._is_interrupted = self._is_ended = False
        self._limit: float | None = None

    def interrupt(self) -> None:
        """Interrupt the tool, and begin no further run; another thread may call this."""
        self._is_interrupted = True
        if self._running is not None:
            self._running.interrupt()

    def lint(
        self, linter: Linter, test: str | None = None, *, is_compared: bool = True
    ) -> Repeated:
        """Run the command with checks, and if its runs are compared as often as the rules need.

        Returns:
            The run with checks. If it is interrupted or endless, there is no other one.

        Raises:
            LaunchError: the tool cannot be started.
            KeyboardInterrupt: a further run was interrupted.
        """
        done = self.run(is_compared=is_compared)
        for recording in done.recordings:
            linter.add(recording, None, test)
        if is_compared and not (done.is_interrupted or done.is_endless):
            linter.add_findings(self.findings([each.name for each in linter.rules], test))
        return done

    def run(
        self,
        *,
        randomize: bool = False,
        reverse: bool = False,
        env: Mapping[str, str] | None = None,
        checks: bool = True,
        ir: IRDetail = "none",
        is_compared: bool = True,
        limit: float | None = None,
    ) -> Repeated:
        """Run the command once, in one thread.

        Args:
            randomize: with random addresses.
            reverse: with patterns of the same benefit in the opposite order.
            env: variables beside ours.
            checks: whether its patterns are checked.
            ir: that is recorded.
            is_compared: whether its output is kept, to compare it with the output of other runs.
            limit: the seconds after which the tool is terminated; None to terminate it when it
                repeats the same actions endlessly, or has recorded a gigabyte.

        Raises:
            LaunchError: the tool cannot be started.
            KeyboardInterrupt: ``interrupt`` was called before.
        """
        if self._is_interrupted:
            raise KeyboardInterrupt
        self._count += 1
        output = self._folder / f"output{self._count}"
        result = self._folder / f"result{self._count}"
        dropped = Path(os.devnull)
        errors = self._folder / f"errors{self._count}"
        line = inspect_command_line(list(self._command.argv), Path(self._command.cwd))
        with start_recording(
            line.with_output(result if is_compared else dropped),
            self._folder / f"run{self._count}.adbrec",
            checks=checks,
            one_thread=True,
            ir=ir,
            stdin=self._command.stdin,
            stdout=output if is_compared else dropped,
            stderr=errors,
            cwd=self._command.cwd,
            env={**os.environ, **env} if env else None,
            randomize=randomize,
            reverse=reverse,
            follow=self._follow,
        ) as self._running:
            if self._is_interrupted:
                self._running.interrupt()
            self._is_ended = False
            if limit is None:
                done = wait_watching(self._running, self._ends, most_bytes=_MOST_BYTES)
            else:
                self._is_ended = not self._running.ends_within(limit)
                if self._is_ended:
                    self._running.close()
                done = self._running.wait()
        self._running = None
        self.errors = self.errors or errors
        paths = [] if done.path is None else [done.path, *done.others]
        recordings = [open_recording(each, partial=True) for each in paths]
        written = [each.read_bytes() for each in (output, result) if each.exists()]
        return Repeated(recordings, done.status, b"".join(written), self._is_ended)

    def _ends(self, look: Look) -> bool:
        """Tell about a run that takes long; return whether it is to be terminated."""
        self._is_ended = look.is_large or look.repeated is not None
        if self._tell is not None:
            way = "It is ended" if self._is_ended else "Ctrl-C ends it"
            self._tell(f"{look_text(look)} {way}: what it did up to then is checked.")
        return self._is_ended

    def findings(self, rules: Collection[str], test: str | None = None) -> list[Finding]:
        """Return what only a comparison of runs shows; nothing of a tool that crashes.

        Raises:
            LaunchError: the tool cannot be started.
            KeyboardInterrupt: a run was interrupted.
        """
        if not any(BY_NAME[each].need == "repetition" for each in rules):
            return []
        began = time.monotonic()
        first = self._unchecked()
        self._limit = _LONGEST * (time.monotonic() - began) + _SECONDS
        if first.recording is None or first.status < 0:
            return []
        pairs: dict[str, Callable[[], tuple[Repeated, Repeated]]] = {
            "unstable-output": lambda: (first, self._elsewhere(first)),
            "order-dependent": lambda: (first, self._unchecked(reverse=True)),
            "use-after-erase": lambda: (self._kept, self._freeing(_POISON)),
        }
        found: list[Finding] = []
        for rule, run in pairs.items():
            if rule in rules:
                one, other = run()
                if one.recording is not None and not one.is_like(other):
                    found.append(self._finding(rule, one.recording, other, test))
        return found

    def _unchecked(
        self,
        *,
        randomize: bool = False,
        reverse: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> Repeated:
        """Return a run with the IR that it changes; see ``run``."""
        done = self.run(
            randomize=randomize,
            reverse=reverse,
            env=env,
            checks=False,
            ir="changed",
            limit=self._limit,
        )
        if done.is_interrupted:
            raise KeyboardInterrupt
        return done

    def _elsewhere(self, first: Repeated) -> Repeated:
        """Return a run with other addresses, one unlike the first if there is one.

        Two have random ones. One reuses no memory at once: its objects have other places among
        each other, and what is read after it was freed is as it was.
        """
        for at in range(_RANDOM_RUNS + 1):
            run = self._unchecked(randomize=True) if at < _RANDOM_RUNS else self._kept
            if not first.is_like(run):
                return run
        return first

    @cached_property
    def _kept(self) -> Repeated:
        """A run that reuses no freed memory at once, and keeps what is in it."""
        return self._freeing(0)

    def _freeing(self, byte: int) -> Repeated:
        """Return a run in which each byte of freed memory becomes another, or with 0 is kept.

        The GNU C library does so, also in what a thread keeps for itself, which it leaves as it is
        by default (see mallopt(3), M_PERTURB). Both runs have the same addresses.
        """
        tunables = f"glibc.malloc.perturb={byte:03}:glibc.malloc.tcache_count=0"
        return self._unchecked(env={"GLIBC_TUNABLES": tunables})

    def _finding(self, rule: str, first: Recording, other: Repeated, test: str | None) -> Finding:
        """Return a finding at the action that crashed, else at the first that differs."""
        argv = self._command.argv
        place = FindingPlace(argv, self._command.cwd, first.count, None, test)
        unknown = Finding(rule, Path(argv[0]).name, _ending(other), place)
        if other.recording is None:
            return unknown
        ordinal = None if other.is_endless else other.recording.ending.ordinal
        ordinal = ordinal or _first_difference(first, other.recording)
        if ordinal is None:
            return unknown
        table = other.recording.table("actions", ["name", "file", "line", "function", "op"])
        (row,) = table.slice(ordinal - 1, 1).to_pylist()
        name = row.pop("name")
        return Finding(rule, name, _ending(other), replace(place, ordinal=ordinal, **row))


def _ending(run: Repeated) -> str:
    if run.is_endless:
        return "the tool does not end"
    if run.status < 0:
        return f"the tool is killed by {signal.Signals(-run.status).name}"
    return f"exit status {run.status}" if run.status else "the output differs"


def _first_difference(first: Recording, other: Recording) -> int | None:
    """Return the ordinal of the first action of another run that changed something else, or None.

    An action counts that contains no other one; attempts without a change do not.
    """
    before = changed_by(first, first.count)
    after = changed_by(other, len(before) + 1)  # of an endless run there may be millions
    for known, (ordinal, *described) in zip_longest(before, after, fillvalue=(0,)):
        if list(known[1:]) != described:
            return ordinal or other.count or None
    return None


def changed_by(recording: Recording, most: int) -> list[tuple[Any, ...]]:
    """Return the first actions that changed something themselves: ordinals and what they did."""
    from actiondbg.recording.query.database import open_database
    from actiondbg.recording.query.interruption import fetch_rows

    with contextlib.closing(open_database(recording)) as database:
        return fetch_rows(database, f"{_CHANGING} LIMIT {most}")


class Rerun:
    """Runs commands again, and lints what they do.

    Args:
        linter: gets the recordings, which have checks, and the findings.
        jobs: how many commands run at a time; None for the number of cores.
        follow: a glob of the processes to record of a program that starts tools.

    Attributes:
        total: the number of commands, each different one once.
        done: how many of them have run again, or could not.
        failed: how many could not: the tool, the directory or an input is gone, or the input was a
            pipe.
    """

    def __init__(
        self, linter: Linter, *, jobs: int | None = None, follow: str | None = None
    ) -> None:
        self._linter = linter
        self._jobs = jobs or os.cpu_count() or 1
        self._follow = follow
        self.total = self.done = self.failed = 0
        self._running: set[Repetition] = set()
        self._is_stopped = False

    def run(
        self, runs: Iterable[LintedRun], progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Run the commands of runs again, each different one once.

        Args:
            runs: of which only the commands are kept.
            progress: called in this thread after each command, with ``done`` and ``total``.

        Raises:
            KeyboardInterrupt: the tools that ran were interrupted, and no other one was started.
                The linter has the findings of the commands before.
        """
        commands: dict[ToolCommand, tuple[str | None, bool]] = {}
        self.failed = 0
        self._is_stopped = False
        for run in runs:
            if run.command is None:
                self.failed += 1
            else:
                commands[run.command] = run.test, run.recording.count > 0
        self.done = self.failed
        self.total = self.failed + len(commands)
        pool = ThreadPoolExecutor(self._jobs)
        try:
            futures = [pool.submit(self._again, each, *what) for each, what in commands.items()]
            for future in as_completed(futures):
                self.failed += not future.result()
                self.done += 1
                if progress is not None:
                    progress(self.done, self.total)
        except BaseException:
            self._is_stopped = True
            for each in tuple(self._running):
                each.interrupt()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _again(self, command: ToolCommand, test: str | None, has_actions: bool) -> bool:
        """Run a command again; return whether it could be."""
        with scratch_directory("lint") as folder:
            repetition = Repetition(command, folder, self._follow)
            self._running.add(repetition)
            try:
                if self._is_stopped:
                    raise KeyboardInterrupt
                done = repetition.lint(self._linter, test)
            except LaunchError:
                return False
            finally:
                self._running.discard(repetition)
            if done.is_interrupted:
                raise KeyboardInterrupt
            return any(each.count for each in done.recordings) or not has_actions
