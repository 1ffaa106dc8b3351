"""Breakpoints in lines, by SPEC, watches and catches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from actiondbg.breakpoints.spec import location_spec
from actiondbg.breakpoints.targets import (
    EVENTS,
    TARGETS,
    catch_spec,
    parse_operation,
    parse_target,
)
from actiondbg.commands.dap import protocol
from actiondbg.commands.dap.breakpoint_groups import Wanted
from actiondbg.commands.dap.debuggee import Children
from actiondbg.commands.dap.handlers import provide, request
from actiondbg.commands.dap.ir_documents import IR_SCHEME
from actiondbg.commands.dap.protocol import Arguments, Body
from actiondbg.commands.dap.server import Client
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.support.counts import joined

provide("supportsConditionalBreakpoints")
provide("supportsHitConditionalBreakpoints")
provide("supportsLogPoints")
provide("supportsExceptionFilterOptions")

_COMMENTS = {".py": "#"}  # elsewhere //

_MODES = {
    "before": "",
    "after": "--after ",
    "succeeded": "--outcome succeeded ",
    "failed": "--outcome failed ",
    "changed": "--outcome changed ",
    "unchanged": "--outcome unchanged ",
}
provide(
    "breakpointModes",
    [
        protocol.BreakpointMode(
            mode=mode,
            label=f"{mode} the action"
            if mode in ("before", "after")
            else f"after the action, if {mode}",
            applies_to=["source"],
        )
        for mode in _MODES
    ],
)

provide(
    "exceptionBreakpointFilters",
    [
        protocol.ExceptionBreakpointsFilter(
            filter=kind,
            label=event.label,
            default=kind == "failure",
            supports_condition=True if event.glob else None,
            condition_description=event.glob and f"glob of {event.glob}",
        )
        for kind, event in EVENTS.items()
    ],
)


class SetBreakpointsArguments(Arguments, frozen=True):
    source: protocol.SourceArgument
    breakpoints: tuple[protocol.SourceBreakpoint, ...] = ()


class SetBreakpointsResponse(Body):
    breakpoints: list[protocol.Breakpoint]


@request("setBreakpoints", is_change=True)
def set_breakpoints(client: Client, arguments: SetBreakpointsArguments) -> SetBreakpointsResponse:
    """Replace the breakpoints in the lines of an input, of a Python program or of the IR."""
    group = f"source {arguments.source.path or arguments.source.source_reference}"
    wanted = [_of_line(client, arguments.source, each) for each in arguments.breakpoints]
    made = _replace(client, group, wanted)
    for each, asked in zip(made, arguments.breakpoints, strict=True):
        each.line = asked.line
        each.source = protocol.Source(
            name=arguments.source.name,
            path=arguments.source.path,
            source_reference=arguments.source.source_reference,
        )
    return SetBreakpointsResponse(breakpoints=made)


class SetFunctionBreakpointsArguments(Arguments, frozen=True):
    breakpoints: list[protocol.FunctionBreakpoint]


@request("setFunctionBreakpoints", capability="supportsFunctionBreakpoints", is_change=True)
def set_function_breakpoints(
    client: Client, arguments: SetFunctionBreakpointsArguments
) -> SetBreakpointsResponse:
    """Replace the breakpoints by name: each name is what the command ``break`` takes, a SPEC with
    options.
    """
    wanted = [_wanted(f"break {each.name}", each) for each in arguments.breakpoints]
    return SetBreakpointsResponse(breakpoints=_replace(client, "function", wanted))


class SetExceptionBreakpointsArguments(Arguments, frozen=True):
    filters: list[str]
    filter_options: tuple[protocol.ExceptionFilterOptions, ...] = ()


@request("setExceptionBreakpoints", is_change=True)
def set_exception_breakpoints(
    client: Client, arguments: SetExceptionBreakpointsArguments
) -> SetBreakpointsResponse:
    """Replace the catches of events that are no actions."""
    options = [protocol.ExceptionFilterOptions(filter_id=each) for each in arguments.filters]
    wanted = [
        Wanted(line=catch_spec(each.filter_id, each.condition or None))
        for each in [*options, *arguments.filter_options]
    ]
    return SetBreakpointsResponse(breakpoints=_replace(client, "exception", wanted))


class DataBreakpointInfoArguments(Arguments, frozen=True):
    name: str
    variables_reference: int | None = None


class DataBreakpointInfoResponse(Body):
    """The target of a watch, or why there is none."""

    data_id: str | None
    description: str
    access_types: list[str] | None = None
    can_persist: bool | None = None


@request("dataBreakpointInfo", capability="supportsDataBreakpoints")
def data_breakpoint_info(
    client: Client, arguments: DataBreakpointInfoArguments
) -> DataBreakpointInfoResponse:
    """Return what a watch of a variable or an expression watches."""
    debuggee = client.debuggee
    text = arguments.name
    if arguments.variables_reference:
        parts = debuggee.handles.get(arguments.variables_reference, Children).read()
        named = [each for each in parts if each.name == arguments.name]
        text = next((each.evaluate_name for each in named if each.evaluate_name), "")
    try:
        target = _resolved(client, text)
    except ActiondbgError as error:
        return DataBreakpointInfoResponse(data_id=None, description=str(error))
    return DataBreakpointInfoResponse(
        data_id=target, description=target, access_types=["write"], can_persist=True
    )


def _resolved(client: Client, text: str) -> str:
    """Return the target of a watch with the id of its operation, which is the same in each run."""
    if not text:
        raise UsageError(f"This cannot be watched; these can: {joined(TARGETS.values())}.")
    target = parse_target(text)
    if target.operation is None:
        return str(target)
    word = parse_operation(str(target.operation)) if target.operation == "cursor" else None
    id = client.debuggee.session.cursor.operation_id(word or target.operation)
    return str(target._replace(operation=id))


class SetDataBreakpointsArguments(Arguments, frozen=True):
    breakpoints: list[protocol.DataBreakpoint]


@request("setDataBreakpoints", is_change=True)
def set_data_breakpoints(
    client: Client, arguments: SetDataBreakpointsArguments
) -> SetBreakpointsResponse:
    """Replace the watches."""
    wanted = [
        Wanted(cannot=f"Reads are not observed: {each.data_id!r} can be watched for changes.")
        if each.access_type == "read"
        else _wanted(f"watch {each.data_id}", each)
        for each in arguments.breakpoints
    ]
    return SetBreakpointsResponse(breakpoints=_replace(client, "data", wanted))


# --- helpers ------------------------------------------------------------------------


def _wanted(line: str, asked: protocol.FunctionBreakpoint | protocol.DataBreakpoint) -> Wanted:
    return Wanted(
        line=line,
        condition=asked.condition or None,
        hit_condition=asked.hit_condition or None,
        log=asked.log_message or None,
    )


def _replace(client: Client, group: str, wanted: Sequence[Wanted]) -> list[protocol.Breakpoint]:
    if getattr(client.debuggee.configuration, "no_debug", False):
        return [
            protocol.Breakpoint(verified=False, message="The tool runs without stops.")
            for _ in wanted
        ]

    def log(text: str) -> None:
        client.debuggee.flush()
        client.show("console", f"{text}\n")

    placed = client.server.breakpoints.replace(client.debuggee, group, wanted, log)
    return [msgspec.structs.replace(each.reported) for each in placed]


def _of_line(
    client: Client, source: protocol.SourceArgument, asked: protocol.SourceBreakpoint
) -> Wanted:
    if asked.mode is not None and asked.mode not in _MODES:
        modes = ", ".join(_MODES)
        return Wanted(cannot=f"There is no mode {asked.mode!r}: the modes are {modes}.")
    column = None if asked.column is None else client.own_column(asked.column)
    try:
        place = actions_of_line(client, source, client.own_line(asked.line), column)
    except ActiondbgError as error:
        return Wanted(cannot=str(error))
    conditions = [each for each in (place.condition, asked.condition) if each]
    return Wanted(
        line=f"break {_MODES.get(asked.mode or 'before', '')}{place.spec}",
        condition=" and ".join(f"({each})" for each in conditions)
        if len(conditions) > 1
        else "".join(conditions) or None,
        hit_condition=asked.hit_condition or None,
        log=asked.log_message or None,
    )


class LineActions(NamedTuple):
    """The actions on the operations of a line, by a SPEC and a condition."""

    spec: str
    condition: str | None = None


def actions_of_line(
    client: Client, source: protocol.SourceArgument, line: int, column: int | None = None
) -> LineActions:
    """Return the actions on the operations of a line of an input, or of the IR.

    Raises:
        UsageError: no operation can begin there.
        NoSuchUnit: there is no such document.
    """
    path = source.path or ""
    if source.source_reference or path.startswith(IR_SCHEME):
        documents = client.debuggee.documents
        operation = documents.get(source.source_reference).operation_at(line)
        if operation is None:
            raise UsageError(f"No operation begins on line {line} of the IR.")
        return LineActions("tag:*", f"id == {operation}")
    if not path:
        raise UsageError("The source has no path.")
    _check_line(path, line)
    return LineActions(location_spec(_as_located(client, path), line, column))


def _check_line(path: str, line: int) -> None:
    """Raise UsageError for a line of a file on which no operation begins."""
    comment = _COMMENTS.get(os.path.splitext(path)[1], "//")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = next((each for at, each in enumerate(file, 1) if at == line), None)
    except OSError:
        return  # a location may name a file of another machine
    if text is None:
        return
    if not text.strip() or text.lstrip().startswith(comment):
        raise UsageError(f"No operation begins on line {line}, which is empty or a comment.")
    if comment == "//" and not text.strip(" \t\r\n})"):
        raise UsageError(f"No operation begins on line {line}, which only closes a region.")


def _as_located(client: Client, path: str) -> str:
    """Return a path as locations name it: as the command line does, or by its end.

    Raises:
        UsageError: it is another file than the input that its end names.
    """
    inputs = client.debuggee.session.names.inputs()
    for each in inputs:
        if os.path.abspath(each) == os.path.abspath(path) or _is_same_file(each, path):
            return each
    relative = os.path.relpath(path)
    named = os.path.basename(path) if relative.startswith("..") else relative
    if not os.path.isfile(path):
        return named  # it may lie on another machine
    ending = os.path.join(os.sep, named)
    alike = [each for each in map(os.path.abspath, inputs) if each.endswith(ending)]
    alike = [each for each in alike if os.path.isfile(each)]
    if alike:
        raise UsageError(
            f"{path!r} is no input of the tool, but has the name of one: set the breakpoint in "
            f"{alike[0]!r}."
        )
    return named


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
