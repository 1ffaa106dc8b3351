"""The parser of a command line: our options, then a tool or a recording."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Generic

from actiondbg.commands.interpreter.options import (
    Flag,
    Option,
    OptionsT,
    add_fields,
    fields_of,
    options_from,
)
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.magic import MAGIC, is_recording
from actiondbg.support.executables import which

SUFFIX = ".adbrec"
# Options that several subcommands have.
MlirInclude = Annotated[
    str | None, Option("--mlir-include", "DIR", help="where the headers of the tool's MLIR are")
]
NoColor = Annotated[bool, Flag("--no-color", help="no colours")]
Partial = Annotated[bool, Flag("--partial", help="read as much of a damaged recording as can be")]
Quiet = Annotated[bool, Flag("--quiet", help="say nothing when all went well", short="-q")]
_NEGATIVE = re.compile(r"-\.?[0-9]")


def names_recording(words: Sequence[str]) -> bool:
    """Return whether words, after our options, name a recording; else they are a tool's."""
    return bool(words) and (is_recording(words[0]) or words[0].endswith(SUFFIX))


def file_or_stdout(word: str) -> Path | None:
    """Return the file that an option names; None for ``-``, which is our standard output."""
    return None if word == "-" else Path(word)


class LineParser(argparse.ArgumentParser, Generic[OptionsT]):
    """The parser of our options.

    Args:
        options: their declaration.
        name: of the command, such as ``actiondbg record``.
        rest: what follows the name, for the usage.
        description: one sentence.
        epilog: examples, and what the exit status says.
    """

    def __init__(
        self, options: type[OptionsT], name: str, rest: str, description: str, epilog: str
    ) -> None:
        super().__init__(
            prog=name,
            usage=f"{name} {rest}",
            description=description,
            epilog=epilog,
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
        )
        self._options = options
        add_fields(self, fields_of(options))

    def read(self, argv: Sequence[str]) -> OptionsT:
        """Return the options, of which no other words are left."""
        return options_from(self._options, self.parse_args(argv))

    def read_intermixed(self, argv: Sequence[str]) -> OptionsT:
        """Return the options, which may stand between the arguments."""
        return options_from(self._options, self.parse_intermixed_args(argv))

    def read_around(self, argv: list[str]) -> tuple[OptionsT, list[str], bool]:
        """Parse the options of a command that takes a recording in place of a tool.

        Args:
            argv: the words behind the command.

        Returns:
            The options; the tool with its arguments, or the recording; and whether it is that.

        Raises:
            RecordingError: a file is named that is neither a recording nor a tool.
        """
        ours, words = self.split(argv)
        is_made = names_recording(words)
        if is_made:
            # It takes no arguments: what follows it are options, too.
            ours, words = [*ours, *words[1:]], words[:1]
        elif words and "--" not in argv[len(ours) : -len(words)]:
            _check_tool(words[0])
        return self.read(self._joined(ours)), words, is_made

    def split(self, argv: list[str]) -> tuple[list[str], list[str]]:
        """Split words into our options and the tool with its arguments."""
        valued = self._valued()
        position = 0
        while position < len(argv):
            word = argv[position]
            if word == "--":
                return argv[:position], argv[position + 1 :]
            if not word.startswith("-") or word == "-":
                break
            position += 2 if word in valued else 1
        return argv[:position], argv[position:]

    def _valued(self) -> set[str]:
        """Return the options that take a value."""
        return {name for one in self._actions if one.nargs != 0 for name in one.option_strings}

    def _joined(self, ours: list[str]) -> list[str]:
        """Join options to values such as -1us, of which argparse says that they are missing."""
        valued = self._valued()
        words: list[str] = []
        for word in ours:
            if words and words[-1] in valued and words[-1][:2] == "--" and _NEGATIVE.match(word):
                words[-1] += f"={word}"
            else:
                words.append(word)
        return words


def _check_tool(word: str) -> None:
    """Refuse a file that cannot be a tool: it was meant to be a recording."""
    if not os.path.exists(word) or which(word) is not None:
        return
    way_out = "name a recording, or give a tool behind '--'."
    if not os.path.isfile(word):
        kind = "a directory" if os.path.isdir(word) else "no file"
        raise RecordingError(f"{word!r} is not a recording, as it is {kind}: {way_out}")
    try:
        with open(word, "rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise RecordingError(f"{word!r} cannot be read ({error.strerror}): {way_out}") from error
    raise RecordingError(
        f"{word!r} is not a recording (it begins with {start!r}) and no program: {way_out}"
    )


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal, like its base, which imports shutil to ask for that."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80
