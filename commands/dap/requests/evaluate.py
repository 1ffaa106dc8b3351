"""What a client evaluates: values in hovers and watches, commands of the console; completions."""

from __future__ import annotations

import re

from actiondbg.commands.dap.debuggee import Debuggee
from actiondbg.commands.dap.handlers import provide, request
from actiondbg.commands.dap.protocol import Arguments, Body, CompletionItem
from actiondbg.commands.dap.requests.stack import FrameHandle
from actiondbg.commands.dap.requests.variables import unit_variable
from actiondbg.commands.dap.server import Client
from actiondbg.errors import ActiondbgError, NoSuchUnit, UsageError
from actiondbg.ir.tokens import VALUE

provide("supportsEvaluateForHovers")
_READING = frozenset({"watch", "variables", "clipboard"})  # clients evaluate these by themselves
_PLACE = re.compile(rf"{VALUE}(#\d+)?|@\S+")


class EvaluateArguments(Arguments, frozen=True):
    """A text, and where the client shows the result."""

    expression: str
    frame_id: int | None = None
    context: str | None = None


class EvaluateResponse(Body):
    result: str
    variables_reference: int
    type: str | None = None


@request("evaluate", is_command=True)
def evaluate(client: Client, arguments: EvaluateArguments) -> EvaluateResponse:
    """Return the operation of an SSA name, an id or a symbol; elsewhere than in a hover, execute a
    command line of the shell, which may only read where a client evaluates it by itself.
    """
    debuggee = client.debuggee
    text = arguments.expression.strip()
    _select(debuggee, arguments.frame_id)
    if _PLACE.fullmatch(text):
        return _value(debuggee, text)
    is_name = arguments.context in _READING and _is_name(debuggee, text)
    if arguments.context == "hover" or is_name:
        return _value(debuggee, f"%{text}")
    if arguments.context in _READING:
        _check_reading(debuggee, text)
        with debuggee.not_resuming():
            done = debuggee.execute([text])
    else:
        done = debuggee.execute(text.splitlines())
    if done.error is not None:
        raise ActiondbgError(done.error)
    client.show("console", done.notes)
    return EvaluateResponse(result=done.text.rstrip("\n"), variables_reference=0)


def _is_name(debuggee: Debuggee, text: str) -> bool:
    """Return whether a text is one word, and no command in full."""
    return re.fullmatch(r"[\w$.-]+(#\d+)?", text) is not None and not _names_command(debuggee, text)


def _names_command(debuggee: Debuggee, word: str) -> bool:
    interpreter = debuggee.interpreter
    return interpreter.commands.get(word) is not None and interpreter.aliases.get(word) is None


def _check_reading(debuggee: Debuggee, text: str) -> None:
    """Raise UsageError for all but one command, written out, that only reads."""
    words = text.split()
    if len(text.splitlines()) == 1 and _names_command(debuggee, words[0]):
        parsed = debuggee.interpreter.parse(text)
        name = parsed.command.name.split()
        if parsed.command.reads and parsed.redirect is None and words[: len(name)] == name:
            return
    raise UsageError(
        f"{text!r} cannot be watched: watch a value, such as %x, or a command that only reads, "
        "written out, such as 'info outcome'; type other commands in the debug console."
    )


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
    line: int | None = None


class CompletionsResponse(Body):
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
