"""The declarations of options: parsing, help, and the types of values."""

from __future__ import annotations

import argparse
import re
import typing
from pathlib import Path
from typing import Annotated, Literal

import pytest

from actiondbg import cli
from actiondbg.commands.cli import debug
from actiondbg.commands.cli.line_parser import LineParser
from actiondbg.commands.interpreter import values
from actiondbg.commands.interpreter.declaration import Command
from actiondbg.commands.interpreter.options import (
    Field,
    Options,
    add_fields,
    fields_of,
    flag,
    option,
    option_words,
    options_from,
    positional,
)
from actiondbg.commands.render import renderer
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.errors import UsageError

EVERY_COMMAND = [one for each in COMMANDS for one in (each, *each.subcommands.values())]


class Example(Options):
    """One field of each kind."""

    first: int = positional("N", help="a number", parse=values.positive)
    rest: tuple[str, ...] = positional("WORD", help="words")
    level: Literal["low", "high"] = option(default="low", help="a level", prefix=True)
    kind: Literal["one", "two"] | None = option(help="a kind")
    steps: Annotated[
        tuple[str, ...],
        option("--step", "STEP", help="a step"),
        flag("--big", help="a big step", value="big"),
    ] = ()
    loud: bool = flag("-l", "--loud", help="louder")
    out_dir: Path | None = option("DIR", help="a folder")


class Derived(Example):
    """A subclass with another field and another default."""

    loud: bool = flag(help="louder")
    extra: str | None = option("X", help="more")


def _parse(*words: str) -> Example:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_fields(parser, fields_of(Example))
    return options_from(Example, parser.parse_args(words))


def test_words_of_options_give_the_same_options() -> None:
    words = ["-l", "--level", "low", "--kind", "two", "--step", "x", "--big", "--out-dir", "out"]
    again = ["--kind", "two", "--step", "x", "--step", "big", "--loud", "--out-dir", "out"]
    options = _parse("3", *words)
    assert option_words(options, without=()) == again
    assert vars(_parse("3", *again)) == vars(options)
    assert option_words(options, without=("kind", "steps")) == ["--loud", "--out-dir", "out"]
    dashed = option_words(_parse("3", "--out-dir=-a"), without=())
    assert dashed == ["--out-dir=-a"]
    assert _parse("3", *dashed).out_dir == Path("-a")


def test_words_become_typed_fields() -> None:
    found = _parse("3", "a", "b", "--level", "h", "--kind", "two", "-l")
    assert (found.first, found.rest, found.level, found.kind) == (3, ("a", "b"), "high", "two")
    assert found.loud is True


def test_name_and_parser_of_an_option_follow_from_the_field() -> None:
    assert _parse("1", "--out-dir", "a").out_dir == Path("a")
    assert _parse("1").out_dir is None


def test_fields_have_their_defaults() -> None:
    found = _parse("1")
    assert (found.rest, found.level, found.kind, found.steps, found.loud) == (
        (),
        "low",
        None,
        (),
        False,
    )


def test_options_of_one_field_keep_their_order() -> None:
    assert _parse("1", "--step", "a", "--big", "--step", "b").steps == ("a", "big", "b")


def test_options_are_frozen() -> None:
    found = _parse("1")
    with pytest.raises(AttributeError, match="frozen: first"):
        found.first = 2  # type: ignore[misc]
    assert found.first == 1


def test_options_are_made_in_python_too() -> None:
    assert Example(first=2, loud=True).loud
    with pytest.raises(TypeError, match="first"):
        Example()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="colour"):
        Example(first=1, colour="red")  # type: ignore[call-arg]


def test_derived_options_add_fields_after_those_of_the_base() -> None:
    assert [field.name for field in fields_of(Derived)][-1] == "extra"
    assert [field.option for field in fields_of(Derived) if field.name == "steps"] == [
        "--step",
        "--big",
    ]


def test_a_value_with_a_minus_is_no_option() -> None:
    class Line(Options):
        """One option."""

        start: str = option("TIME", default="", help="a time")

    parser = LineParser(Line, "line", "[options]", "A line.", "")
    options, words, _ = parser.read_with_target(["--start", "-1us", "run.adbrec"])
    assert (options.start, words) == ("-1us", ["run.adbrec"])


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=lambda each: each.name)
def test_fields_are_parsed_to_their_types(command: Command) -> None:
    hints = typing.get_type_hints(command.options)

    def has_its_type(field: Field) -> bool:
        if field.is_option and not field.takes_value:
            return hints[field.name] is bool
        is_text = str in {hints[field.name], *typing.get_args(hints[field.name])}
        return bool(is_text or field.words or field.parse)

    assert [field.name for field in command.fields if not has_its_type(field)] == []
    assert [field.name for field in command.fields if not field.help] == []


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=lambda each: each.name)
def test_a_wrong_word_is_refused_with_the_usage(command: Command) -> None:
    if command.rest is not None or command.run is None or command.subcommands:
        return
    with pytest.raises(UsageError) as raised:
        command.parse("--no-such-option")
    assert command.usage() in str(raised.value)


@pytest.mark.parametrize("name", sorted(cli.SUBCOMMANDS))
def test_each_subcommand_is_declared_under_its_name(name: str) -> None:
    subcommand = cli.load_subcommand(cli.SUBCOMMANDS[name])
    assert subcommand.build_parser().prog == f"actiondbg {name}"


def test_help_lists_the_subcommands() -> None:
    listed = re.findall(r"^  (\w+)  +\S", debug.run.build_parser().epilog or "", re.M)
    assert sorted(listed) == sorted(name for name in cli.SUBCOMMANDS if " " not in name)


def test_every_result_of_a_command_has_a_renderer() -> None:
    known = {kind.__name__ for kind in renderer.kinds()}
    named = {
        word
        for command in EVERY_COMMAND
        if command.run is not None
        for word in command.run.__annotations__["return"].split(" | ")
    }
    assert named - known == {"None"}
