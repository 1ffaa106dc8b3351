"""Declarations of tools: a struct of arguments, and a function whose docstring describes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, Union, cast, get_type_hints

import msgspec
from msgspec import Meta

from actiondbg.commands.interpreter.options import Options, Parse, arguments_type, fields_of
from actiondbg.commands.interpreter.values import non_negative_number, positive, seconds
from actiondbg.errors import UsageError

Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[int, Meta(ge=0)]


class Arguments(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The base of the arguments of a tool."""


class InSession(Arguments, frozen=True, kw_only=True):
    """The arguments of a tool that acts on a session."""

    session: Annotated[
        str, Meta(description="the id that open returned; not needed while one session is open")
    ] = ""


# Of the numbers that a parser of an option takes.
_BOUNDS: dict[Parse | None, Meta] = {
    non_negative_number: Meta(ge=0),
    positive: Meta(ge=1),
    seconds: Meta(gt=0),
}


def arguments_like(
    name: str,
    options: type[Options],
    notes: Mapping[str, str],
    *,
    left_out: Collection[str] = (),
    base: type[Arguments] = Arguments,
) -> type[Arguments]:
    """Return a struct with the options of a command.

    Args:
        notes: by field, what its description says besides the help of the option.
        base: has the other arguments.
    """
    hints = get_type_hints(options)
    fields: list[tuple[str, Any, Any]] = []
    for each in fields_of(options):
        if each.name not in left_out:
            text = each.help.replace("--", "") + notes.get(each.name, "")
            kind = hints[each.name]
            if each.parse in _BOUNDS:
                number = int if each.parse is positive else float
                kind = Annotated[number, _BOUNDS[each.parse]]
                kind = Union[kind, None] if each.default is None else kind  # noqa: UP007 - not a type yet
            described = Annotated[kind, Meta(description=text)]
            fields.append((each.name, described, each.default))
    return cast(
        "type[Arguments]", msgspec.defstruct(name, fields, bases=(base,), frozen=True, kw_only=True)
    )


_PLACE = re.compile(r" - at `\$\.?(.*)`$")
Run = Callable[[Any, Any], object]
RunT = TypeVar("RunT", bound=Run)


@dataclass(frozen=True)
class Tool:
    """A tool.

    Attributes:
        run: does the work in a worker process: calls the API, and returns a result that
            commands/render knows, a text, or a list of these. None for a tool of the server itself.
        about: what it does, for the model that calls it.
        only_reads: whether it changes nothing, not even the position of the session.
        listed: whether clients see it; others serve resources.
    """

    name: str
    kind: type[Arguments]
    run: Run | None
    about: str
    only_reads: bool
    listed: bool = True

    @property
    def in_session(self) -> bool:
        return issubclass(self.kind, InSession)

    def schema(self) -> dict[str, Any]:
        return schema_of(self.kind)

    def parse(self, given: object) -> Arguments:
        """Return checked arguments.

        Raises:
            UsageError: they do not fit; the message names the fault and all arguments.
        """
        try:
            return msgspec.convert(given, self.kind)
        except msgspec.ValidationError as error:
            fault = _PLACE.sub(r" in `\1`", str(error)).replace("`", "'")
            names = ", ".join(self.kind.__struct_fields__)
            raise UsageError(f"{self.name}: {fault}. Its arguments are {names}.") from error


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON schema of a struct, with the struct itself at the top as MCP wants it."""
    schema = msgspec.json.schema(kind)
    others = cast("dict[str, dict[str, Any]]", schema["$defs"])
    own = others.pop(kind.__name__)
    for each in (own, *others.values()):
        each.pop("title", None)
        each.pop("description", None)  # the docstring, which is for readers of the code
        for name, one in cast("dict[str, dict[str, Any]]", each["properties"]).items():
            each["properties"][name] = _optional(one)
    return {**own, "$defs": others} if others else own


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field that may be left out: null says the same, and is left out.

    Models and clients understand one type better than a choice of types.
    """
    choices = cast("list[dict[str, Any]]", schema.get("anyOf", ()))
    kinds = [each for each in choices if each != {"type": "null"}]
    if len(kinds) != 1 or "default" not in schema or schema["default"] is not None:
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return rest | kinds[0]


TOOLS: dict[str, Tool] = {}  # in the order of tools/list


def tool(name: str, *, only_reads: bool = False, listed: bool = True) -> Callable[[RunT], RunT]:
    """Declare the decorated function as a tool; see Tool."""

    def declare(run: RunT) -> RunT:
        about = " ".join((run.__doc__ or "").split())
        TOOLS[name] = Tool(name, arguments_type(run), run, about, only_reads, listed)
        return run

    return declare
