"""Options of a command: a frozen record whose annotated fields are the declaration.

The annotation of a field holds a marker of its syntax::

    class GotoOptions(Options):
        ordinal: Annotated[int, Positional("#N", help="an ordinal", parse=values.ordinal)]
        after: Annotated[bool, Flag("--after", help="stop after the action")] = False

Parsing, help, completion and docs/commands.md derive from the fields, which are read when a
command is first used: to define sixty frozen dataclasses takes 25 ms, before the first prompt.
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
    """The base class of options; help lists the fields in order."""

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
    """The options of a command without any."""


# --- markers -----------------------------------------------------------------------


class Positional:
    """A positional argument.

    A field with a default is optional; a tuple takes all remaining words.

    Args:
        metavar: the name in help.
        help: the description.
        parse: converts the word to a value; None: the word itself.
        complete: completes values.
        prefix: accept unique prefixes of the words of a Literal.
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
        name: the option, with dashes.
        help: the description.
        short: the short option.
        value: the element to add, if the field is a tuple.
    """

    def __init__(self, name: str, *, help: str, short: str = "", value: str = "") -> None:
        self.name = name
        self.help = help
        self.short = short
        self.value = value


class Option:
    """An option with a value; a tuple collects the values of all occurrences.

    A tuple may have several such markers, and keeps the order of the command line.

    Args:
        name: the option, with dashes.
        metavar: the name of the value in help; by default the words of the Literal.
        help: the description.
        short: the short option.
        parse: converts the word to a value; None: the word itself.
        complete: completes values.
        words: common values, for completion.
        prefix: accept unique prefixes of the words of a Literal.
        bare: the value of the option without one; None if it needs one.
        alias: another name of the option, which help leaves out.
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
        bare: object = None,
        alias: str = "",
    ) -> None:
        self.name = name
        self.metavar = metavar
        self.help = help
        self.short = short
        self.parse = parse
        self.complete = complete
        self.words = words
        self.prefix = prefix
        self.bare = bare
        self.alias = alias


class Rest:
    """The text after the options, as written: a SPEC, a condition, a command line.

    Args:
        usage: the description in the usage line.
        required: an empty text is an error.
        complete: completes its words.
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
        name: the name of the field.
        marker: its syntax.
        words: the values of a Literal.
        many: whether it is a tuple.
        required: whether it has no default.
        default: the default; None if required.
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
        """Whether the field is an option, not an argument."""
        return isinstance(self.marker, Flag | Option)

    @property
    def takes_value(self) -> bool:
        """Whether the field is an option with a value."""
        return isinstance(self.marker, Option)

    @property
    def option(self) -> str:
        """Return the option with dashes; empty for an argument."""
        return self.marker.name if isinstance(self.marker, Flag | Option) else ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the option and the short one; none for an argument."""
        if isinstance(self.marker, Flag | Option):
            return tuple(name for name in (self.marker.name, self.marker.short) if name)
        return ()

    @property
    def written(self) -> str:
        """Return the field as written in help, such as ``--count N``."""
        if isinstance(self.marker, Flag | Rest):
            return self.option
        return f"{self.option} {self.metavar or ''}".strip()

    @property
    def help(self) -> str:
        """Return the description; empty for a Rest."""
        return "" if isinstance(self.marker, Rest) else self.marker.help

    @property
    def metavar(self) -> str | None:
        """Return the name of the value in help; None for argparse's default."""
        marker = self.marker
        if isinstance(marker, Flag | Rest):
            return None
        return marker.metavar or ("|".join(self.words) if marker.prefix else None)

    @property
    def complete(self) -> Completer | None:
        """Return the completer of values."""
        return None if isinstance(self.marker, Flag) else self.marker.complete

    @property
    def offered(self) -> tuple[str, ...]:
        """Return the constant values for completion."""
        extra = self.marker.words if isinstance(self.marker, Option) else ()
        return extra or self.words


@cache
def fields_of(options: type[Options]) -> tuple[Field, ...]:
    """Return the declared fields in order."""
    hints = get_type_hints(options, include_extras=True)
    return tuple(each for name in hints for each in _fields(options, name, hints[name]))


def _fields(options: type[Options], name: str, annotation: object) -> Iterator[Field]:
    """Yield a field for each marker of an annotation."""
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
    """Return the values of a Literal, also of an optional one or in a tuple."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in (Union, UnionType, tuple):
        for each in get_args(kind):
            if each not in (NoneType, Ellipsis) and (words := _words(each)):
                return words
    return ()


def rest_of(options: type[Options]) -> Field | None:
    """Return the field with a Rest, or None."""
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
            if isinstance(marker, Option) and marker.alias:
                hidden: dict[str, Any] = {
                    **keywords,
                    "default": argparse.SUPPRESS,
                    "required": False,
                }
                parser.add_argument(marker.alias, dest=field.name, help=argparse.SUPPRESS, **hidden)


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
    if marker.bare is not None:
        keywords |= {"nargs": "?", "const": marker.bare}
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
    """Return options from the namespace of a parser.

    Args:
        options: the type of the options.
        namespace: the result of the parser.
        others: values of fields that the parser does not have.
    """
    values: dict[str, object] = dict(others)
    for field in fields_of(options):
        if field.name not in values:
            value: object = getattr(namespace, field.name)
            values[field.name] = tuple(value or ()) if field.many else value  # type: ignore
    return options(**values)
