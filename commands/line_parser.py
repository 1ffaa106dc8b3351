"""The parser of a command line: our options, then a tool or a recording."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from actiondbg.recording.kind import is_recording

SUFFIX = ".adbrec"
_SHARED: dict[str, dict[str, Any]] = {
    "--mlir-include": {"metavar": "DIR", "help": "where the headers of the tool's MLIR are"},
    "--no-color": {"action": "store_true", "help": "no colours"},
    "--partial": {
        "action": "store_true",
        "help": "read as much of a damaged recording as can be",
    },
    "--quiet": {"action": "store_true", "help": "say nothing when all went well"},
}
_SHORT = {"--quiet": "-q"}


def names_recording(words: Sequence[str]) -> bool:
    """Return whether words, after our options, name a recording; else they are a tool's."""
    return bool(words) and (is_recording(words[0]) or words[0].endswith(SUFFIX))


class LineParser(argparse.ArgumentParser):
    """The parser of our options.

    Args:
        name: of the command, such as ``actiondbg record``.
        rest: what follows the name, for the usage.
        description: one sentence.
        epilog: examples, and what the exit status says.
    """

    def __init__(self, name: str, rest: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=name,
            usage=f"{name} {rest}",
            description=description,
            epilog=epilog,
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
        )

    def add_shared(self, *names: str) -> None:
        """Add options that several commands have."""
        for name in names:
            flags = [_SHORT[name], name] if name in _SHORT else [name]
            self.add_argument(*flags, **_SHARED[name])

    def parse_around(self, argv: list[str]) -> tuple[argparse.Namespace, list[str], bool]:
        """Parse the options of a command that takes a recording in place of a tool.

        Args:
            argv: the words behind the command.

        Returns:
            The options; the tool with its arguments, or the recording; and whether it is that.
        """
        ours, words = self.split(argv)
        is_made = names_recording(words)
        if is_made:
            # It takes no arguments: what follows it are options, too.
            ours, words = [*ours, *words[1:]], words[:1]
        return self.parse_args(ours), words, is_made

    def split(self, argv: list[str]) -> tuple[list[str], list[str]]:
        """Split words into our options and the tool with its arguments."""
        valued = {name for one in self._actions if one.nargs != 0 for name in one.option_strings}
        position = 0
        while position < len(argv):
            word = argv[position]
            if word == "--":
                return argv[:position], argv[position + 1 :]
            if not word.startswith("-") or word == "-":
                break
            position += 2 if word in valued else 1
        return argv[:position], argv[position:]


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
