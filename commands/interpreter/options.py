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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from actiondbg.commands.interpreter.values import one_of

Parse = Callable[[str], object]
Forms = Callable[[], Mapping[str, str]]  # a function, as some are imported when help is asked for
Completer = Callable[..., list[str] | None]  # takes a completers.Typed; None: complete a file name
OptionsT = TypeVar("OptionsT", bound="Options")


def no_forms() -> Mapping[str, str]:
    """Return no form."""
    return {}


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


# --- fields ------------------------------------------------------------------------

_DERIVED: Any = object()  # a default that follows from the type: None, no element, or required


class Field(NamedTuple):
    """A declared field: its syntax, and in ``fields_of`` its name, and what follows from its type.

    Attributes:
        names: with dashes: the short option, if it has one, and the option; none for an argument.
        metavar: the name of the value in help; empty for argparse's default.
        default: the default; None if required.
        required: whether it has no default.
        parse: converts a word to a value; None: the word itself.
        prefix: whether unique prefixes of the words of a Literal are accepted.
        common: common values, for completion.
        bare: the value of an option without one; None if it needs one.
        value: the element that a flag adds, if the field is a tuple.
        alias: another name of an option, which help leaves out.
        words: the values of a Literal.
        many: whether it is a tuple.
        forms: the forms of a rest, with their meanings, for help.
    """

    kind: Literal["argument", "flag", "option", "rest"]
    help: str = ""
    names: tuple[str, ...] = ()
    metavar: str = ""
    default: Any = _DERIVED
    required: bool = False
    parse: Parse | None = None
    complete: Completer | None = None
    prefix: bool = False
    common: tuple[str, ...] = ()
    bare: object = None
    value: str = ""
    alias: str = ""
    joined: bool = False
    name: str = ""
    words: tuple[str, ...] = ()
    many: bool = False
    forms: Forms = no_forms

    @property
    def is_option(self) -> bool:
        return self.kind in ("flag", "option")

    @property
    def takes_value(self) -> bool:
        return self.kind == "option"

    @property
    def option(self) -> str:
        """Return the option with dashes; empty for an argument."""
        return self.names[-1] if self.names else ""

    @property
    def written(self) -> str:
        """Return the field as written in help, such as ``--count N``."""
        return f"{self.option} {self.metavar}".strip()

    @property
    def offered(self) -> tuple[str, ...]:
        return self.common or self.words


# The value of a field in its class, which may have any type, or an annotation of a shared type.


def positional(
    metavar: str,
    *,
    help: str,
    default: object = _DERIVED,
    required: bool = False,
    parse: Parse | None = None,
    complete: Completer | None = None,
    prefix: bool = False,
) -> Any:
    """Declare a positional argument.

    A field that may be None is optional; a tuple takes all remaining words, one at least if
    required.
    """
    return Field(
        "argument",
        help,
        metavar=metavar,
        default=default,
        required=required,
        parse=parse,
        complete=complete,
        prefix=prefix,
    )


def flag(*names: str, help: str, value: str = "", alias: str = "") -> Any:
    """Declare an option without a value, which is False without it.

    Args:
        names: with dashes: a short option; a long one, if it is not the name of the field.
    """
    return Field("flag", help, names, value=value, alias=alias)


def option(
    *words: str,
    help: str,
    default: object = _DERIVED,
    parse: Parse | None = None,
    complete: Completer | None = None,
    common: tuple[str, ...] = (),
    prefix: bool = False,
    bare: object = None,
    alias: str = "",
    joined: bool = False,
) -> Any:
    """Declare an option with a value; a tuple collects the values of all occurrences.

    A tuple may have several such options, and keeps the order of the command line.

    Args:
        words: with dashes, names as of a flag; the name of the value in help, by default the words
            of the Literal.
        joined: it is a list with commas, to which each further occurrence adds.
    """
    return Field(
        "option",
        help,
        tuple(word for word in words if word.startswith("-")),
        next((word for word in words if not word.startswith("-")), ""),
        default,
        parse=parse,
        complete=complete,
        common=common,
        prefix=prefix,
        bare=bare,
        alias=alias,
        joined=joined,
    )


def rest(
    usage: str,
    *,
    required: bool = False,
    complete: Completer | None = None,
    forms: Forms = no_forms,
) -> Any:
    """Declare the text after the options, as written: a SPEC, a condition, a command line.

    Args:
        usage: the description in the usage line.
        required: an empty text is an error.
        forms: returns its forms and their meanings, which help lists.
    """
    return Field("rest", metavar=usage, required=required, complete=complete, forms=forms)


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
    """Yield each declaration of a field: its value, or of a type that several fields share."""
    value: object = getattr(options, name, _DERIVED)
    if isinstance(value, Field):
        yield _resolved(value, name, kind, value.default)
        return
    kind, *declared = get_args(kind)
    for each in declared:
        yield _resolved(each, name, kind, value)


def _resolved(declared: Field, name: str, kind: object, default: object) -> Field:
    """Return a declaration with the name of its field, and what follows from the type."""
    types = set(_types(kind))
    words = next((get_args(each) for each in types if get_origin(each) is Literal), ())
    many = get_origin(kind) is tuple
    required = False
    if default is _DERIVED:
        is_optional = many or NoneType in types or declared.kind in ("flag", "rest")
        required = declared.required or not is_optional
        default = False if declared.kind == "flag" else None
        default = () if many and not required else default
    derived = (f"--{name.replace('_', '-')}",) if declared.is_option else ()
    return declared._replace(
        name=name,
        names=declared.names or derived,
        metavar=declared.metavar or ("|".join(words) if declared.prefix else ""),
        default=default,
        required=required,
        parse=declared.parse or (Path if Path in types else None),
        words=words,
        many=many,
    )


def _types(kind: object) -> Iterator[object]:
    """Yield the types of an optional value, or of the elements of a tuple."""
    if get_origin(kind) in (Union, UnionType, tuple):
        for each in get_args(kind):
            yield from _types(each)
    else:
        yield kind


# --- parsing -----------------------------------------------------------------------


def add_fields(parser: argparse.ArgumentParser, fields: Iterable[Field]) -> None:
    for field in fields:
        keywords = _keywords(field)
        if not field.is_option:
            parser.add_argument(field.name, help=field.help, **keywords)
            continue
        parser.add_argument(*field.names, dest=field.name, help=field.help, **keywords)
        if field.alias:
            hidden: dict[str, Any] = {
                **keywords,
                "help": argparse.SUPPRESS,
                "default": argparse.SUPPRESS,
            }
            hidden |= {"required": False} if field.takes_value else {}
            parser.add_argument(field.alias, dest=field.name, **hidden)


class _Join(argparse.Action):
    """Adds the value of an option to the list of those before, with a comma."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        # An alias has no default of its own.
        is_first = before == parser.get_default(self.dest)
        setattr(namespace, self.dest, values if is_first else f"{before},{values}")


def _keywords(field: Field) -> dict[str, Any]:
    """Return the arguments of ``add_argument`` for the value of a field."""
    if field.kind == "flag":
        if field.many:
            return {"action": "append_const", "const": field.value}
        return {"action": "store_true"}
    keywords = _value(field)
    if field.bare is not None:
        keywords |= {"nargs": "?", "const": field.bare}
    if field.kind == "option" and field.many:
        return {**keywords, "action": "append"}
    if field.joined:
        keywords["action"] = _Join
    if field.many:
        return {**keywords, "nargs": "+" if field.required else "*"}
    if field.required:
        return {**keywords, "required": True} if field.kind == "option" else keywords
    optional = {} if field.kind == "option" else {"nargs": "?"}
    return {**keywords, **optional, "default": field.default}


def _value(field: Field) -> dict[str, Any]:
    keywords: dict[str, Any] = {"metavar": field.metavar} if field.metavar else {}
    if field.words and field.prefix:
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


def option_words(options: Options, without: Collection[str]) -> list[str]:
    """Return the words of a command line that give the same options, without some fields."""
    words: list[str] = []
    for field in fields_of(type(options)):
        value: Any = getattr(options, field.name)
        if field.name in without or value == field.default:
            continue
        if field.takes_value:
            for each in value if field.many else (value,):
                text = str(each)
                words += [f"{field.option}={text}"] if text[:1] == "-" else [field.option, text]
        elif field.kind == "flag" and not field.many:  # else its option adds the value
            words.append(field.option)
    return words
