"""The processes of a suite, as their agents note them."""

from __future__ import annotations

import contextlib
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from actiondbg.suite.folder import PART, SuiteFolder
from actiondbg.tool.seen_programs import SeenPrograms

_SEPARATOR = "\x1f"  # between the fields of a process; the format is that of SuiteProcess.cpp
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
_FORK = re.compile(r"(\d+) ?(.*)")


@dataclass(frozen=True)
class SuiteProcess:
    """A program that a process of the suite ran."""

    key: str  # identifies the program: ``PID-NS``, the number of the process and its begin
    parent: int  # the number of the parent process
    executable: str  # its file
    cwd: str  # the working directory in which it began
    # The file of its standard input, or what the kernel calls it, such as ``pipe:[123]``.
    stdin: str
    test: str  # the test that pytest ran
    argv: tuple[str, ...]  # the command line; very long ones are cut
    part: int  # which start of a driver it belongs to, from 1

    @property
    def pid(self) -> int:
        return int(self.key.partition("-")[0])

    @property
    def began(self) -> int:
        """Its begin, in ns of CLOCK_MONOTONIC."""
        return int(self.key.partition("-")[2])

    @property
    def input(self) -> str | None:
        """The regular file of its standard input, if that is one and is still there."""
        is_file = self.stdin.startswith("/") and os.path.isfile(self.stdin)
        return self.stdin if is_file else None


@dataclass
class SuiteProcesses:
    """All processes that loaded the agent."""

    # In the order of their begin.
    all: list[SuiteProcess] = field(default_factory=list[SuiteProcess])
    # The keys of the processes without a recording: the limit was reached, or the recording could
    # not be written.
    unrecorded: set[str] = field(default_factory=set[str])
    # The keys of those whose recording ends there.
    shortened: set[str] = field(default_factory=set[str])
    # The forks of recorded processes that made contexts and were not recorded: the number and the
    # command line of each.
    forks: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    # The programs that were started without the agent, in the order of their first start.
    lost: dict[str, int] = field(default_factory=dict[str, int])
    # The pipes to which processes write, by the keys of these, as ``SuiteProcess.stdin`` has them.
    outputs: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._by_pid: dict[tuple[int, int], list[SuiteProcess]] = {}
        # Of each pipe, those that read it and those that write to it.
        self._at_pipes: dict[tuple[str, bool], list[SuiteProcess]] = {}

    def ancestors(self, process: SuiteProcess) -> Iterator[SuiteProcess]:
        """Yield what started a program: what its process ran before, then the parents."""
        if not self._by_pid:
            for each in self.all:
                self._by_pid.setdefault((each.part, each.pid), []).append(each)
        while (found := self._before(process, process.pid)) or (
            found := self._before(process, process.parent)
        ):
            yield found
            process = found

    def neighbours(self, process: SuiteProcess) -> list[SuiteProcess]:
        """Return the processes at the other ends of the pipes of a process, the writers first."""
        if not self._at_pipes:
            for each in self.all:
                self._at_pipes.setdefault((each.stdin, True), []).append(each)
                self._at_pipes.setdefault((self.outputs.get(each.key, ""), False), []).append(each)
        written = self.outputs.get(process.key, "")
        ends = [(process.stdin, False)] if process.stdin.startswith("pipe:") else []
        ends += [(written, True)] if written else []
        found = [each for end in ends for each in self._at_pipes.get(end, [])]
        return [each for each in found if each.part == process.part and each is not process]

    def _before(self, process: SuiteProcess, pid: int) -> SuiteProcess | None:
        """Return the newest program of a number that began before a process."""
        programs = self._by_pid.get((process.part, pid), [])
        at = bisect_right([each.began for each in programs], process.began - 1)
        return programs[at - 1] if at else None


def read_processes(folder: SuiteFolder) -> SuiteProcesses:
    """Return the processes of a suite."""
    found = SuiteProcesses()
    lines: list[str] = []
    with contextlib.suppress(OSError):
        text = (folder.path / SeenPrograms.NAME).read_bytes()
        lines = text.decode(errors="surrogateescape").split("\n")
    part = 1
    for line in lines:
        kind, _, rest = line.partition(" ")
        if line.startswith(f"process{_SEPARATOR}"):
            if (process := _process(line, part)) is not None:
                found.all.append(process)
        elif line == PART:
            part += 1
        elif kind == "unrecorded":
            found.unrecorded.add(rest)
        elif kind == "shortened":
            found.shortened.add(rest)
        elif kind == "unobserved" and (fork := _FORK.match(rest)):
            found.forks.append((int(fork[1]), fork[2]))
        elif kind == "output":
            key, _, pipe = rest.partition(" ")
            found.outputs[key] = pipe
        elif kind == "lost":
            found.lost[rest] = found.lost.get(rest, 0) + 1
    found.all.sort(key=lambda each: (each.part, each.began))
    # A program without a recording counts as unrecorded, whether or not it is a fork.
    left_out = {each.partition("-")[0] for each in found.unrecorded}
    found.forks = [each for each in found.forks if str(each[0]) not in left_out]
    return found


def _process(line: str, part: int) -> SuiteProcess | None:
    """Read a line; return None for one that a full disk cut off."""
    fields = [_unescaped(each) for each in line.split(_SEPARATOR)[1:]]
    if len(fields) < 6:
        return None
    key, parent, executable, cwd, stdin, test, *argv = fields
    test = test.rpartition(" (")[0] or test  # pytest appends the phase
    try:
        process = SuiteProcess(key, int(parent), executable, cwd, stdin, test, tuple(argv), part)
        _ = process.pid, process.began
    except ValueError:
        return None
    return process


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def name_of(process: SuiteProcess) -> str:
    """Return the name of the program."""
    return os.path.basename(process.executable or "".join(process.argv[:1]))


def input_files(process: SuiteProcess) -> Iterator[str]:
    """Yield the files that a process seems to read: words of its command line, standard input."""
    words = iter(process.argv[1:])
    for word in words:
        if word == "-o":
            next(words, None)
            continue
        path = os.path.join(process.cwd, word)
        if word and not word.startswith("-") and os.path.isfile(path):
            yield os.path.normpath(path)
    if process.input is not None:
        yield process.input
