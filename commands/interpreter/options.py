"""The options of a command as a frozen record, whose annotated fields are the declaration.

Every field is annotated with the marker of the way it is written on the line::

    class GotoOptions(Options):
        ordinal: Annotated[int, Positional("#N", help="the action", parse=values.ordinal)]
        after: Annotated[bool, Flag("--after", help="to after it")] = False

Parsing, help, completion and docs/commands.md read the fields. They are read when a command
is first used: sixty frozen dataclasses take 25 ms and more to define, before the first prompt.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from actiondbg.commands.interpreter.values import one_of

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.completers import Completer

Parse = Callable[[str], object]
OptionsT = TypeVar("OptionsT", bound="Options")


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """The base of the options of a command; its fields are in the order of the help."""

    def __init__(self, **given: object) -> None:
        fields = {field.name: field for field in fields_of(type(self))}
        unknown = given.keys() - fields.keys()
        missing = {name for name, field in fields.items() if field.required} - given.keys()
        if unknown or missing:
            raise TypeError(f"{type(self).__name__}: {sorted(unknown | missing)}")
        self.__dict__.update(given)  # a default is an attribute of the class

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")


class NoOptions(Options):
    """The options of a command that takes none."""


# --- markers -----------------------------------------------------------------------


class Positional:
    """An argument that is known by its position.

    A field with a default may be left out; a tuple takes all the words that follow.

    Args:
        metavar: its name in help.
        help: what it is.
        parse: makes its value from the word; None: the word itself.
        complete: offers values.
        prefix: of a Literal, a unique prefix of a word is enough.
    """

    def __init__(
        self,
        metavar: str,
        *,
        help: str,
        parse: Parse | None = None,
        complete: Completer | None = None,
        prefix: bool = False,
    ) -> None:
        self.metavar = metavar
        self.help = help
        self.parse = parse
        self.complete = complete
        self.prefix = prefix


class Flag:
    """An option without a value.

    Args:
        name: with its dashes.
        help: what it does.
        short: another name.
        value: what it adds, if the field is a tuple.
    """

    def __init__(self, name: str, *, help: str, short: str = "", value: str = "") -> None:
        self.name = name
        self.help = help
        self.short = short
        self.value = value


class Option:
    """An option with a value; a tuple collects those of all its occurrences.

    A field may have several of these: a tuple then keeps the order in which they are given.

    Args:
        name: with its dashes.
        metavar: the name of the value in help; by default the words of the Literal.
        help: what it does.
        short: another name.
        parse: makes the value from the word; None: the word itself.
        complete: offers values.
        words: are offered, where other values are taken too.
        prefix: of a Literal, a unique prefix of a word is enough.
    """

    def __init__(
        self,
        name: str,
        metavar: str = "",
        *,
        help: str,
        short: str = "",
        parse: Parse | None = None,
        complete: Completer | None = None,
        words: tuple[str, ...] = (),
        prefix: bool = False,
    ) -> None:
        self.name = name
        self.metavar = metavar
        self.help = help
        self.short = short
        self.parse = parse
        self.complete = complete
        self.words = words
        self.prefix = prefix


class Rest:
    """The text that is left after the options, as written: a SPEC, a condition, a command line.

    Args:
        usage: what it is, in the usage.
        required: an empty text is an error.
        complete: offers its words.
    """

    def __init__(
        self, usage: str, *, required: bool = False, complete: Completer | None = None
    ) -> None:
        self.usage = usage
        self.required = required
        self.complete = complete


Marker = Positional | Flag | Option | Rest


# --- fields ------------------------------------------------------------------------


class Field:
    """A declared field.

    Args:
        name: of the field.
        marker: the way it is written.
        words: the values of a Literal.
        many: whether it is a tuple.
        required: whether it has no default.
        default: if it is not required.
    """

    def __init__(
        self,
        name: str,
        marker: Marker,
        *,
        words: tuple[str, ...],
        many: bool,
        required: bool,
        default: object,
    ) -> None:
        self.name = name
        self.marker = marker
        self.words = words
        self.many = many
        self.required = required
        self.default = default

    @property
    def is_option(self) -> bool:
        """Whether it begins with dashes."""
        return isinstance(self.marker, Flag | Option)

    @property
    def takes_value(self) -> bool:
        """Whether a word follows, if it is an option."""
        return isinstance(self.marker, Option)

    @property
    def option(self) -> str:
        """Return the option's name, with its dashes; nothing of an argument."""
        return self.marker.name if isinstance(self.marker, Flag | Option) else ""

    @property
    def written(self) -> str:
        """Return the field as help has it, such as ``--count N``."""
        if isinstance(self.marker, Flag | Rest):
            return self.option
        return f"{self.option} {self.metavar or ''}".strip()

    @property
    def help(self) -> str:
        """Return what help says about it; nothing of a text."""
        return "" if isinstance(self.marker, Rest) else self.marker.help

    @property
    def metavar(self) -> str | None:
        """Return the name of the value in help; None: argparse's."""
        marker = self.marker
        if isinstance(marker, Flag | Rest):
            return None
        return marker.metavar or ("|".join(self.words) if marker.prefix else None)

    @property
    def complete(self) -> Completer | None:
        """Return what offers values."""
        return None if isinstance(self.marker, Flag) else self.marker.complete

    @property
    def offered(self) -> tuple[str, ...]:
        """Return the values that Tab offers, where they are always the same."""
        extra = self.marker.words if isinstance(self.marker, Option) else ()
        return extra or self.words


@cache
def fields_of(options: type[Options]) -> tuple[Field, ...]:
    """Return the declared fields, in their order."""
    hints = get_type_hints(options, include_extras=True)
    return tuple(each for name in hints for each in _fields(options, name, hints[name]))


def _fields(options: type[Options], name: str, annotation: object) -> Iterator[Field]:
    """Yield a field for each of its markers."""
    kind, *markers = get_args(annotation)
    for marker in markers:
        yield Field(
            name,
            marker,
            words=_words(kind),
            many=get_origin(kind) is tuple,
            required=not hasattr(options, name),
            default=getattr(options, name, None),
        )


def _words(kind: object) -> tuple[str, ...]:
    """Return the values of a Literal, optional or in a tuple."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in (Union, UnionType, tuple):
        for each in get_args(kind):
            if each not in (NoneType, Ellipsis) and (words := _words(each)):
                return words
    return ()


def rest_of(options: type[Options]) -> Field | None:
    """Return the field of the text that is left, if there is one."""
    return next((each for each in fields_of(options) if isinstance(each.marker, Rest)), None)


# --- parsing -----------------------------------------------------------------------


def add_fields(parser: argparse.ArgumentParser, fields: Iterable[Field]) -> None:
    """Add declared fields to a parser."""
    for field in fields:
        marker = field.marker
        if isinstance(marker, Positional):
            parser.add_argument(field.name, **_positional(field, marker))
        elif isinstance(marker, Flag | Option):
            names = [marker.short] if marker.short else []
            keywords = _flag(field, marker) if isinstance(marker, Flag) else _valued(field, marker)
            parser.add_argument(*names, marker.name, dest=field.name, help=marker.help, **keywords)


def _flag(field: Field, marker: Flag) -> dict[str, Any]:
    if field.many:
        return {"action": "append_const", "const": marker.value}
    return {"action": "store_true"}


def _positional(field: Field, marker: Positional) -> dict[str, Any]:
    keywords: dict[str, Any] = {"help": marker.help, **_value(field, marker)}
    if field.many:
        return {**keywords, "nargs": "+" if field.required else "*"}
    return keywords if field.required else {**keywords, "nargs": "?", "default": field.default}


def _valued(field: Field, marker: Option) -> dict[str, Any]:
    keywords = _value(field, marker)
    if field.many:
        return {**keywords, "action": "append"}
    return {**keywords, **({"required": True} if field.required else {"default": field.default})}


def _value(field: Field, marker: Positional | Option) -> dict[str, Any]:
    keywords: dict[str, Any] = {} if field.metavar is None else {"metavar": field.metavar}
    if field.words and marker.prefix:
        return {**keywords, "type": one_of(field.words)}
    if field.words:
        return {**keywords, "choices": field.words}
    return keywords if marker.parse is None else {**keywords, "type": marker.parse}


def options_from(
    options: type[OptionsT], namespace: argparse.Namespace, **others: object
) -> OptionsT:
    """Return the options that a parser has read.

    Args:
        options: their type.
        namespace: the parser's.
        others: fields that the parser does not read.
    """
    values: dict[str, object] = dict(others)
    for field in fields_of(options):
        if field.name not in values:
            value: object = getattr(namespace, field.name)
            values[field.name] = tuple(value or ()) if field.many else value  # type: ignore
    return options(**values)
