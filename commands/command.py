"""How a command is declared: its words, its arguments, its help, and what it runs.

A declaration is made once; the interpreter parses with it, the shell completes
with it, ``help`` and docs/commands.md are printed from it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from actiondbg.commands.words import split_words
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.front import Front

Arguments = argparse.Namespace
Run = Callable[["Front", Arguments], Any]


@dataclass(frozen=True)
class Argument:
    """One argument: ``name`` and ``options`` as argparse takes them.

    ``complete`` says what Tab offers: breakpoint, file, command, setting, or a kind
    of names (tag, pattern, pass, op). ``words`` are the values, if it takes only some.
    """

    name: str
    options: dict[str, Any]
    complete: str | None = None
    words: tuple[str, ...] = ()


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


def arg(name: str, *, complete: str | None = None, **options: Any) -> Argument:
    """Declare an argument, with the keyword arguments of argparse's add_argument."""
    return Argument(name, options, complete)


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

    @property
    def takes_ids(self) -> bool:
        """Whether an argument is a breakpoint's number, or several."""
        kinds = (self.complete, *(argument.complete for argument in self.arguments))
        return "breakpoint" in kinds

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the arguments; of a raw command, of its options only."""
        parser = _Parser(prog=self.name, add_help=False, allow_abbrev=False)
        for argument in self.arguments:
            parser.add_argument(argument.name, **argument.options)
        return parser

    def usage(self) -> str:
        """Return the usage in one line, such as ``step [N]``."""
        usage = _usage_of(self.parser())
        return f"{usage} {self.raw}".rstrip() if self.raw is not None else usage

    def parse(self, text: str) -> Arguments:
        """Parse what stands after the command's name.

        Raises:
            UsageError: it does not fit the declaration.
        """
        if self.raw is None:
            return self.parser().parse_args([word.text for word in split_words(text)])
        options, text = self._split_options(text)
        if self.needs_text and not text:
            raise UsageError(f"{self.name} needs more words; its usage is: {self.usage()}.")
        arguments = self.parser().parse_args(options)
        arguments.text = text
        return arguments

    def _split_options(self, text: str) -> tuple[list[str], str]:
        """Take the options off either end of a raw text; its inside is not looked at."""
        text = text.strip()
        options: list[str] = []
        names = {argument.name for argument in self.arguments}
        while names:
            first, _, after = text.partition(" ")
            before, _, last = text.rpartition(" ")
            if first in names:
                options.append(first)
                text = after.strip()
            elif last in names:
                options.append(last)
                text = before.strip()
            else:
                break
        return options, text


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
