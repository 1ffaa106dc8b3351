"""Declarations of commands: name, typed options, help, function, permissions; aliases.

Parsing, completion, ``help`` and the tables of docs/commands.md derive from the declarations.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, NoReturn, TypedDict, TypeVar, Unpack, get_args

from actiondbg.commands import SUBCOMMANDS
from actiondbg.commands.interpreter.options import (
    Field,
    NoOptions,
    Options,
    add_fields,
    arguments_type,
    fields_of,
    options_from,
)
from actiondbg.commands.interpreter.words import split_words, take_options
from actiondbg.commands.render.status import Alias, AliasKind
from actiondbg.commands.render.terminal.output import Redirect
from actiondbg.errors import UsageError
from actiondbg.support.counts import counted

Permission = Literal["execute", "shell", "py", "native", "redirection"]


class Permissions(NamedTuple):
    """The permissions of a front end.

    Args:
        way_out: how to allow more, a clause in which ``{}`` is the permission.
    """

    allowed: Collection[str]
    way_out: str

    def refusal(self, permission: Permission | None, what: str) -> str | None:
        """Return why a subject that needs a permission, or none, is refused; None if it is not."""
        if permission is None or permission in self.allowed:
            return None
        return f"{what} is switched off here: {self.way_out.format(permission)}."

    def check(self, permission: Permission | None, what: str) -> None:
        """Raise UsageError if something is refused; see ``refusal``."""
        refused = self.refusal(permission, what)
        if refused is not None:
            raise UsageError(refused)


UNRESTRICTED = Permissions(get_args(Permission), "")

Run = Callable[..., object]
RunT = TypeVar("RunT", bound=Run)


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of printing and exiting."""

    def error(self, message: str) -> NoReturn:
        # The wrong value identifies the argument, which argparse names first.
        message = re.sub(r"^argument \S+: ", "", message)
        raise UsageError(f"{self.prog}: {message}; usage: {_usage_of(self)}.")


def _usage_of(parser: argparse.ArgumentParser) -> str:
    return " ".join(parser.format_usage().removeprefix("usage: ").split())


@dataclass(eq=False)
class Command:
    """A command, declared by ``Topic.command`` or ``Topic.group``.

    Attributes:
        name: one word, or two for a subcommand.
        category: the heading in help.
        run: takes the console and the options, returns a result; None for a group.
        given_summary: one sentence; by default the first paragraph of the docstring of ``run``.
        repeats: an empty line repeats the command.
        redirects: whether the interpreter parses > >> and |; by default if there is no rest.
        needs_tool: the feature that needs a running tool, as a subject; empty if none does.
        shows_ir: whether it needs a recording with IR.
        reads: whether it only reads, and changes nothing that another command sees.
        permission: what it does beside debugging, which a front end may refuse; mostly empty.
        contained: whether it uses the session alone, and no program, file or terminal: coding
            agents may run it; by default as its topic.
        abbreviates: whether a subcommand is also found by a unique prefix of its last word.
        subcommands: by their last word.
    """

    name: str
    category: str
    example: str
    run: Run | None
    given_summary: str = ""
    aliases: tuple[str, ...] = ()
    repeats: bool = False
    redirects: bool | None = None
    needs_tool: str = ""
    shows_ir: bool = False
    reads: bool = False
    permission: Permission | None = None
    contained: bool = False
    abbreviates: bool = True
    subcommands: dict[str, Command] = field(default_factory=dict[str, "Command"])

    @property
    def summary(self) -> str:
        """Return the description of the command in one sentence."""
        paragraph = ((self.run and self.run.__doc__) or "").partition("\n\n")[0]
        return self.given_summary or " ".join(paragraph.split())

    @cached_property
    def options(self) -> type[Options]:
        return NoOptions if self.run is None else arguments_type(self.run)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the declared options and arguments, except a rest."""
        return tuple(each for each in fields_of(self.options) if each.kind != "rest")

    @property
    def rest(self) -> Field | None:
        return next((each for each in fields_of(self.options) if each.kind == "rest"), None)

    @property
    def takes_redirects(self) -> bool:
        """Whether the interpreter parses > >> and |."""
        return self.rest is None if self.redirects is None else self.redirects

    def splits_redirect(self, text: str) -> bool:
        """Whether the interpreter parses > >> and | in a text: not in a condition."""
        is_condition = self.rest is not None and re.search(r"\sif\s", text)
        return self.takes_redirects and not is_condition

    def call(self, console: object, options: Options) -> object:
        """Run the command; ``resolve`` never returns a group, which has no function."""
        return None if self.run is None else self.run(console, options)

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the options and arguments, except a rest."""
        parser = _Parser(prog=self.name, add_help=False, allow_abbrev=False)
        add_fields(parser, self.fields)
        return parser

    def usage(self) -> str:
        """Return the usage in one line, such as ``step [N]``."""
        if self.subcommands and not self.fields:
            return f"{self.name} {'|'.join(self.subcommands)}"
        usage = _usage_of(self.parser())
        return usage if self.rest is None else f"{usage} {self.rest.metavar}".rstrip()

    def parse(self, text: str) -> Options:
        """Parse the text after the command name.

        Raises:
            UsageError: the text does not match the declaration.
        """
        rest = self.rest
        if rest is None:
            words = [word.text for word in split_words(text)]
            return options_from(self.options, self.parser().parse_args(words))
        names = {name: each.takes_value for each in self.fields for name in each.names}
        words, text = take_options(text, names)
        if rest.required and not text:
            way = f"; 'help {self.name}' lists the forms" if rest.forms() else ""
            raise UsageError(f"{self.name}: an argument is missing; usage: {self.usage()}{way}.")
        if self.fields and text.startswith("--"):
            raise UsageError(
                f"{self.name}: {text.split()[0]!r} is not an option, or its value is missing; "
                f"usage: {self.usage()}."
            )
        namespace = self.parser().parse_args(words)
        return options_from(self.options, namespace, **{rest.name: text})

    def subcommand(self, text: str) -> Command | None:
        """Return the subcommand named by the first word or a unique prefix of it; else None."""
        word = text.partition(" ")[0]
        matches = [
            name
            for name, each in self.subcommands.items()
            if word and name.startswith(word) and each.abbreviates
        ]
        name = word if word in self.subcommands else matches[0] if len(matches) == 1 else ""
        return self.subcommands.get(name)

    def resolve(self, text: str) -> tuple[Command, str]:
        """Return the subcommand named by the first word, and the remaining text.

        A command with arguments of its own returns itself if no subcommand matches.

        Raises:
            UsageError: the word is neither a subcommand nor a unique prefix of one.
        """
        if not self.subcommands:
            return self, text
        word, rest = [*text.split(maxsplit=1), "", ""][:2]
        if (found := self.subcommand(word)) is not None:
            return found, rest
        if self.fields:
            return self, text
        if not word:
            choice = ", ".join(self.subcommands)
            raise UsageError(f"{self.name}: the subcommand is missing: give one of {choice}.")
        matches = [name for name in self.subcommands if name.startswith(word)]
        if matches:
            raise UsageError(
                f"{self.name} {word!r} is ambiguous: it could be {', '.join(matches)}."
            )
        raise UsageError(
            f"{self.name}: there is no subcommand {word!r}; the subcommands are "
            f"{', '.join(self.subcommands)}."
        )


@dataclass
class Parsed:
    """A parsed command line."""

    command: Command
    options: Options
    redirect: Redirect | None


class Traits(TypedDict, total=False):
    """What few commands have; see ``Command``."""

    aliases: tuple[str, ...]
    repeats: bool
    redirects: bool
    needs_tool: str
    shows_ir: bool
    reads: bool
    permission: Permission
    contained: bool
    abbreviates: bool


class Topic:
    """The commands of a module, in the order of help; topics may share a category, its heading.

    Args:
        contained: whether its commands use the session alone: but those with a permission, or that
            say otherwise.
    """

    def __init__(self, category: str, *, contained: bool = False) -> None:
        self.category = category
        self._contained = contained
        self.commands: list[Command] = []

    def command(
        self, name: str, *, example: str = "", **traits: Unpack[Traits]
    ) -> Callable[[RunT], RunT]:
        """Declare the decorated function as a command; a subcommand has two words.

        The command of a subcommand may belong to another topic; help lists both together. The
        example is by default the name alone.
        """

        traits.setdefault("contained", self._contained and "permission" not in traits)

        def declare(run: RunT) -> RunT:
            self.commands.append(Command(name, self.category, example or name, run, **traits))
            return run

        return declare

    def group(self, name: str, summary: str, *, example: str, **traits: Unpack[Traits]) -> None:
        """Declare a command that requires a subcommand."""
        self.commands.append(Command(name, self.category, example, None, summary, **traits))


class CommandTable:
    """All commands, by name, in the order of help."""

    def __init__(self, topics: Iterable[Topic]) -> None:
        declared = [each for topic in topics for each in topic.commands]
        self._commands = {each.name: each for each in declared if " " not in each.name}
        for each in declared:
            of, _, last = each.name.partition(" ")
            if last:
                each.category = self._commands[of].category
                self._commands[of].subcommands[last] = each
        self._aliases = {alias: each for each in self for alias in each.aliases}

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    @property
    def names(self) -> list[str]:
        """Return the full names, in the order of the declarations."""
        return list(self._commands)

    def __getitem__(self, name: str) -> Command:
        return self._commands[name]

    def __contains__(self, name: object) -> bool:
        """Whether a word is a command's name or one of its aliases."""
        return name in self._commands or name in self._aliases

    def get(self, name: str) -> Command | None:
        return self._commands.get(name)

    def categories(self) -> dict[str, list[Command]]:
        """Return the commands, each followed by its subcommands, by category."""
        found: dict[str, list[Command]] = {}
        for each in self:
            found.setdefault(each.category, []).extend((each, *each.subcommands.values()))
        return found

    def find(self, word: str) -> Command:
        """Return the command with a name, an alias or a unique prefix.

        Raises:
            UsageError: no command or several match.
        """
        found = self._commands.get(word) or self._aliases.get(word)
        if found is not None:
            return found
        matches = [name for name in self._commands if name.startswith(word)]
        if len(matches) == 1:
            return self._commands[matches[0]]
        if matches:
            raise UsageError(f"{word!r} is ambiguous: it could be {', '.join(sorted(matches))}.")
        if word in SUBCOMMANDS:
            raise UsageError(
                f"{word!r} is not a command of the shell, but a subcommand of actiondbg: type "
                f"'actiondbg {word} ...' in another terminal."
            )
        close = difflib.get_close_matches(word, self._commands, n=1)
        way_out = f"did you mean {close[0]!r}?" if close else "'help' lists the commands."
        raise UsageError(f"There is no command {word!r}: {way_out}")


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
