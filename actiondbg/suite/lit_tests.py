"""The lit test that a process belongs to, and its RUN line.

lit does not name the test to the processes of it. It is derived from the input, which has the RUN
lines, or from the script or the temporary file of the test, which lit names after it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_LARGEST = 1 << 20  # bytes of a test that are searched for RUN lines
_RUN = re.compile(r"RUN:(.*)")
_OF_LIT = re.compile(r"(?P<folder>.*/)?Output/(?P<test>[^/]+?)\.(?:tmp|script)(?![^/]*/Output/)")
_COMMAND_END = re.compile(r"\|\||&&|[|;]")
_PREFIXES = frozenset({"not", "--crash", "env", "time"})


@dataclass(frozen=True)
class RunLine:
    """A RUN line with its continuations.

    Args:
        line: the number of its first line, from 1.
        text: the command as written.
    """

    line: int
    text: str


@dataclass(frozen=True)
class LitTest:
    """The test of a process.

    Args:
        name: the file of the test, or its path without a file that is known.
        run: the RUN line whose command fits; None if none does.
    """

    name: str
    run: RunLine | None


def find_test(
    argv: Sequence[str], cwd: str, inputs: Iterable[str], ancestors: Iterable[Sequence[str]]
) -> LitTest | None:
    """Return the test that started a process; None if nothing shows it.

    Args:
        argv: the command line of the process.
        cwd: its working directory.
        inputs: the files that it reads.
        ancestors: the command lines of the processes around it, the nearest first.
    """
    for file in inputs:
        if lines := run_lines(file):
            return LitTest(file, _fitting(lines, argv))
    for words in (argv, *ancestors):
        for word in words:
            if (match := _OF_LIT.search(word)) is not None:
                folder = os.path.join(cwd, match["folder"] or "")
                return LitTest(os.path.normpath(os.path.join(folder, match["test"])), None)
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


def _fitting(lines: Iterable[RunLine], argv: Sequence[str]) -> RunLine | None:
    """Return the first line with the command whose words are best those of a process."""
    best, found = -1, None
    given = set(argv[1:])
    for line in lines:
        for command in _COMMAND_END.split(line.text):
            words = [word.strip("'\"") for word in command.split()]
            while words and (words[0] in _PREFIXES or "=" in words[0]):
                del words[0]
            if not words or not argv:
                continue
            tool = os.path.basename(words[0])
            if "%" not in tool and tool != os.path.basename(argv[0]):
                continue
            plain = [word for word in words[1:] if not set(word) & set("%'\"<>&{}")]
            score = sum(word in given for word in plain)
            if score == len(plain) and score > best:
                best, found = score, line
    return found
