"""The commands of recorded runs, run again to be linted, several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from actiondbg.errors import LaunchError
from actiondbg.lint.linted_runs import LintedRun
from actiondbg.lint.linter import Linter, Repetition, ToolCommand
from actiondbg.support.scratch_directory import scratch_directory


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
