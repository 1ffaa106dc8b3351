"""Tools that answer questions about what happened up to the stop."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from actiondbg.commands.interpreter.options import NoOptions
from actiondbg.commands.mcp.declaration import InSession, Positive, ToolBox
from actiondbg.commands.mcp.desk import Desk
from actiondbg.commands.shell import past, status
from actiondbg.errors import NotRecorded, UsageError
from actiondbg.lineage.level import Level

QUESTIONS = ToolBox()


class ChangesArguments(InSession, frozen=True, kw_only=True):
    ordinal: Annotated[
        Positive | None, Meta(description="a past action #N; by default that of the stop")
    ] = None
    module: Annotated[bool, Meta(description="diff the whole module, not the function")] = False
    own: Annotated[bool, Meta(description="leave out the changes of nested actions")] = False


@QUESTIONS.tool("changes", only_reads=True)
def changes(desk: Desk, given: ChangesArguments) -> object:
    """Show what an action did: its outcome with the reasons, the operations it changed, and the
    diff of the IR. The stop must be after the action, or give the ordinal of a past one.
    """
    console = desk.console
    diff_options = past.DiffOptions(ordinal=given.ordinal, module=given.module, elide=16)
    if given.ordinal is not None:
        return past.diff(console, diff_options)
    stop = desk.session.stop
    if stop is None or stop.outcome is None:
        raise UsageError(
            "The action has not run yet: step with unit 'action' runs it to its end; or give the "
            "ordinal of a past action."
        )
    found: list[object] = [
        status.outcome(console, NoOptions()),
        status.changes(console, status.ChangesOptions(own=given.own)),
    ]
    try:
        return [*found, past.diff(console, diff_options)]
    except NotRecorded as error:
        return [*found, f"No diff: {error}"]


class WhyNotArguments(InSession, frozen=True, kw_only=True):
    pattern: Annotated[str, Meta(description="the name of a pattern, or a glob")]
    where: Annotated[
        str | None,
        Meta(description="only on this operation or place: cursor, @12, %x, LINE, FILE:LINE"),
    ] = None
    all: Annotated[bool, Meta(description="list each attempt")] = False


@QUESTIONS.tool("why_not")
def why_not(desk: Desk, given: WhyNotArguments) -> object:
    """Explain why a pattern did not apply: its attempts so far in the run, with the reason of each
    failure, and how a failure without a reason differs from the successes. Run to the end first to
    ask about the whole run. Without an attempt so far it runs to the next one.
    """
    options = past.WhyNotOptions(name=given.pattern, where=given.where, all=given.all)
    return past.why_not(desk.console, options)


class ExplainArguments(InSession, frozen=True, kw_only=True):
    target: Annotated[
        str | None,
        Meta(
            description="operations that a conversion left: @12, %x, cursor or op:GLOB; by "
            "default, what made a conversion fail"
        ),
    ] = None
    all: Annotated[bool, Meta(description="show all patterns that were tried")] = False


@QUESTIONS.tool("explain", only_reads=True)
def explain(desk: Desk, given: ExplainArguments) -> object:
    """Explain a failed dialect conversion, such as 'failed to legalize operation': the operation,
    the patterns that were tried, and what each of them lacked. Run to the end first.
    """
    return past.explain(desk.console, past.ExplainOptions(target=given.target, all=given.all))


class HistoryArguments(InSession, frozen=True, kw_only=True):
    target: Annotated[
        str, Meta(description="an operation: cursor, @12, %x; a place: @main, LINE, FILE:LINE")
    ] = "cursor"
    direction: Annotated[
        Literal["events", "became", "came_from", "related"],
        Meta(
            description="events: the actions that created, changed, replaced or erased it; became: "
            "the operations at the end of the run that it turned into; came_from: the operations "
            "of the input; related: others here with a common origin"
        ),
    ] = "events"
    to: Annotated[str, Meta(description="of became: up to #N, the next run of a pass, or end")] = (
        "end"
    )
    level: Annotated[
        Level, Meta(description="of became, came_from, related: the units that answer")
    ] = "operation"


@QUESTIONS.tool("history", only_reads=True)
def history(desk: Desk, given: HistoryArguments) -> object:
    """Show the history of an operation, what it became, or what it came from."""
    console, target, level = desk.console, given.target, given.level
    match given.direction:
        case "events":
            return past.history(console, past.HistoryOptions(text=target))
        case "became":
            return past.track(console, past.TrackOptions(target=target, level=level, to=given.to))
        case "came_from":
            return past.track_back(console, past.LineageOptions(target=target, level=level))
        case "related":
            return past.related(console, past.LineageOptions(target=target, level=level))
