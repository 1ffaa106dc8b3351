"""The debug console: command lines of the shell, and values of places in the IR."""

from __future__ import annotations

import contextlib
import re

from actiondbg.commands.dap.client import Client
from actiondbg.commands.dap.debuggee import Debuggee
from actiondbg.commands.dap.declaration import provide, request
from actiondbg.commands.dap.protocol.base import Arguments, Body
from actiondbg.commands.dap.protocol.types import CompletionItem
from actiondbg.commands.dap.requests.stack import FrameHandle
from actiondbg.commands.dap.requests.variables import unit_variable
from actiondbg.errors import ActiondbgError, NoSuchUnit
from actiondbg.ir.tokens import VALUE

provide("supportsEvaluateForHovers")
_PLACE = re.compile(rf"{VALUE}(#\d+)?|@\S+")


class EvaluateArguments(Arguments, frozen=True):
    """A text, and where the client shows the result."""

    expression: str
    frame_id: int | None = None
    context: str | None = None


class EvaluateResponse(Body):
    """The result."""

    result: str
    variables_reference: int
    type: str | None = None


@request("evaluate", is_command=True)
def evaluate(client: Client, arguments: EvaluateArguments) -> EvaluateResponse:
    """Return the operation of an SSA name, an id or a symbol; elsewhere than in a hover, execute a
    command line of the shell.
    """
    debuggee = client.debuggee
    text = arguments.expression.strip()
    _select(debuggee, arguments.frame_id)
    if arguments.context == "hover":
        return _value(debuggee, text if _PLACE.fullmatch(text) else f"%{text}")
    if _PLACE.fullmatch(text):
        return _value(debuggee, text)
    is_watched = arguments.context in ("watch", "variables")
    with debuggee.not_resuming() if is_watched else contextlib.nullcontext():
        done = debuggee.execute(text.splitlines())
    if done.error is not None:
        raise ActiondbgError(done.error)
    client.show("console", done.notes)
    return EvaluateResponse(result=done.text.rstrip("\n"), variables_reference=0)


def _select(debuggee: Debuggee, frame_id: int | None) -> None:
    if frame_id is None:
        return
    try:
        frame = debuggee.handles.get(frame_id, FrameHandle)
    except NoSuchUnit:
        return  # of an earlier stop, or the end
    if debuggee.session.stack.selected != frame.index:
        debuggee.session.stack.select(frame.index)


def _value(debuggee: Debuggee, place: str) -> EvaluateResponse:
    with debuggee.session.cursor.at(place) as cursor:
        made = unit_variable(debuggee, place, cursor.unit)
    return EvaluateResponse(
        result=made.value, variables_reference=made.variables_reference, type=made.type
    )


class CompletionsArguments(Arguments, frozen=True):
    """The text up to and behind the text cursor, which is at a column."""

    text: str
    column: int
    frame_id: int | None = None
    line: int | None = None


class CompletionsResponse(Body):
    """Completions of the word at the text cursor."""

    targets: list[CompletionItem]


@request("completions", capability="supportsCompletionsRequest")
def completions(client: Client, arguments: CompletionsArguments) -> CompletionsResponse:
    """Return completions of a command line of the shell."""
    lines = arguments.text.split("\n")
    at = 0 if arguments.line is None else client.own_line(arguments.line) - 1
    line = lines[at] if 0 <= at < len(lines) else ""
    typed = line[: client.own_column(arguments.column) - 1]
    word = re.search(r"\S*$", typed)
    start = word.start() if word else len(typed)
    found = client.debuggee.interpreter.complete_line(typed[:start].split(), typed[start:])
    return CompletionsResponse(
        targets=[
            CompletionItem(label=each, start=client.column(start + 1), length=len(typed) - start)
            for each in found or []
        ]
    )
