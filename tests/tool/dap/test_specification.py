"""The structs of the server, held against the specification that npm's package has."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec
import pytest

from actiondbg.commands.dap import protocol
from actiondbg.commands.dap.handlers import CAPABILITIES, PREFIX
from actiondbg.commands.dap.protocol import Arguments, Body
from actiondbg.commands.dap.requests import HANDLERS, MODULES
from tests.fakes.dap_packages import interfaces

# Fields of our own, in structs whose other fields are of the specification.
_OWN_STRUCTS = {"LaunchRequestArguments", "AttachRequestArguments"}
# Editors have log messages for each kind of breakpoint, the specification for those in lines.
_OWN_FIELDS = {"FunctionBreakpoint": {"logMessage"}, "DataBreakpoint": {"logMessage"}}
_NO_BODY = {"InitializedEvent", "TerminatedEvent"}


def _structs() -> dict[str, type[msgspec.Struct]]:
    found: dict[str, type[msgspec.Struct]] = {}
    for module in (protocol, *MODULES):
        for name, each in vars(module).items():
            if isinstance(each, type) and issubclass(each, (Arguments, Body)):
                found[name] = cast("type[msgspec.Struct]", each)
    return found


def _named(name: str) -> str:
    return {"SourceArgument": "Source"}.get(name, name)


def _of_specification() -> list[str]:
    """Return the names of the structs that requests, responses and events use."""
    names = {each.arguments.__name__ for name, each in HANDLERS.items() if PREFIX not in name}
    own = {each.arguments.__name__ for name, each in HANDLERS.items() if PREFIX in name}
    public = {name for name in _structs() if name.endswith(("Event", "Response"))}
    public |= {name for name in vars(protocol) if name in _structs()}
    hidden = {"Arguments", "Body", "NoArguments", "EventBody", "CursorMovedEvent", "DiffResponse"}
    return sorted((names | public) - (own - names) - hidden)


@pytest.mark.parametrize("name", _of_specification())
def test_a_struct_has_the_fields_of_the_specification(name: str) -> None:
    if name in _NO_BODY:
        assert _structs()[name].__struct_fields__ == ()
        return
    specified = interfaces()[_named(name)]
    fields = {each.encode_name: each for each in msgspec.structs.fields(_structs()[name])}
    if name not in _OWN_STRUCTS:
        own = _OWN_FIELDS.get(name, set[str]())
        assert fields.keys() - own <= specified.fields.keys()
    is_sent = issubclass(_structs()[name], Body)
    for field, declared in fields.items():
        if field not in specified.fields:
            continue
        # What the specification requires is always sent; what it leaves open may be missing.
        if is_sent and field in specified.required:
            assert declared.required, field
        if not is_sent and field not in specified.required:
            assert not declared.required, field
        _check_type(declared.type, specified.fields[field], field)
    if is_sent:
        assert specified.required <= fields.keys()


_WORDS = r"'\w+'(?: \| '\w+')*"
_PATTERNS: dict[type[object], str] = {
    msgspec.inspect.StrType: r"string\b|\w*(Type|Areas|Mode)\b|'",
    msgspec.inspect.IntType: "number",
    msgspec.inspect.FloatType: "number",
    msgspec.inspect.BoolType: "boolean",
    msgspec.inspect.ListType: r".*\[\]",
    msgspec.inspect.VarTupleType: r".*\[\]",
    msgspec.inspect.DictType: r"\{ \[key",
}


def _check_type(kind: object, specified: str, field: str) -> None:
    """Check that the values of a type of Python are of a type of the specification."""
    info = msgspec.inspect.type_info(cast("Any", kind))
    kinds = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    for each in kinds:
        match each:
            case msgspec.inspect.NoneType():
                continue
            case msgspec.inspect.LiteralType(values=values) if re.fullmatch(_WORDS, specified):
                assert set(values) <= set(re.findall(r"'([^']*)'", specified)), field
                continue
            case msgspec.inspect.LiteralType():
                continue
            case msgspec.inspect.StructType(cls=cls):
                expected = rf"{_named(cls.__name__)}\b"
            case _:
                expected = _PATTERNS[type(each)]
        assert re.match(expected, specified), (field, each, specified)


def test_each_handler_is_a_request_of_the_specification() -> None:
    known = interfaces()
    for name in HANDLERS:
        if not name.startswith(PREFIX):
            assert f"{name[:1].upper()}{name[1:]}Request" in known


def test_each_capability_is_one_of_the_specification() -> None:
    capabilities = interfaces()["Capabilities"].fields
    assert CAPABILITIES.keys() <= capabilities.keys()
    for name, value in CAPABILITIES.items():
        assert (capabilities[name] == "boolean") == isinstance(value, bool)
