"""How a command is declared: its words, its arguments, its help, and what it runs.

A declaration is made once; the interpreter parses with it, the shell completes
with it, ``help`` and docs/commands.md are printed from it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from actiondbg.commands.interpreter.option_text import take_options
from actiondbg.commands.interpreter.words import split_words
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

Arguments = argparse.Namespace
Run = Callable[["Front", Arguments], Any]


@dataclass(frozen=True)
class Argument:
    """One argument: ``name`` and ``options`` as argparse takes them.

    ``complete`` says what Tab offers: breakpoint, file, command, setting, or a kind
    of names (tag, pattern, pass, op). ``words`` are the values, if it takes only some.
    ``short`` is another name of an option.
    """

    name: str
    options: dict[str, Any]
    complete: str | None = None
    words: tuple[str, ...] = ()
    short: str = ""

    @property
    def is_option(self) -> bool:
        """Whether it begins with dashes."""
        return self.name.startswith("-")

    @property
    def takes_value(self) -> bool:
        """Whether a word follows, if it is an option."""
        return "action" not in self.options or self.options["action"] == "append"


def choice(name: str, words: tuple[str, ...], summary: str, **options: Any) -> Argument:
    """Declare an argument that is one of some words, or a unique prefix of one."""

    def parse(text: str) -> str:
        matches = [word for word in words if word.startswith(text)]
        if text not in words and len(matches) != 1:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(words)}")
        return text if text in words else matches[0]

    metavar = "|".join(words)
    return Argument(
        name, {"type": parse, "metavar": metavar, "help": summary, **options}, "", words
    )


def arg(
    name: str,
    *,
    complete: str | None = None,
    words: tuple[str, ...] = (),
    short: str = "",
    **options: Any,
) -> Argument:
    """Declare an argument, with the keyword arguments of argparse's add_argument.

    Args:
        name: its name; of an option, with its dashes.
        complete: see Argument.
        words: what Tab offers, where other values are taken too.
        short: another name of an option.
        options: argparse's.
    """
    return Argument(name, options, complete, words, short)


def flag(name: str, summary: str) -> Argument:
    """Declare an option that takes no value."""
    return Argument(name, {"action": "store_true", "help": summary})


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises; it never prints and never exits."""

    def error(self, message: str) -> NoReturn:
        # argparse names the argument first; the value that is wrong says enough.
        message = re.sub(r"^argument \S+: ", "", message)
        raise UsageError(f"{self.prog}: {message}; its usage is: {_usage_of(self)}.")


def _usage_of(parser: argparse.ArgumentParser) -> str:
    return " ".join(parser.format_usage().removeprefix("usage: ").split())


@dataclass(frozen=True)
class Command:
    """A declared command; made by the decorator ``command``."""

    name: str
    category: str
    summary: str  # one sentence, which says what the command does
    example: str
    arguments: tuple[Argument, ...]
    run: Run
    raw: str | None = None  # what the unparsed text is, for the usage; None: words
    needs_text: bool = False  # raw only: an empty text is an error
    complete: str | None = None  # raw only: what Tab offers in the text
    aliases: tuple[str, ...] = ()
    repeats: bool = False  # Enter on an empty line does it again
    redirects: bool = True  # > >> and | are the interpreter's
    needs_tool: str = ""  # what it does that cannot be done in a recording, in words
    shows_ir: bool = False  # over a recording: if that holds IR
    subjects: dict[str, Command] = field(default_factory=dict[str, "Command"])  # by first word

    @property
    def takes_ids(self) -> bool:
        """Whether an argument is a breakpoint's number, or several."""
        kinds = (self.complete, *(argument.complete for argument in self.arguments))
        return "breakpoint" in kinds

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the arguments; of a raw command, of its options only."""
        parser = _Parser(prog=self.name, add_help=False, allow_abbrev=False)
        for argument in self.arguments:
            names = [argument.short] if argument.short else []
            parser.add_argument(*names, argument.name, **argument.options)
        return parser

    def usage(self) -> str:
        """Return the usage in one line, such as ``step [N]``."""
        if self.subjects and not self.arguments:
            return f"{self.name} {'|'.join(self.subjects)}"
        usage = _usage_of(self.parser())
        return f"{usage} {self.raw}".rstrip() if self.raw is not None else usage

    def parse(self, text: str) -> Arguments:
        """Parse what stands after the command's name.

        Raises:
            UsageError: it does not fit the declaration.
        """
        if self.raw is None:
            return self.parser().parse_args([word.text for word in split_words(text)])
        options, text = take_options(text, {a.name: a.takes_value for a in self.arguments})
        if self.needs_text and not text:
            raise UsageError(f"{self.name} needs more words; its usage is: {self.usage()}.")
        if self.arguments and text.startswith("--"):
            raise UsageError(
                f"{self.name}: {text.split()[0]!r} is no option, or its value is missing; "
                f"its usage is: {self.usage()}."
            )
        arguments = self.parser().parse_args(options)
        arguments.text = text
        return arguments

    def resolve(self, text: str) -> tuple[Command, str]:
        """Return the command of the first word's subject, if there are subjects, and the rest.

        A command that takes words of its own takes those that are no subject.

        Raises:
            UsageError: the word is no subject, nor a unique prefix of one.
        """
        if not self.subjects:
            return self, text
        word, rest = [*text.split(maxsplit=1), "", ""][:2]
        matches = [name for name in self.subjects if name.startswith(word)]
        if word in self.subjects:
            matches = [word]
        if len(matches) == 1 and word:
            return self.subjects[matches[0]], rest
        if self.arguments:
            return self, text
        if not word:
            raise UsageError(f"{self.name} needs more words; its usage is: {self.usage()}.")
        if matches:
            raise UsageError(
                f"{self.name} {word!r} is ambiguous: it could be {', '.join(matches)}."
            )
        raise UsageError(f"{self.name}: {word!r} is none of {', '.join(self.subjects)}.")


COMMANDS: dict[str, Command] = {}
CATEGORIES: list[str] = []  # in the order in which help prints them


def command(
    name: str, category: str, summary: str, example: str, *arguments: Argument, **options: Any
) -> Callable[[Run], Run]:
    """Declare the decorated function as a command; see Command for the options."""

    def declare(run: Run) -> Run:
        if category not in CATEGORIES:
            CATEGORIES.append(category)
        if "raw" in options:
            options.setdefault("redirects", False)
        COMMANDS[name] = Command(name, category, summary, example, arguments, run, **options)
        return run

    return declare


def subject(
    of: str, name: str, summary: str, example: str, *arguments: Argument, **options: Any
) -> Callable[[Run], Run]:
    """Declare the decorated function as what command ``of`` does with the first word ``name``."""

    def declare(run: Run) -> Run:
        parent = COMMANDS[of]
        full_name = f"{of} {name}"
        found = Command(full_name, parent.category, summary, example, arguments, run, **options)
        parent.subjects[name] = found
        return run

    return declare


def count_argument(what: str = "how often") -> Argument:
    """Declare the optional count of a control: a number from 1."""
    return arg("count", nargs="?", type=positive, default=1, metavar="N", help=what)


def positive(text: str) -> int:
    """Parse a number from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def index(text: str) -> int:
    """Parse a number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return int(text)


def operation_id(text: str) -> int:
    """Parse an operation's id, a number from 1 with or without its @."""
    digits = text.removeprefix("@")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an operation's id, such as @12")
    return int(digits)


def ordinal(text: str) -> int:
    """Parse an action's ordinal, a number from 1 with or without its #."""
    digits = text.removeprefix("#")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an ordinal, such as #17")
    return int(digits)
