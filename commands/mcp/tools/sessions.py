"""Tools that open a session, move in it, show where it is, and answer what happened up to there."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from actiondbg.breakpoints.targets import EVENTS, TARGETS
from actiondbg.commands.interpreter.options import NoOptions
from actiondbg.commands.mcp.declaration import Arguments, InSession, NotNegative, Positive, tool
from actiondbg.commands.mcp.desk import Desk
from actiondbg.commands.shell import breakpoints, controls, ir, past, status, time_travel
from actiondbg.errors import NotRecorded, UsageError
from actiondbg.lineage.level import Level

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command as ShellCommand
    from actiondbg.commands.interpreter.options import Options

_INSTEAD = {"bisect": "bisect", "whatif": "whatif", "edit-ir": "edit", "quit": "close"}
_TEXTS = ("run", "start")  # whose text is arguments of the tool and redirections


def run_line(desk: Desk, line: str) -> object:
    """Run a command line; return its result.

    Raises:
        UsageError: it is wrong, or not permitted.
    """
    if "\n" in line.strip():
        raise UsageError("A command is one line: call command once for each.")
    if not line.strip():
        raise UsageError("The command line is empty: 'help' lists the commands.")
    console = desk.console
    parsed = console.interpreter.parse(line.strip())
    _check(desk, parsed.command, parsed.options)
    if parsed.redirect is None:
        return parsed.command.call(console, parsed.options)
    from actiondbg.commands.render.renderer import show

    target = parsed.redirect.target
    if parsed.redirect.operator != "|":
        desk.restrictions.path(target)
    with console.redirect(parsed.redirect):
        show(console, parsed.command.call(console, parsed.options))
    return f"Wrote to {target}."


def _check(desk: Desk, command: ShellCommand, options: Options) -> None:
    """Raise UsageError unless a client may run a command."""
    name = command.name
    if command.permission is not None:
        return  # which was checked
    if not command.contained:
        way = f"use the tool {_INSTEAD[name]}" if name in _INSTEAD else "type it in the shell"
        raise UsageError(
            f"The command {name!r} is not for clients: it runs programs, uses files or a terminal. "
            f"If you need it, {way}."
        )
    if name in _TEXTS and getattr(options, "text", ""):
        raise UsageError(
            f"{name} takes no arguments here: open a session with the other arguments."
        )
    desk.restrictions.check_arguments([getattr(options, "pipeline", "")])  # of apply-pass


_ORDINAL = re.compile(r"#?\d+|[\w.*-]+#\d+")  # an action, or a run of a pass: canonicalize#2

Count = Annotated[int, Meta(ge=1, description="how often")]
Command = Annotated[
    list[str],
    Meta(
        description="the tool and its arguments, one a word: "
        '["mlir-opt", "in.mlir", "--canonicalize"]; paths are relative to the directory of the '
        "server"
    ),
]
Stdin = Annotated[str | None, Meta(description="a file that the tool reads as standard input")]


class OpenArguments(Arguments, frozen=True, kw_only=True):
    command: Command | None = None
    recording: Annotated[
        str | None, Meta(description="a recording (.adbrec) to open instead of a command")
    ] = None
    stdin: Stdin = None
    follow: Annotated[
        str | None,
        Meta(description="of a program that starts tools: a glob of the processes to debug"),
    ] = None


@tool("open")
def open_(desk: Desk, given: OpenArguments) -> object:
    """Start an MLIR compiler under the debugger and stop before its first action, or open a
    recording. Returns the id of a session, which lasts until close, or until you disconnect.
    """
    if (given.command is None) == (given.recording is None):
        raise UsageError("open needs either command or recording: give one of them.")
    if given.recording is not None:
        from actiondbg.recording.session import open_session

        path = desk.restrictions.path(given.recording)
        console = desk.open_recording(open_session(path, partial=True))
    else:
        from actiondbg.session.session import launch

        command = desk.restrictions.check_command(given.command or ())
        stdin = os.devnull if given.stdin is None else desk.restrictions.path(given.stdin)
        console = desk.open(launch(command, stdin=stdin, follow=given.follow))
    return [console.greeting, console.resume(console.session.start)]


class BreakArguments(InSession, frozen=True, kw_only=True):
    what: Annotated[
        str,
        Meta(
            description="for action a SPEC, such as pattern:Fold*, pass:cse, fold:arith.*, "
            "op:scf.while or in.mlir:12, joined by 'and'; for watch one of "
            f"{', '.join(TARGETS)}; for catch one of {', '.join(EVENTS)}, and a glob"
        ),
    ]
    kind: Annotated[
        Literal["action", "watch", "catch"],
        Meta(description="action: an action begins; watch: an operation changes; catch: an event"),
    ] = "action"
    condition: Annotated[
        str | None,
        Meta(description="an expression over line, depth, name, op ... ; 'help expr' lists them"),
    ] = None
    outcome: Annotated[
        str | None,
        Meta(
            description="of an action: stop after it if its outcome is succeeded, failed, changed, "
            "unchanged, skipped or reason:GLOB; several with commas"
        ),
    ] = None
    after: Annotated[bool, Meta(description="of an action: stop after it, not before it")] = False
    temporary: Annotated[bool, Meta(description="of an action: delete at its first hit")] = False


@tool("set_breakpoint")
def set_breakpoint(desk: Desk, given: BreakArguments) -> object:
    """Set a breakpoint at actions, a watch of an operation, or a catch of an event. 'run' stops
    there. The commands 'list', 'delete 1', 'disable 1' and 'condition 1 EXPR' manage them.
    """
    text = given.what if given.condition is None else f"{given.what} if {given.condition}"
    if given.kind != "action" and (given.outcome or given.after or given.temporary):
        raise UsageError(
            f"outcome, after and temporary are of actions: a {given.kind} takes a condition only."
        )
    if given.kind == "watch":
        return breakpoints.watch(desk.console, breakpoints.WatchOptions(text=text))
    if given.kind == "catch":
        return breakpoints.catch(desk.console, breakpoints.CatchOptions(text=text))
    outcome = () if given.outcome is None else (given.outcome,)
    options = controls.SelectionOptions(text=text, after=given.after, outcome=outcome)
    add = breakpoints.tbreak if given.temporary else breakpoints.break_
    return add(desk.console, options)


class RunArguments(InSession, frozen=True, kw_only=True):
    to: Annotated[
        str | None,
        Meta(
            description="where to: a SPEC as of set_breakpoint, with 'if EXPR' or without; an "
            "action #17; a run of a pass, canonicalize#2. Without it: to the next breakpoint, or "
            "the end"
        ),
    ] = None
    back: Annotated[bool, Meta(description="backwards, to the breakpoint before")] = False
    after: Annotated[bool, Meta(description="with to: stop after that action")] = False
    restart: Annotated[bool, Meta(description="run from the beginning again first")] = False
    count: Count = 1


@tool("run")
def run(desk: Desk, given: RunArguments) -> object:
    """Run to a place: to the next action that matches a SPEC, to an action by number (forwards or
    backwards), to a breakpoint, or to the end of the run. It stops at breakpoints on the way,
    except to an action by number.
    """
    console = desk.console
    if given.restart:
        start = console.resume(console.session.start)
        if start.when == "exit":
            return start
    is_ordinal = given.to is not None and _ORDINAL.fullmatch(given.to) is not None
    if console.session.state == "exited" and not (is_ordinal or given.back):
        raise UsageError(
            "The run has ended: give restart to run again, back to go back to a breakpoint, or #N "
            "to go back to an action."
        )
    if given.to is None:
        if given.back:
            count = time_travel.ReverseContinueOptions(count=given.count)
            return time_travel.reverse_continue(console, count)
        return controls.continue_(console, controls.ContinueOptions(count=given.count))
    if is_ordinal:
        return time_travel.goto(console, time_travel.GotoOptions(place=given.to, after=given.after))
    if given.back:
        raise UsageError(
            "run goes back only to #N or a breakpoint: set_breakpoint with what "
            f"{given.to!r}, then run with back, finds the one before."
        )
    return controls.advance(console, controls.SelectionOptions(text=given.to, after=given.after))


class StepArguments(InSession, frozen=True, kw_only=True):
    unit: Annotated[
        Literal["event", "action", "parent", "change", "success"],
        Meta(
            description="event: the next beginning or end of any action; action: over nested "
            "actions; parent: to the end of the action around; change: to the next action that "
            "changes the IR itself; success: to the next successful attempt of this pattern"
        ),
    ] = "event"
    back: Annotated[bool, Meta(description="backwards; event, action and parent only")] = False
    count: Count = 1


_FORWARD = {
    "event": "step {}",
    "action": "next {}",
    "parent": "finish {}",
    "change": "next-change {}",
    "success": "next-success",
}
_BACK = {"event": "reverse-step {}", "action": "reverse-next {}", "parent": "reverse-finish {}"}


@tool("step")
def step(desk: Desk, given: StepArguments) -> object:
    """Step by events, actions, parents or changes, forwards or back."""
    command = (_BACK if given.back else _FORWARD).get(given.unit)
    if command is None:
        raise UsageError(
            f"step goes back by event, action or parent, not by {given.unit}: use one of them."
        )
    if given.unit == "success" and given.count != 1:
        raise UsageError("step by success goes to the next one: leave count out.")
    return run_line(desk, command.format(given.count))


class ShowIRArguments(InSession, frozen=True, kw_only=True):
    what: Annotated[
        str,
        Meta(
            description="around (lines around the cursor), cursor, action, function or module; an "
            "operation or a place: @12, %x, @main, in.mlir:12; output: what the tool has printed"
        ),
    ] = "around"
    lines: Annotated[int, Meta(ge=1, description="of around: lines before and after")] = 10
    generic: Annotated[bool, Meta(description="the generic form")] = False
    locations: Annotated[bool, Meta(description="with locations")] = False
    elide: Annotated[
        NotNegative | None, Meta(description="elide constants of more elements; null for none")
    ] = 16


@tool("show_ir", only_reads=True)
def show_ir(desk: Desk, given: ShowIRArguments) -> object:
    """Show IR as it is now. --> marks the cursor, which is on the operation of the action."""
    if given.what == "output":
        return desk.console.live_session("The output of the tool").target.output() or "No output."
    if given.what == "around":
        return ir.around(desk.console, ir.AroundOptions(count=given.lines))
    options = ir.PrintOptions(
        what=given.what, generic=given.generic, locations=given.locations, elide=given.elide
    )
    return ir.print_(desk.console, options)


class CommandArguments(InSession, frozen=True, kw_only=True):
    line: Annotated[
        str,
        Meta(
            description="such as 'backtrace', 'info patterns', 'info pipeline', 'info actions "
            "pattern:Fold* --changed', 'cursor-goto in.mlir:8', 'cursor-users', 'delete all', "
            "'help', 'help spec'"
        ),
    ]


@tool("command")
def command(desk: Desk, given: CommandArguments) -> object:
    """Run a command of actiondbg's shell, for all that has no tool: 'help' lists the commands.
    Messages name commands in quotes, too. Commands that run programs or write files are refused.
    """
    return run_line(desk, given.line)


class ChangesArguments(InSession, frozen=True, kw_only=True):
    ordinal: Annotated[
        Positive | None, Meta(description="a past action #N; by default that of the stop")
    ] = None
    module: Annotated[bool, Meta(description="diff the whole module, not the function")] = False
    own: Annotated[bool, Meta(description="leave out the changes of nested actions")] = False


@tool("changes", only_reads=True)
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


@tool("why_not")
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


@tool("explain", only_reads=True)
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


@tool("history", only_reads=True)
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
