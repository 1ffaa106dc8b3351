"""Completion of arguments, from the declarations of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.commands.interpreter.completers import Typed, matching
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.interpreter.declaration import Command
    from actiondbg.commands.interpreter.options import Field


def candidates(
    console: Console, command: Command, before: list[str], word: str
) -> list[str] | None:
    """Return the completions of a word, up to the text cursor; None: complete a file name."""
    typed = Typed(console, before, word)
    if command.subcommands and (before or not command.fields):
        return _complete_subcommand(command, typed)
    if command.subcommands:
        return (_complete_arguments(command, typed) or []) + matching(command.subcommands, word)
    return _complete_arguments(command, typed)


def _complete_subcommand(command: Command, typed: Typed) -> list[str] | None:
    if not typed.before:
        return matching(command.subcommands, typed.word)
    try:
        found, _ = command.resolve(typed.before[0])
    except UsageError:
        return []
    if found is command:
        return _complete_arguments(command, typed)
    return candidates(typed.console, found, typed.before[1:], typed.word)


def _complete_arguments(command: Command, typed: Typed) -> list[str] | None:
    """Complete the options and the arguments of a command itself."""
    options = {each.option: each for each in command.fields if each.is_option}
    previous = options.get(typed.before[-1]) if typed.before else None
    if previous is not None and previous.takes_value:
        return _complete_field(previous, typed)
    if typed.word.startswith("-") and options:
        return matching(options, typed.word)
    if command.rest is not None:
        return command.rest.complete(typed) if command.rest.complete else []
    positional = [each for each in command.fields if not each.is_option]
    if not positional:
        return []
    return _complete_field(positional[min(_position(command, typed), len(positional) - 1)], typed)


def _complete_field(field: Field, typed: Typed) -> list[str] | None:
    """Complete the value of a field; in a comma-separated list, its last element."""
    if not field.offered:
        return field.complete(typed) if field.complete else []
    done, comma, _ = typed.word.rpartition(",")
    return matching([f"{done}{comma}{each}" for each in field.offered], typed.word)


def _position(command: Command, typed: Typed) -> int:
    """Return the number of positional words before the word to complete."""
    valued = {each.option for each in command.fields if each.takes_value}
    position = 0
    for previous, current in zip(["", *typed.before], typed.before, strict=False):
        position += not current.startswith("-") and previous not in valued
    return position
