"""Names that the user defines for command lines: aliases, and macros with arguments."""

from __future__ import annotations

import re

from actiondbg.commands.interpreter.declaration import CommandTable
from actiondbg.commands.interpreter.words import split_words
from actiondbg.commands.render.status import Alias, AliasKind
from actiondbg.errors import UsageError
from actiondbg.support.counts import counted

_NAME = re.compile(r"[^\W\d][\w.+-]*")
_PLACE = re.compile(r"(?<!\{)\{(\d+)\}(?!\})")
_ESCAPED = re.compile(r"\{(\{\d+\})\}")


class AliasTable:
    """The aliases and macros of an interpreter, by name.

    Attributes:
        lines: the command line of each name.
    """

    def __init__(self, commands: CommandTable) -> None:
        self._commands = commands
        self.lines: dict[str, str] = {}
        self._all: dict[str, Alias] = {}

    def get(self, name: str) -> Alias | None:
        return self._all.get(name)

    def all(self, kind: AliasKind) -> list[Alias]:
        return [self._all[name] for name in sorted(self._all) if self._all[name].kind == kind]

    def define(self, kind: AliasKind, text: str) -> Alias:
        """Define a name, or define it anew.

        Args:
            text: the name, and the command line after a blank.

        Raises:
            UsageError: the name is no word or a command's, or the line is missing, has wrong places
                or begins with no command.
        """
        name, _, line = text.partition(" ")
        line = line.strip()
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be a name: give a word of letters and digits.")
        if name in self._commands:
            raise UsageError(f"{name!r} is a command: choose another name.")
        if not line:
            raise UsageError(f"{kind} create: the command line of {name!r} is missing.")
        places = {int(number) for number in _PLACE.findall(line)} if kind == "macro" else set[int]()
        if places != set(range(1, len(places) + 1)):
            raise UsageError(f"The places of a macro are numbered {{1}}, {{2}}, ...: {line!r}.")
        command, _ = self.target(line)
        if not _PLACE.match(command):  # which the first argument gives
            self._commands.find(command)
        self._all[name] = Alias(kind, name, line)
        self.lines[name] = line
        return self._all[name]

    def delete(self, kind: AliasKind, names: tuple[str, ...]) -> None:
        """Delete aliases or macros by name.

        Raises:
            UsageError: a name is not defined; none is deleted then.
        """
        for name in names:
            if name not in self._all or self._all[name].kind != kind:
                raise UsageError(f"There is no {kind} {name!r}: '{kind} list' shows them.")
        for name in set(names):
            del self._all[name], self.lines[name]

    def target(self, line: str) -> tuple[str, str]:
        """Return the command that a line begins with, and the text after it, places unfilled."""
        word, _, text = line.partition(" ")
        used: set[str] = set()
        while word in self._all and word not in used:
            used.add(word)
            word, _, text = f"{self._all[word].line} {text}".partition(" ")
        return word, text.strip()

    def expand(self, word: str, text: str) -> tuple[str, str]:
        """Expand an alias or a macro, and those in its line, each once, to a word and the text.

        Raises:
            UsageError: a macro lacks arguments.
        """
        used: set[str] = set()
        while word in self._all and word not in used:
            used.add(word)
            word, _, text = _filled(self._all[word], text).partition(" ")
        return word, text.strip()


def _filled(alias: Alias, text: str) -> str:
    """Return the line of an alias with its arguments; further ones follow the line."""
    if alias.kind == "alias":
        return f"{alias.line} {text}".strip()
    needed = max((int(number) for number in _PLACE.findall(alias.line)), default=0)
    starts = [word.start for word in split_words(text)]
    if len(starts) < needed:
        raise UsageError(
            f"The macro {alias.name!r} takes {counted(needed, 'argument')}, got "
            f"{len(starts)}: {alias.line}"
        )
    ends = [*starts[1:], len(text)]
    given = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    line = _PLACE.sub(lambda match: given[int(match[1]) - 1], alias.line)
    return " ".join([_ESCAPED.sub(r"\1", line), *given[needed:]])
