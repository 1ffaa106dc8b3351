"""Questions about the run, for side views: each is a command of the shell, answered as with
``--json``, and never resumes the tool.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Annotated, cast

import msgspec

from actiondbg.commands.dap.debuggee import file_position
from actiondbg.commands.dap.handlers import request
from actiondbg.commands.dap.protocol import Arguments, Body, NoArguments
from actiondbg.commands.dap.server import Client
from actiondbg.commands.render.actions import ActionsShown
from actiondbg.commands.render.renderer import as_json
from actiondbg.commands.shell.breakpoints import Breakpoints


class Place(Body):
    path: str
    line: int
    column: int


class Answer(Body):
    """The answer to a question.

    Attributes:
        text: as the shell prints it.
        result: with the keys of ``--json``.
        places: of each location in the result that names a file here, its place.
    """

    text: str
    result: object
    places: dict[str, Place]


def _answer(client: Client, line: str) -> Answer:
    """Run a command line that does not resume the tool."""
    debuggee = client.debuggee
    with debuggee.not_resuming():
        result, text = debuggee.ask(line)
    return _answer_of(client, result, text)


def _answer_of(client: Client, result: object, text: str = "") -> Answer:
    places = {
        each: Place(path=place[0], line=client.line(place[1]), column=client.column(place[2]))
        for each in _locations(result)
        if (place := file_position(each)) is not None
    }
    return Answer(text=text, result=result, places=places)


def _locations(value: object) -> Iterator[str]:
    """Yield the texts under the key "location"."""
    if isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            if name == "location" and isinstance(each, str):
                yield each
            else:
                yield from _locations(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _locations(each)


class CommandArguments(Arguments, frozen=True):
    line: str


@request("actiondbg/command", is_command=True)
def command(client: Client, arguments: CommandArguments) -> Answer:
    """Run a command line of the shell that does not resume the tool, and return its result."""
    return _answer(client, arguments.line)


Positive = Annotated[int, msgspec.Meta(ge=1)]


class ActionsArguments(Arguments, frozen=True):
    """Which actions to list: those that match, around the stop or from an ordinal on."""

    spec: str = ""
    condition: str | None = None
    changed: bool = False
    first: Positive | None = None
    count: Positive = 100


@request("actiondbg/actions", is_view=True)
def actions(client: Client, arguments: ActionsArguments) -> Answer:
    """List actions of the run in their order, before and after the stop, with costs and outcomes:
    the timeline.
    """
    debuggee = client.debuggee
    found = debuggee.session.past.actions(
        arguments.spec or None,
        arguments.condition,
        changed=arguments.changed,
        first=arguments.first,
        count=arguments.count,
    )
    stop = debuggee.stop
    shown = ActionsShown(found, None if stop is None else stop.ordinal)
    return _answer_of(client, as_json(shown, None))


@request("actiondbg/pipeline", is_view=True)
def pipeline(client: Client, arguments: NoArguments) -> Answer:
    """List the passes of the run in their order, with costs and outcomes."""
    return _answer(client, "info pipeline")


class StatisticsArguments(Arguments, frozen=True):
    kind: str = "patterns"


@request("actiondbg/statistics", is_view=True)
def statistics(client: Client, arguments: StatisticsArguments) -> Answer:
    """Count the attempts, outcomes and times of ``patterns``, ``passes`` or ``folds`` so far."""
    return _answer(client, f"info {shlex.quote(arguments.kind)}")


@request("actiondbg/timeline", is_view=True)
def timeline(client: Client, arguments: NoArguments) -> Answer:
    """Return the branches of the timeline, with their skips, and the current event."""
    return _answer(client, "info timeline")


class WhyNotArguments(Arguments, frozen=True):
    """A pattern, and a place: ``cursor``, ``@ID``, ``%SSA`` or ``FILE:LINE``; null for all."""

    pattern: str
    place: str | None = None


@request("actiondbg/whyNot")
def why_not(client: Client, arguments: WhyNotArguments) -> Answer:
    """List the attempts of a pattern at a place so far, with the reasons of failures."""
    place = f" {shlex.quote(arguments.place)}" if arguments.place else ""
    return _answer(client, f"why-not {shlex.quote(arguments.pattern)}{place}")


class HistoryArguments(Arguments, frozen=True):
    """An operation: ``cursor``, ``@ID`` or ``%SSA``."""

    operation: str = "cursor"


@request("actiondbg/history")
def history(client: Client, arguments: HistoryArguments) -> Answer:
    """Return the history of an operation: the actions that made, changed and erased it."""
    return _answer(client, f"history {arguments.operation}")


@request("actiondbg/neverHit", is_view=True)
def never_hit(client: Client, arguments: NoArguments) -> Answer:
    """List the breakpoints without a hit in this run, and what is not known of them."""
    found = [each for each in client.debuggee.session.breakpoints.all() if each.is_unhit]
    return _answer_of(client, as_json(Breakpoints(found), None))


class ExplainArguments(Arguments, frozen=True):
    """Operations that a conversion left: ``cursor``, ``@ID``, ``%SSA`` or ``op:GLOB``; null for
    what made a conversion fail.
    """

    operation: str | None = None


@request("actiondbg/explain", is_long=True)
def explain(client: Client, arguments: ExplainArguments) -> Answer:
    """Explain why a dialect conversion failed, or why it left operations."""
    operation = f" {shlex.quote(arguments.operation)}" if arguments.operation else ""
    return _answer(client, f"explain{operation}")


class BisectArguments(Arguments, frozen=True):
    """The options of the command ``bisect``, a word each, such as ``--crash``."""

    options: tuple[str, ...]


@request("actiondbg/bisect", is_long=True)
def bisect(client: Client, arguments: BisectArguments) -> Answer:
    """Find the action that makes the output bad, by runs of the tool beside this session."""
    made = _answer(client, shlex.join(["bisect", *arguments.options]))
    result = cast("dict[str, object]", made.result)
    if isinstance(folder := result.get("reproducer"), str):
        report = os.path.abspath(os.path.join(folder, "report.md"))
        made.places["report"] = Place(path=report, line=client.line(1), column=client.column(1))
    return made
