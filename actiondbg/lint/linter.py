"""The search for what breaks the rules, over recordings and in runs of a command once more."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from actiondbg.lint.rules import BY_NAME, DEFAULT_RULES, Finding, FindingPlace, Findings, Rule
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import IRDetail, RecordingProcess, start_recording
from actiondbg.recording.query.interruption import fetch_rows
from actiondbg.tool.command_line import inspect_command_line

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

# Passes that only run others have the outcome of these, and no cost of their own.
_PASSES = """
    SELECT name, bool_or(outcome <> 'unchanged'), count(*), sum(duration_ns), min(ordinal)
    FROM actions AS pass
    WHERE tag = 'pass-execution' AND name NOT LIKE 'mlir::detail::%Adaptor'
      AND NOT EXISTS (FROM actions WHERE parent = pass.ordinal AND tag = 'pass-execution')
    GROUP BY name
"""
_LEAST_RUNS = 2  # in which a pass does nothing, before it counts as dead


class Linter:
    """Finds what breaks the rules in recordings, which several threads may add.

    Args:
        rules: to check; those that need checks find nothing in a recording without them.
    """

    def __init__(self, rules: Sequence[Rule] = DEFAULT_RULES) -> None:
        self.rules = tuple(rules)  # that are checked
        self.findings = Findings()  # so far
        self.runs = 0  # the number of recordings
        self.unchecked = 0  # those of them without checks
        self._passes: dict[str, Finding] = {}
        self._active: set[str] = set()
        self._lock = Lock()
        self._databases: list[Any] = []  # that no thread uses now

    def add(self, recording: Recording, path: str | None = None, test: str | None = None) -> None:
        """Check a recording; ``path`` is for the findings, None if it will be gone."""
        from actiondbg.recording.query.database import open_database

        header = recording.header
        place = FindingPlace(header.argv, header.cwd, recording.count, path, test)
        found: list[Finding] = []
        passes: list[tuple[bool, Finding]] = []
        with self._lock:
            database = self._databases.pop() if self._databases else None
        database = open_database(recording, database)
        for rule in self.rules:
            if rule.query and (header.checks or rule.need != "checks"):
                found += _found(database, rule, place)
        if any(rule.need == "runs" for rule in self.rules):
            passes += _passes(database, place)
        with self._lock:
            self._databases.append(database)
            self.runs += 1
            self.unchecked += not header.checks
            self.findings.add(found)
            self._note_passes(passes)

    def add_findings(self, found: Iterable[Finding]) -> None:
        """Add what a comparison of runs shows."""
        with self._lock:
            self.findings.add(found)

    def finish(self) -> Findings:
        """Return the findings, with those that need all runs."""
        dead = (each for name, each in self._passes.items() if name not in self._active)
        self.findings.add(each for each in dead if each.runs >= _LEAST_RUNS)
        return self.findings

    def _note_passes(self, passes: Iterable[tuple[bool, Finding]]) -> None:
        for has_changed, finding in passes:
            name = finding.subject
            if has_changed:
                self._active.add(name)
            known = self._passes.get(name)
            self._passes[name] = finding if known is None else known.joined(finding)


def _passes(database: Any, place: FindingPlace) -> Iterator[tuple[bool, Finding]]:
    """Yield whether each pass of a recording changed something, and the finding if none does."""
    for name, has_changed, times, duration, ordinal in fetch_rows(database, _PASSES):
        at = _placed(database, place, ordinal)
        yield has_changed, Finding("dead-pass", name, "", at, times, 1, (duration or 0) / 1e9)


def _found(database: Any, rule: Rule, place: FindingPlace) -> Iterator[Finding]:
    """Yield the findings of a rule in a recording, each subject once."""
    rows = fetch_rows(
        database,
        f"""
        SELECT found.subject, arg_min(found.detail, ordinal), min(ordinal), count(*),
               sum(actions.self_ns)
        FROM ({rule.query}) AS found JOIN actions USING (ordinal)
        GROUP BY found.subject ORDER BY min(ordinal)
        """,
    )
    for subject, detail, ordinal, times, spent in rows:
        at = _placed(database, place, ordinal)
        yield Finding(rule.name, subject, detail or "", at, times, 1, (spent or 0) / 1e9)


def _placed(database: Any, place: FindingPlace, ordinal: int) -> FindingPlace:
    (row,) = fetch_rows(
        database, "SELECT file, line, function, op FROM actions WHERE ordinal = ?", [ordinal]
    )
    file, line, function, op = row
    return replace(place, ordinal=ordinal, file=file, line=line, function=function, op=op)


_POISON = 0xA5
_RANDOM_RUNS = 2
# How long a further run may take: so many times what the first one took, and some seconds.
_LONGEST, _SECONDS = 10, 5.0
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
class ToolCommand:
    """A command of a tool, that can run again."""

    argv: tuple[str, ...]  # its command line
    cwd: str  # its working directory
    stdin: str = os.devnull  # the file that it reads, or /dev/null


@dataclass(frozen=True)
class Repeated:
    """A run of a command."""

    recordings: Sequence[Recording]  # of its processes that made an MLIR context
    status: int  # its exit status; negative for a signal
    output: bytes  # of it, on stdout and in the file of ``-o``
    is_endless: bool = False  # whether it took too long, and was terminated

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
    """

    def __init__(self, command: ToolCommand, folder: Path, follow: str | None = None) -> None:
        self._command = command
        self._follow = follow
        self._folder = folder
        self._count = 0
        self._running: RecordingProcess | None = None
        self._is_interrupted = False
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
            The run with checks. If it is interrupted, there is no other one.

        Raises:
            LaunchError: the tool cannot be started.
            KeyboardInterrupt: a further run was interrupted.
        """
        done = self.run(is_compared=is_compared)
        for recording in done.recordings:
            linter.add(recording, None, test)
        if is_compared and not done.is_interrupted:
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
            is_compared: whether what it writes is kept, to compare it with that of other runs;
                else its stderr is shown, and the rest dropped.
            limit: the seconds after which the tool is terminated; None for none.

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
            stderr=errors if is_compared else None,
            cwd=self._command.cwd,
            env={**os.environ, **env} if env else None,
            randomize=randomize,
            reverse=reverse,
            follow=self._follow,
        ) as self._running:
            if self._is_interrupted:
                self._running.interrupt()
            is_endless = limit is not None and not self._running.ends_within(limit)
            if is_endless:
                self._running.close()
            done = self._running.wait()
        self._running = None
        paths = [] if done.path is None else [done.path, *done.others]
        recordings = [open_recording(each, partial=True) for each in paths]
        written = [each.read_bytes() for each in (output, result) if each.exists()]
        return Repeated(recordings, done.status, b"".join(written), is_endless)

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
            "use-after-erase": lambda: (self._freeing(0), self._freeing(_POISON)),
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
        """Return a run with random addresses, one unlike the first if there is one."""
        runs = (self._unchecked(randomize=True) for _ in range(_RANDOM_RUNS))
        return next((each for each in runs if not first.is_like(each)), first)

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
