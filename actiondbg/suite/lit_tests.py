"""The lit tests of the processes of a suite.

lit does not name the test to the processes of it. It is derived from the input, which has the RUN
lines, or from the script or the temporary file of the test, which lit names after it; else from
the processes at the other ends of its pipes, and those that started it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from actiondbg.suite.processes import SuiteProcess, SuiteProcesses, input_files

_LARGEST = 1 << 20  # bytes of a test that are searched for RUN lines
_LONGEST_PIPELINE = 64
_RUN = re.compile(r"RUN:(.*)")
_OF_LIT = re.compile(r"(?P<folder>.*/)?Output/(?P<test>[^/]+?)\.(?:tmp|script)(?![^/]*/Output/)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_REDIRECTION = r"(?P<sign>\d*(?:&>>?|<<<|[<>]&|>>|>\||[<>]))\s*"
_TOKEN = re.compile(
    rf"{_REDIRECTION}(?P<file>(?:{_QUOTED.pattern}|[^\s|;&<>])+)"
    rf"|(?P<end>\|[|&]?|&&?|;)|(?P<word>(?:{_QUOTED.pattern}|[^\s|;&])+)"
)
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
        # Of each working directory, the folders of the tests that its processes read.
        self._folders: dict[str, set[str]] = {}

    def find(self, process: SuiteProcess) -> LitTest | None:
        """Return the test that started a process; None if nothing shows it."""
        for file in input_files(process):
            if run_lines(file):
                return LitTest(file, _fitting(file, process))
        ancestors = list(self._processes.ancestors(process))
        for words in (process.argv, *(each.argv for each in ancestors)):
            if name := _of_lit(words, process.cwd):
                name = self._source(name)
                return LitTest(name, _fitting(name, process))
        name = self._at_pipes(process) or self._around(ancestors)
        return LitTest(name, _fitting(name, process)) if name else None

    def _source(self, name: str) -> str:
        """Return the file of a test that lit runs in another folder, from which it is read."""
        if not self._folders:
            for each in self._processes.all:
                folders = {os.path.dirname(file) for file in input_files(each) if run_lines(file)}
                self._folders.setdefault(each.cwd, set()).update(folders)
        folder, test = os.path.split(name)
        files = (os.path.join(each, test) for each in self._folders.get(folder, ()))
        found = [file for file in files if run_lines(file)]
        return found[0] if len(found) == 1 and not run_lines(name) else name

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
    """Yield the words of each command of a RUN line, and of a script in it, with their quotes.

    The file of a redirection is no word, unless it is the test as the standard input.
    """
    words: list[str] = []
    for match in _TOKEN.finditer(f"{text} ;"):
        word = match["word"]
        if match["sign"] == "<" and match["file"] == "%s":
            word = "%s"
        if word:
            words.append(word)
        if not match["end"]:
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
