"""The folder of a suite, its processes, as their agents note them, and the lit tests of these.

lit does not name the test to the processes of it. It is derived from the input, which has the RUN
lines, or from the script or the temporary file of the test, which lit names after it; else from
the processes at the other ends of its pipes, and those that started it.
"""

from __future__ import annotations

import contextlib
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.support.atomic_write import write_whole
from actiondbg.tool.seen_programs import SeenPrograms

_SEPARATOR = "\x1f"  # between the fields of a process; the format is that of SeenPrograms.cpp
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


_LARGEST = 1 << 20  # bytes of a test that are searched for RUN lines
_LONGEST_PIPELINE = 64
_RUN = re.compile(r"RUN:(.*)")
_OF_LIT = re.compile(r"(?P<folder>.*/)?Output/(?P<test>[^/]+?)\.(?:tmp|script)(?![^/]*/Output/)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_TOKEN = re.compile(rf"(?P<end>\|\||&&|[|;])|(?P<word>(?:{_QUOTED.pattern}|&(?!&)|[^\s|;&])+)")
DRIVERS = frozenset({"lit", "lit.py", "llvm-lit", "llvm-lit.py"})  # names of lit
_SHELLS = frozenset({"sh", "bash"})
_PREFIXES = frozenset({"not", "--crash", "env", "time", "!", "do", "then", "else", "{"})


@dataclass(frozen=True)
class RunLine:
    """A RUN line with its continuations, as written, and the number of its first line, from 1."""

    line: int
    text: str


@dataclass(frozen=True)
class LitTest:
    """The test of a process."""

    name: str  # the file of the test, or its path without a file that is known
    run: RunLine | None  # the RUN line whose command fits; None if none does


class LitTests:
    """The tests of all processes of a suite."""

    def __init__(self, processes: SuiteProcesses) -> None:
        self._processes = processes

    def find(self, process: SuiteProcess) -> LitTest | None:
        """Return the test that started a process; None if nothing shows it."""
        for file in input_files(process):
            if run_lines(file):
                return LitTest(file, _fitting(file, process))
        ancestors = list(self._processes.ancestors(process))
        for words in (process.argv, *(each.argv for each in ancestors)):
            if name := _of_lit(words, process.cwd):
                return LitTest(name, _fitting(name, process))
        name = self._at_pipes(process) or self._around(ancestors)
        return LitTest(name, _fitting(name, process)) if name else None

    def _at_pipes(self, process: SuiteProcess) -> str | None:
        """Return the only test that the processes of a pipeline read.

        Processes of several tests may share a pipe, such as to a log.
        """
        pipeline, seen, names = [process], {process.key}, set[str]()
        for each in pipeline:
            if (name := _only_test(each)) is not None:
                names.add(name)
            new = [other for other in self._processes.neighbours(each) if other.key not in seen]
            seen.update(other.key for other in new)
            pipeline += new
            if len(names) > 1 or len(pipeline) > _LONGEST_PIPELINE:
                return None
        return names.pop() if names else None

    def _around(self, ancestors: Iterable[SuiteProcess]) -> str | None:
        """Return the test that the nearest ancestor within lit reads, such as a script."""
        for each in ancestors:
            if DRIVERS & {os.path.basename(word) for word in each.argv[:3]}:
                return None
            if name := _only_test(each):
                return name
        return None


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


def _only_test(process: SuiteProcess) -> str | None:
    """Return the file with RUN lines that a process reads, unless it reads several."""
    files = {file for file in input_files(process) if run_lines(file)}
    return files.pop() if len(files) == 1 else None


def _of_lit(argv: Sequence[str], cwd: str) -> str | None:
    """Return the test of a script or a temporary file that words name."""
    for word in argv:
        if (match := _OF_LIT.search(word)) is not None:
            folder = os.path.join(cwd, match["folder"] or "")
            return os.path.normpath(os.path.join(folder, match["test"]))
    return None


@lru_cache(maxsize=4096)
def run_lines(file: str) -> tuple[RunLine, ...]:
    """Return the RUN lines of a file; nothing for one that cannot be read."""
    try:
        with open(file, errors="replace") as opened:
            text = opened.read(_LARGEST)
    except OSError:
        return ()
    return tuple(_run_lines(text))


def _run_lines(text: str) -> Iterator[RunLine]:
    begun: RunLine | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if "RUN:" not in line or (match := _RUN.search(line)) is None:
            continue
        words = match[1].strip()
        begun = RunLine(begun.line, f"{begun.text} {words}") if begun else RunLine(number, words)
        if words.endswith("\\"):
            begun = RunLine(begun.line, begun.text.removesuffix("\\").rstrip())
            continue
        yield begun
        begun = None
    if begun is not None:
        yield begun


def _fitting(test: str, process: SuiteProcess) -> RunLine | None:
    """Return the first RUN line with the command whose words are best those of a process."""
    fits: list[tuple[int, RunLine]] = []
    argv = process.argv
    given = {_blanks(word) for word in argv[1:]}
    reads = 1 if test in input_files(process) else -1
    for line in run_lines(test):
        for words in _commands(line.text):
            while words and (words[0] in _PREFIXES or "=" in words[0]):
                del words[0]
            if not words or not argv:
                continue
            tool = os.path.basename(words[0].lstrip("("))
            if "%" not in tool and tool != os.path.basename(argv[0]):
                continue
            plain = [text for word in words[1:] if (text := _plain(word)) is not None]
            if all(word in given for word in plain):
                fits.append((len(plain) + reads * words.count("%s"), line))
    return max(fits, key=lambda fit: fit[0], default=(0, None))[1]


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of a RUN line, and of a script in it, with their quotes."""
    words: list[str] = []
    for match in _TOKEN.finditer(f"{text} ;"):
        if match["word"]:
            words.append(match["word"])
            continue
        if _SHELLS & {os.path.basename(word) for word in words} and "-c" in words[:-1]:
            yield from _commands(words[words.index("-c") + 1].strip("'\""))
        yield words
        words = []


def _plain(word: str) -> str | None:
    """Return a word as the process gets it; None if that depends on substitutions or on a shell."""
    if set(_QUOTED.sub("", word)) & set("<>&{}") or set(word) & set("%$\\"):
        return None
    text = _blanks(_QUOTED.sub(lambda match: match[0][1:-1], word))
    is_last_of_subshell = text.endswith(")") and text.count(")") > text.count("(")
    return text[:-1] if is_last_of_subshell else text


def _blanks(word: str) -> str:
    """Return a word whose blanks are single: those at a continued line are not known."""
    return " ".join(word.split())


PART = "part"  # the line of the notes before those of a further start of a driver
_FORMAT = 1


class Description(msgspec.Struct, frozen=True):
    """What is noted of a suite."""

    format: int = _FORMAT  # the version of the layout of the folder
    commands: list[list[str]] = []  # the command lines of the drivers, in the order of their starts


class SuiteFolder:
    """The layout of the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.runs = self.path / "runs"  # the folder of the recordings, one a process
        # The folder of the sets of patterns that processes froze, by hash.
        self.patterns = self.path / "patterns"
        self.index = self.path / "index"  # the folder of the tables about all runs
        # The file whose existence ends recording, since the limit of disk space is reached.
        self.full = self.path / "full"
        self.notes = self.path / SeenPrograms.NAME  # the file in which agents note processes
        self._mark = self.path / "suite.json"

    @property
    def exists(self) -> bool:
        """Whether it is the folder of a suite."""
        return self._mark.is_file()

    def check(self) -> None:
        """Raise UsageError unless it is the folder of a suite, of a format that is known."""
        if not self.exists:
            raise UsageError(
                f"{str(self.path)!r} is not a suite: make one with "
                "'actiondbg suite record -o DIR -- COMMAND'."
            )
        found = self.description().format
        if found > _FORMAT:
            raise UsageError(
                f"The suite {str(self.path)!r} has format {found}, and this actiondbg reads up to "
                f"{_FORMAT}: use a newer actiondbg."
            )

    def make(self, resume: bool) -> None:
        """Make the folder.

        Args:
            resume: the folder may be that of a suite, whose runs are kept.

        Raises:
            UsageError: the folder has other contents, or runs that would be mixed with new ones.
            FileNotWritten: it cannot be made.
        """
        if self.exists and not resume:
            raise UsageError(
                f"{str(self.path)!r} has the runs of a suite: name another "
                "folder, or record into it with --resume."
            )
        if not self.exists and self.path.exists() and any(self.path.iterdir()):
            raise UsageError(f"{str(self.path)!r} is no suite and is not empty: name a new folder.")
        try:
            for each in (self.runs, self.patterns):
                each.mkdir(parents=True, exist_ok=True)
            self.full.unlink(missing_ok=True)
        except OSError as error:
            raise FileNotWritten(
                f"{str(self.path)!r} cannot be made ({error.strerror}): name another folder."
            ) from error

    def describe(self, command: list[str]) -> None:
        """Note the command of a suite, after those of earlier parts.

        Raises:
            FileNotWritten: it cannot be noted; a new folder is removed again.
        """
        try:
            if self.notes.exists():
                with self.notes.open("ab") as notes:
                    # A full disk may have cut the line before.
                    notes.write(f"\n{PART}\n".encode())
            self.describe_all([*self.description().commands, command])
        except OSError as error:
            if not self.exists:
                for each in (self.runs, self.patterns, self.path):
                    with contextlib.suppress(OSError):
                        each.rmdir()
            raise FileNotWritten(
                f"The suite {str(self.path)!r} cannot be written ({error.strerror}): free disk "
                "space, or name another folder."
            ) from error

    def describe_all(self, commands: list[list[str]]) -> None:
        """Note the commands of all parts."""
        write_whole(self._mark, msgspec.json.encode(Description(commands=commands)))

    def description(self) -> Description:
        """Return what is noted of the suite, an empty description if nothing is."""
        try:
            return msgspec.json.decode(self._mark.read_bytes(), type=Description)
        except (OSError, msgspec.MsgspecError):
            return Description()
