"""Runs of a command once more: with other addresses, and with freed memory overwritten."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actiondbg.lint.findings import Finding, Place
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import IRDetail, record

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

# Each byte of memory that the GNU C library frees becomes this one, also in what a thread keeps for
# itself, which is left as it is by default (see mallopt(3), M_PERTURB). 0 leaves memory as it is:
# a run with it has the same addresses.
_POISON = 0xA5


def _freeing(byte: int) -> dict[str, str]:
    return {"GLIBC_TUNABLES": f"glibc.malloc.perturb={byte:03}:glibc.malloc.tcache_count=0"}


_RANDOM_RUNS = 2


@dataclass(frozen=True)
class Command:
    """A command of a tool, that can run again.

    Attributes:
        argv: its command line.
        cwd: its working directory.
        stdin: the file that it reads, or /dev/null.
    """

    argv: Sequence[str]
    cwd: str
    stdin: str = os.devnull


@dataclass(frozen=True)
class Repeated:
    """A run of a command.

    Attributes:
        recordings: of its processes that made an MLIR context.
        status: its exit status; negative for a signal.
        output: of it, on stdout and in the file of ``-o``.
    """

    recordings: Sequence[Recording]
    status: int
    output: bytes

    @property
    def recording(self) -> Recording | None:
        """The first recording; None if there is none."""
        return self.recordings[0] if self.recordings else None

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

    def __init__(self, command: Command, folder: Path, follow: str | None = None) -> None:
        self._command = command
        self._follow = follow
        self._folder = folder
        self._count = 0

    def run(
        self,
        *,
        randomize: bool = False,
        env: Mapping[str, str] | None = None,
        checks: bool = True,
        ir: IRDetail = "none",
        shows_errors: bool = False,
    ) -> Repeated:
        """Run the command once, in one thread.

        Args:
            randomize: with random addresses.
            env: variables beside ours.
            checks: whether its patterns are checked.
            ir: that is recorded.
            shows_errors: whether what it writes on stderr is shown.

        Raises:
            LaunchError: the tool cannot be started.
        """
        self._count += 1
        output = self._folder / f"output{self._count}"
        result = self._folder / f"result{self._count}"
        errors = self._folder / f"errors{self._count}"
        done = record(
            _redirected(self._command.argv, result),
            self._folder / f"run{self._count}.adbrec",
            checks=checks,
            one_thread=True,
            ir=ir,
            stdin=self._command.stdin,
            stdout=output,
            stderr=None if shows_errors else errors,
            cwd=self._command.cwd,
            env={**os.environ, **env} if env else None,
            randomize=randomize,
            follow=self._follow,
        )
        paths = [] if done.path is None else [done.path, *done.others]
        recordings = [open_recording(each, partial=True) for each in paths]
        written = [each.read_bytes() for each in (output, result) if each.exists()]
        return Repeated(recordings, done.status, b"".join(written))

    def findings(self) -> list[Finding]:
        """Return what only a comparison of runs shows; nothing of a tool that crashes."""
        first = self.run(checks=False, ir="changed")
        if first.recording is None or first.status < 0:
            return []
        found: list[Finding] = []
        others = (self.run(randomize=True, checks=False, ir="changed") for _ in range(_RANDOM_RUNS))
        unlike = next((each for each in others if not first.is_like(each)), None)
        if unlike is not None:
            found.append(self._finding("unstable-output", first.recording, unlike))
        kept, poisoned = (
            self.run(env=_freeing(byte), checks=False, ir="changed") for byte in (0, _POISON)
        )
        if kept.recording is not None and not kept.is_like(poisoned):
            found.append(self._finding("use-after-erase", kept.recording, poisoned))
        return found

    def _finding(self, rule: str, first: Recording, other: Repeated) -> Finding:
        """Return a finding at the action that crashed, else at the first that differs."""
        argv = self._command.argv
        place = Place(tuple(argv), self._command.cwd, first.count)
        unknown = Finding(rule, Path(argv[0]).name, _ending(other), place)
        if other.recording is None:
            return unknown
        ordinal = other.recording.ending.ordinal or _first_difference(first, other.recording)
        if ordinal is None:
            return unknown
        table = other.recording.table("actions", ["name", "file", "line", "function", "op"])
        (row,) = table.slice(ordinal - 1, 1).to_pylist()
        name = row.pop("name")
        return Finding(rule, name, _ending(other), replace(place, ordinal=ordinal, **row))


def _redirected(argv: Sequence[str], result: Path) -> list[str]:
    """Return a command line that writes elsewhere what it writes to the file of ``-o``."""
    words = list(argv)
    for at, word in enumerate(words[1:-1], 1):
        if word == "-o" and words[at + 1] not in ("-", os.devnull):
            words[at + 1] = str(result)
    return words


def _ending(run: Repeated) -> str:
    if run.status < 0:
        return f"the tool is killed by {signal.Signals(-run.status).name}"
    return f"exit status {run.status}" if run.status else "the output differs"


def _first_difference(first: Recording, other: Recording) -> int | None:
    """Return the ordinal of the innermost action of another run that differs first, or None."""
    pairs = zip_longest(_described(first), _described(other))
    differing = (at for at, (mine, theirs) in enumerate(pairs, 1) if mine != theirs)
    at = next(differing, None)
    return None if at is None or not other.count else min(at, other.count)


def _described(recording: Recording) -> list[tuple[object, ...]]:
    """Return what each action did itself: an action around it differs by that only."""
    texts: dict[int, list[tuple[object, ...]]] = {}
    for ordinal, *words in _rows(recording, "ir", ("ordinal", "operation", "when", "text")):
        texts.setdefault(ordinal, []).append(tuple(words))
    rows = _rows(recording, "actions", ("ordinal", "tag", "name", "op", "line", "outcome"))
    parents = set(recording.table("actions", ["parent"]).column("parent").to_pylist())
    return [
        (*words[:-1],) if ordinal in parents else (*words, texts.get(ordinal))
        for ordinal, *words in rows
    ]


def _rows(recording: Recording, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return (tuple(row.values()) for row in recording.table(table, columns).to_pylist())
