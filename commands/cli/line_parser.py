"""The parser of command lines: options of actiondbg, then a tool or a recording."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Generic

from actiondbg.commands.interpreter.options import (
    OptionsT,
    add_fields,
    fields_of,
    flag,
    option,
    options_from,
)
from actiondbg.commands.interpreter.values import capability
from actiondbg.errors import UsageError
from actiondbg.recording.errors import RecordingError
from actiondbg.support.executables import which
from actiondbg.support.recording_file import MAGIC, is_recording

SUFFIX = ".adbrec"
# Options of several subcommands.
Follow = Annotated[
    str | None,
    option(
        "--follow",
        "GLOB",
        help="of a program that starts tools: only processes with this name or word of the command",
    ),
]
NoColor = Annotated[bool, flag("--no-color", help="do not use colours")]
Partial = Annotated[bool, flag("--partial", help="read a damaged recording up to the damage")]
Quiet = Annotated[bool, flag("-q", "--quiet", help="print nothing on success")]
Randomize = Annotated[
    bool,
    flag("--randomize", help="randomise the tool's addresses; by default each run has the same"),
]
Skip = Annotated[
    tuple[str, ...],
    option("--skip", "SPEC", help="skip every action that matches SPEC; may be repeated"),
]
Without = Annotated[
    tuple[str, ...],
    option(
        "--without",
        "CAPABILITY",
        help="switch a capability of the agent off, see actiondbg doctor; may be repeated",
        parse=capability,
    ),
]
_NEGATIVE = re.compile(r"-\.?[0-9]")


def names_recording(words: Sequence[str]) -> bool:
    """Whether words name a recording rather than a tool with its arguments."""
    return bool(words) and (is_recording(words[0]) or words[0].endswith(SUFFIX))


def file_or_stdout(word: str) -> Path | None:
    """Return the file given to an option; None for ``-``, the standard output."""
    return None if word == "-" else Path(word)


class LineParser(argparse.ArgumentParser, Generic[OptionsT]):
    """The parser of the options of actiondbg; ``subcommand`` describes its arguments."""

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
        """Return the options of a command line without a tool."""
        return options_from(self._options, self.parse_args(argv))

    def read_intermixed(self, argv: Sequence[str]) -> OptionsT:
        """Return the options of a command line that mixes options and arguments."""
        return options_from(self._options, self.parse_intermixed_args(argv))

    def read_with_target(self, argv: list[str]) -> tuple[OptionsT, list[str], bool]:
        """Parse the command line of a subcommand that accepts a tool or a recording.

        Returns:
            The options; the tool with its arguments, or the recording; whether it is a recording.

        Raises:
            RecordingError: the target is neither a recording nor a program.
        """
        ours, words = self.split(argv)
        recorded = names_recording(words)
        if recorded:
            # A recording has no arguments: further words are options.
            self._check_options(words[1:])
            ours, words = [*ours, *words[1:]], words[:1]
        elif words and "--" not in argv[len(ours) : -len(words)]:
            _check_tool(words[0])
        return self.read(self._joined(ours)), words, recorded

    def need_target(self, words: Sequence[str], way: str = "[options] -- TOOL ARGS...") -> None:
        """Report a tool or a recording that is missing, with a way to give it."""
        if not words:
            self.error(f"the tool or recording is missing: {self.prog} {way}")

    def split(self, argv: list[str]) -> tuple[list[str], list[str]]:
        """Split words into options and the tool with its arguments."""
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

    def _check_options(self, words: list[str]) -> None:
        """Report a word after a recording that is no option, as the parser's own errors."""
        _, rest = self.split(words)
        if not rest or rest[0].startswith("-"):
            return
        is_filtered = any("--filter" in one.option_strings for one in self._actions)
        advice = f": select actions with --filter {shlex.quote(rest[0])}" if is_filtered else ""
        self.error(f"{rest[0]!r} after the recording is not an option{advice}")

    def _valued(self) -> set[str]:
        return {name for one in self._actions if one.nargs != 0 for name in one.option_strings}

    def _joined(self, ours: list[str]) -> list[str]:
        """Join options and values such as -1us, which argparse would take for options."""
        valued = self._valued()
        words: list[str] = []
        for word in ours:
            if words and words[-1] in valued and words[-1][:2] == "--" and _NEGATIVE.match(word):
                words[-1] += f"={word}"
            else:
                words.append(word)
        return words


class Subcommand(Generic[OptionsT]):
    """A subcommand: the declaration of its command line, and the function that runs it."""

    # No dataclass: dataclasses takes time to import.
    def __init__(
        self, name: str, rest: str, options: type[OptionsT], epilog: str, work: _Work[OptionsT]
    ) -> None:
        self.name, self.rest, self.epilog = name, rest, epilog
        self.options, self.work = options, work

    def build_parser(self) -> LineParser[OptionsT]:
        name = f"actiondbg {self.name}".rstrip()
        about = " ".join((self.work.__doc__ or "").split())
        return LineParser(self.options, name, self.rest, about, self.epilog)

    def __call__(self, argv: list[str]) -> int:
        """Run the command line after the subcommand's name; return the exit code.

        Raises:
            ActiondbgError: the subcommand failed.
        """
        return self.work(self.build_parser(), argv)


_Work = Callable[[LineParser[OptionsT], list[str]], int]


def subcommand(
    name: str, rest: str, options: type[OptionsT], epilog: str
) -> Callable[[_Work[OptionsT]], Subcommand[OptionsT]]:
    """Declare a subcommand; the docstring of its function is the description in the help.

    Args:
        name: the words after ``actiondbg``.
        rest: the text after the name in the usage line.
    """
    return lambda work: Subcommand(name, rest, options, epilog, work)


def group_epilog(group: str, commands: Mapping[str, str], page: str) -> str:
    """Return the epilog of a group of commands: the name of each, with what it does."""
    width = max(map(len, commands)) + 2
    lines = "\n".join(f"  {name:{width}}{what}" for name, what in commands.items())
    return (
        f"commands:\n{lines}\n\nactiondbg {group} COMMAND --help describes each; so does {page}.\n"
    )


def run_group(
    parser: argparse.ArgumentParser, argv: Sequence[str], group: str, commands: Mapping[str, str]
) -> int:
    """Run a group without one of its commands: print the help, or raise UsageError."""
    if not argv or argv[0] in ("-h", "--help"):
        parser.print_help(sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    raise UsageError(f"There is no command '{group} {argv[0]}'; there are {', '.join(commands)}.")


def _check_tool(word: str) -> None:
    """Raise RecordingError for a file that is not a program: it was meant as a recording."""
    if not os.path.exists(word) or which(word) is not None:
        return
    way_out = "name a recording, or a tool after '--'."
    if not os.path.isfile(word):
        kind = "a directory" if os.path.isdir(word) else "not a regular file"
        raise RecordingError(f"{word!r} is {kind}: {way_out}")
    try:
        with open(word, "rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise RecordingError(f"{word!r} cannot be read ({error.strerror}): {way_out}") from error
    raise RecordingError(
        f"{word!r} is neither a recording (it begins with {start!r}) nor a program: {way_out}"
    )


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """A formatter as wide as the terminal; its base imports shutil to find the width."""

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
