"""The tool's command line: what it reads, and where it writes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_OUTPUTS = ("-o", "--o")
_CHUNK = 1 << 20  # bytes


class CommandLine(NamedTuple):
    """A tool's command line, looked at.

    Attributes:
        argv: as it was given.
        output: the index of the word that holds the output file, or None for stdout.
        files: the words that name files that are there, in order.
        input: the one that is not the value of an option; None if there is none, or several.
        reads_stdin: whether it reads its standard input.
    """

    argv: list[str]
    output: int | None
    files: list[Path]
    input: Path | None
    reads_stdin: bool

    def with_output(self, path: Path) -> list[str]:
        """Return the command line with another output file, if it has one."""
        words = list(self.argv)
        if self.output is not None:
            word = words[self.output]
            option = word.partition("=")[0]
            words[self.output] = f"{option}={path}" if option in _OUTPUTS else str(path)
        return words

    def with_input(self, path: Path) -> list[str]:
        """Return the command line with another input; the same if that is not known."""
        given = None if self.input is None else str(self.input)
        return [str(path) if word == given else word for word in self.argv]


def look_at(argv: list[str], cwd: Path | None = None) -> CommandLine:
    """Look at a tool's command line; ``cwd`` is where it runs, None for here."""
    folder = cwd or Path.cwd()
    output, taken = _output(argv), set[int]()
    if output is not None:
        taken = {output, output - 1} if argv[output - 1] in _OUTPUTS else {output}
    files: list[Path] = []
    inputs: list[Path] = []
    for index, word in enumerate(argv):
        if index == 0 or index in taken:
            continue
        value = word.partition("=")[2] if word.startswith("-") else word
        if value and is_file(folder / value):
            files.append(Path(value))
            if not word.startswith("-"):
                inputs.append(Path(value))
    return CommandLine(
        argv=argv,
        output=None if output is not None and _value(argv[output]) == "-" else output,
        files=files,
        input=inputs[0] if len(inputs) == 1 else None,
        reads_stdin=not inputs or "-" in argv[1:],
    )


def digest(files: list[Path], cwd: Path | None = None) -> str:
    """Return a digest of the contents of files."""
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file}\0".encode())
        for chunk in _chunks((cwd or Path.cwd()) / file):
            total.update(chunk)
    return total.hexdigest()


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _output(argv: list[str]) -> int | None:
    found = None
    for index, word in enumerate(argv):
        if word in _OUTPUTS and index + 1 < len(argv):
            found = index + 1
        elif word.partition("=")[0] in _OUTPUTS and "=" in word:
            found = index
    return found


def _value(word: str) -> str:
    option, equals, value = word.partition("=")
    return value if equals and option in _OUTPUTS else word


def is_file(path: Path) -> bool:
    """Tell whether there is such a file; a word may be too long for one."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
