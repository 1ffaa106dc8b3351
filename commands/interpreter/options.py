"""Options of a command: a frozen record whose fields are the declaration.

The value of a field in the class is its syntax; default and name of an option follow from it::

    class GotoOptions(Options):
        ordinal: int = positional("#N", help="an ordinal", parse=values.ordinal)
        after: bool = flag(help="stop after the action")

Parsing, help, completion and docs/commands.md derive from the fields, which are read when a
command is first used: to define sixty frozen dataclasses takes 25 ms, before the first prompt.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from actiondbg.commands.interpreter.values import one_of

Parse = Callable[[str], object]
Completer = Callable[..., list[str] | None]  # takes a completers.Typed; None: complete a file name
OptionsT = TypeVar("OptionsT", bound="Options")
_P = ParamSpec("_P")


class Options:
    """The base class of options; help lists the fields in order."""

    def __init__(self, **given: object) -> None:
        fields = {field.name: field for field in fields_of(type(self))}
        unknown = given.keys() - fields.keys()
        missing = {name for name, field in fields.items() if field.required} - given.keys()
        if unknown or missing:
            raise TypeError(f"{type(self).__name__}: {sorted(unknown | missing)}")
        self.__dict__.update({name: field.default for name, field in fields.items()} | given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")


class NoOptions(Options):
    """The options of a command without any."""


# --- markers -----------------------------------------------------------------------

_DERIVED: Any = object()  # a default that follows from the type: None, no element, or required


class Positional:
    """A positional argument.

    A field that may be None is optional; a tuple takes all remaining words.

    Args:
        metavar: the name in help.
        default: the value without the argument.
        required: whether a tuple needs a word.
        parse: converts the word to a value; None: the word itself, or a Path.
        prefix: accept unique prefixes of the words of a Literal.
    """

    def __init__(
        self,
        metavar: str,
        *,
        help: str,
        default: object = _DERIVED,
        required: bool = False,
        parse: Parse | None = None,
        complete: Completer | None = None,
        prefix: bool = False,
    ) -> None:
        self.metavar = metavar
        self.help = help
        self.default = default
        self.required = required
        self.parse = parse
        self.complete = complete
        self.prefix = prefix


class Flag:
    """An option without a value, which is False without it.

    Args:
        names: with dashes: a short option; a long one, if it is not the name of the field.
        value: the element to add, if the field is a tuple.
        alias: another name of the option, which help leaves out.
    """

    default: object = _DERIVED
    required = False

    def __init__(self, *names: str, help: str, value: str = "", alias: str = "") -> None:
        self.names = names
        self.help = help
        self.value = value
        self.alias = alias


class Option:
    """An option with a value; a tuple collects the values of all occurrences.

    A tuple may have several such markers, and keeps the order of the command line.

    Args:
        words: with dashes, names as of a Flag; the name of the value in help, by default the words
            of the Literal.
        common: common values, for completion.
        bare: the value of the option without one; None if it needs one.
    """

    required = False

    def __init__(
        self,
        *words: str,
        help: str,
        default: object = _DERIVED,
        parse: Parse | None = None,
        complete: Completer | None = None,
        common: tuple[str, ...] = (),
        prefix: bool = False,
        bare: object = None,
        alias: str = "",
    ) -> None:
        self.names = tuple(word for word in words if word.startswith("-"))
        self.metavar = next((word for word in words if not word.startswith("-")), "")
        self.help = help
        self.default = default
        self.parse = parse
        self.complete = complete
        self.common = common
        self.prefix = prefix
        self.bare = bare
        self.alias = alias


class Rest:
    """The text after the options, as written: a SPEC, a condition, a command line.

    Args:
        usage: the description in the usage line.
        required: an empty text is an error.
    """

    help = ""
    default: object = _DERIVED

    def __init__(
        self, usage: str, *, required: bool = False, complete: Completer | None = None
    ) -> None:
        self.usage = usage
        self.required = required
        self.complete = complete


Marker = Positional | Flag | Option | Rest


def _field(marker: Callable[_P, Marker]) -> Callable[_P, Any]:
    """Return a marker's class for the value of a field, which may have any type."""
    return marker


positional = _field(Positional)
flag = _field(Flag)
option = _field(Option)
rest = _field(Rest)


# --- fields ------------------------------------------------------------------------


class Field:
    """A declared field.

    Attributes:
        words: the values of a Literal.
        many: whether it is a tuple.
        required: whether it has no default.
        default: the default; None if required.
    """

    def __init__(self, name: str, marker: Marker, kind: object, default: object) -> None:
        types = set(_types(kind))
        self.name = name
        self.marker = marker
        self.words = next((get_args(each) for each in types if get_origin(each) is Literal), ())
        self.many = get_origin(kind) is tuple
        self.required = False
        self.default = default
        if default is _DERIVED:
            is_optional = self.many or NoneType in types or isinstance(marker, Flag)
            self.required = marker.required or not is_optional
            empty: object = False if isinstance(marker, Flag) else None
            self.default = () if self.many and not self.required else empty
        given = marker.parse if isinstance(marker, Positional | Option) else None
        self.parse: Parse | None = given or (Path if Path in types else None)

    @property
    def is_option(self) -> bool:
        return isinstance(self.marker, Flag | Option)

    @property
    def takes_value(self) -> bool:
        return isinstance(self.marker, Option)

    @property
    def option(self) -> str:
        """Return the option with dashes; empty for an argument."""
        return self.names[-1] if self.names else ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the short option, if it has one, and the option; none for an argument."""
        if isinstance(self.marker, Flag | Option):
            return self.marker.names or (f"--{self.name.replace('_', '-')}",)
        return ()

    @property
    def written(self) -> str:
        """Return the field as written in help, such as ``--count N``."""
        return f"{self.option} {self.metavar or ''}".strip()

    @property
    def help(self) -> str:
        return self.marker.help

    @property
    def metavar(self) -> str | None:
        """Return the name of the value in help; None for argparse's default."""
        marker = self.marker
        if isinstance(marker, Flag | Rest):
            return None
        return marker.metavar or ("|".join(self.words) if marker.prefix else None)

    @property
    def complete(self) -> Completer | None:
        return None if isinstance(self.marker, Flag) else self.marker.complete

    @property
    def offered(self) -> tuple[str, ...]:
        extra = self.marker.common if isinstance(self.marker, Option) else ()
        return extra or self.words


def arguments_type(run: Callable[..., object]) -> Any:
    """Return the type of a function's last parameter.

    The type is looked up by name: the types of other parameters may not be imported at run time.
    """
    names = [kind for name, kind in run.__annotations__.items() if name != "return"]
    return run.__globals__[names[-1]]


@cache
def fields_of(options: type[Options]) -> tuple[Field, ...]:
    hints = get_type_hints(options, include_extras=True)
    return tuple(each for name in hints for each in _fields(options, name, hints[name]))


def changed_fields(options: Options, kind: type[Options]) -> set[str]:
    """Return the names of the fields of a kind of options that differ from their defaults."""
    return {each.name for each in fields_of(kind) if getattr(options, each.name) != each.default}


def _fields(options: type[Options], name: str, kind: object) -> Iterator[Field]:
    """Yield a field for each marker: of its value, or of a type that several fields share."""
    value: object = getattr(options, name, _DERIVED)
    if isinstance(value, Marker):
        yield Field(name, value, kind, value.default)
        return
    kind, *markers = get_args(kind)
    for marker in markers:
        yield Field(name, marker, kind, value)


def _types(kind: object) -> Iterator[object]:
    """Yield the types of an optional value, or of the elements of a tuple."""
    if get_origin(kind) in (Union, UnionType, tuple):
        for each in get_args(kind):
            yield from _types(each)
    else:
        yield kind


def rest_of(options: type[Options]) -> Field | None:
    return next((each for each in fields_of(options) if isinstance(each.marker, Rest)), None)


# --- parsing -----------------------------------------------------------------------


def add_fields(parser: argparse.ArgumentParser, fields: Iterable[Field]) -> None:
    for field in fields:
        marker = field.marker
        if isinstance(marker, Positional):
            parser.add_argument(field.name, **_positional(field, marker))
        elif isinstance(marker, Flag | Option):
            keywords = _flag(field, marker) if isinstance(marker, Flag) else _valued(field, marker)
            parser.add_argument(*field.names, dest=field.name, help=marker.help, **keywords)
            if marker.alias:
                hidden: dict[str, Any] = {**keywords, "default": argparse.SUPPRESS}
                hidden |= {"required": False} if isinstance(marker, Option) else {}
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
    return keywords if field.parse is None else {**keywords, "type": field.parse}


def options_from(
    options: type[OptionsT], namespace: argparse.Namespace, **others: object
) -> OptionsT:
    """Return options from the namespace of a parser.

    Args:
        others: values of fields that the parser does not have.
    """
    values: dict[str, object] = dict(others)
    for field in fields_of(options):
        if field.name not in values:
            value: object = getattr(namespace, field.name)
            values[field.name] = tuple(value or ()) if field.many else value  # type: ignore
    return options(**values)
