"""Requests that resume the tool; each is a command of the shell."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from actiondbg.commands.dap.client import Client
from actiondbg.commands.dap.declaration import request
from actiondbg.commands.dap.protocol.base import Arguments, Body, NoArguments
from actiondbg.commands.dap.protocol.types import GotoTarget, SourceArgument
from actiondbg.commands.dap.requests.breakpoints import actions_of_line
from actiondbg.errors import UsageError


class CountArguments(Arguments, frozen=True):
    """How often to do so, from 1."""

    count: int = 1


def _runs(line: str) -> Callable[[Client, NoArguments], str]:
    """Return a handler that runs a command of the shell: all threads go on, or back."""

    def run(client: Client, arguments: NoArguments) -> str:
        return line

    return run


request("continue", resumes=True, is_free=True)(_runs("continue"))
request("next", resumes=True)(_runs("next"))
request("stepIn", resumes=True)(_runs("step"))
request("stepOut", resumes=True)(_runs("finish"))
request("stepBack", capability="supportsStepBack", resumes=True)(_runs("reverse-step"))
request("reverseContinue", resumes=True)(_runs("reverse-continue"))


@request("actiondbg/reverseNext", resumes=True)
def reverse_next(client: Client, arguments: CountArguments) -> str:
    """Go back to the beginning of this action, or to the end of the previous one beside it."""
    return f"reverse-next {arguments.count}"


@request("actiondbg/reverseFinish", resumes=True)
def reverse_finish(client: Client, arguments: CountArguments) -> str:
    """Go back to the beginning of the parent action."""
    return f"reverse-finish {arguments.count}"


@request("actiondbg/nextChange", resumes=True)
def next_change(client: Client, arguments: CountArguments) -> str:
    """Stop after the next action that itself changes the IR."""
    return f"next-change {arguments.count}"


class SkipArguments(Arguments, frozen=True):
    """Where to stop: at the next breakpoint, or with ``step`` at the end of the action."""

    step: bool = False


@request("actiondbg/skip", resumes=True)
def skip(client: Client, arguments: SkipArguments) -> str:
    """Skip the action of the stop."""
    client.debuggee.console.live_session("Skipping actions")
    return "skip --step" if arguments.step else "skip"


@request("actiondbg/apply", resumes=True)
def apply(client: Client, arguments: CountArguments) -> str:
    """Carry the action of the stop out, and continue to the next breakpoint."""
    client.debuggee.console.live_session("Applying actions")
    return f"apply {arguments.count}"


class SpecArguments(Arguments, frozen=True):
    spec: str
    condition: str | None = None


@request("actiondbg/advance", resumes=True)
def advance(client: Client, arguments: SpecArguments) -> str:
    """Continue to the next action that matches a SPEC."""
    condition = f" if {arguments.condition}" if arguments.condition else ""
    return f"advance {arguments.spec}{condition}"


# --- going to an action ----------------------------------------------------------


class PlaceArguments(Arguments, frozen=True):
    """An action by its ordinal, or a run of a pass by its name, such as ``canonicalize#2``."""

    place: str
    after: bool = False


@request("actiondbg/goto", resumes=True)
def goto_place(client: Client, arguments: PlaceArguments) -> str:
    """Go to an action, backwards or forwards."""
    return f"goto {shlex.quote(arguments.place)}{' --after' if arguments.after else ''}"


class GotoTargetsArguments(Arguments, frozen=True):
    source: SourceArgument
    line: int
    column: int | None = None


class GotoTargetsResponse(Body):
    targets: list[GotoTarget]


_MOST_TARGETS = 50


@request("gotoTargets", capability="supportsGotoTargetsRequest")
def goto_targets(client: Client, arguments: GotoTargetsArguments) -> GotoTargetsResponse:
    """List the actions on the operations of a line."""
    line = client.own_line(arguments.line)
    place = actions_of_line(client, arguments.source, line)
    found = client.debuggee.session.past.actions(
        place.spec, place.condition, first=1, count=_MOST_TARGETS
    )
    return GotoTargetsResponse(
        targets=[
            GotoTarget(id=each.ordinal, label=each.title, line=arguments.line)
            for each in found.actions
        ]
    )


class GotoArguments(Arguments, frozen=True):
    target_id: int


@request("goto", resumes=True)
def goto(client: Client, arguments: GotoArguments) -> str:
    """Go to an action, backwards or forwards."""
    if arguments.target_id < 1:
        raise UsageError(f"There is no action {arguments.target_id}: they are numbered from 1.")
    return f"goto #{arguments.target_id}"


class RestartFrameArguments(Arguments, frozen=True):
    frame_id: int


@request("restartFrame", capability="supportsRestartFrame", resumes=True)
def restart_frame(client: Client, arguments: RestartFrameArguments) -> str:
    """Go back to the beginning of the action of a frame."""
    from actiondbg.commands.dap.requests.stack import FrameHandle

    return f"goto #{client.debuggee.handles.get(arguments.frame_id, FrameHandle).ordinal}"
