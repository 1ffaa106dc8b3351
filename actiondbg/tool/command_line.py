"""The files that the tool's command line names: inputs and the output."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_OUTPUTS = ("-o", "--o")
_CHUNK = 1 << 20  # bytes


class CommandLine(NamedTuple):
    """The files of a tool's command line.

    Attributes:
        argv: the command line.
        output: the index of the word that names the output file, or None for stdout.
        files: the existing files that are named, in order.
        inputs: those that are not the value of an option.
        input: the only input; None if there are none or several.
        reads_stdin: whether the tool reads its standard input.
    """

    argv: list[str]
    output: int | None
    files: list[Path]
    inputs: list[Path]
    input: Path | None
    reads_stdin: bool

    def with_output(self, path: Path) -> list[str]:
        """Return the command line with another output file; the same if it names none."""
        words = list(self.argv)
        if self.output is not None:
            word = words[self.output]
            option = word.partition("=")[0]
            words[self.output] = f"{option}={path}" if option in _OUTPUTS else str(path)
        return words

    def with_input(self, path: Path) -> list[str]:
        """Return the command line with another input; the same if the input is not known."""
        given = None if self.input is None else str(self.input)
        return [str(path) if word == given else word for word in self.argv]


def inspect_command_line(argv: list[str], cwd: Path | None = None) -> CommandLine:
    """Find the files of a command line; ``cwd`` is its working directory, None for this one."""
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
        inputs=inputs,
        input=inputs[0] if len(inputs) == 1 else None,
        reads_stdin=not inputs or "-" in argv[1:],
    )


def is_split(argv: Sequence[str]) -> bool:
    """Whether the tool compiles several parts of its input one after the other."""
    return any(word.lstrip("-").partition("=")[0] == "split-input-file" for word in argv)


def copy_stdin(folder: Path) -> Path | None:
    """Copy our standard input to a file, which each of several runs reads anew.

    Returns:
        The file; None if there is no standard input, or if it is a terminal.
    """
    if sys.__stdin__ is None or sys.__stdin__.isatty():
        return None
    file = folder / "stdin"
    with open(sys.__stdin__.fileno(), "rb", closefd=False) as source, file.open("wb") as target:
        shutil.copyfileobj(source, target)
    return file


def digest_of_files(files: list[Path], cwd: Path | None = None) -> str:
    """Return a digest of the names and contents of files."""
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
    """Return whether a path is a file; False if it is too long for a path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
