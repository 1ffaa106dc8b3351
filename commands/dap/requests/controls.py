"""Requests that resume the tool, and the beginning and the end of a debug session."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable

from actiondbg.commands.dap import protocol
from actiondbg.commands.dap.debuggee import (
    AttachRequestArguments,
    Debuggee,
    LaunchConfiguration,
    LaunchRequestArguments,
    attach,
    launch,
)
from actiondbg.commands.dap.handlers import CAPABILITIES, PREFIX, request
from actiondbg.commands.dap.protocol import Arguments, Body, NoArguments
from actiondbg.commands.dap.requests.breakpoints import actions_of_line
from actiondbg.commands.dap.server import Client, InitializeRequestArguments
from actiondbg.commands.interpreter.declaration import Command
from actiondbg.commands.shell.controls import RUNNING
from actiondbg.commands.shell.time_travel import TIME_TRAVEL
from actiondbg.errors import UsageError


class CountArguments(Arguments, frozen=True):
    """How often to do so, from 1."""

    count: int = 1


def _runs(line: str) -> Callable[[Client, NoArguments], str]:
    """Return a handler that runs a command of the shell: all threads go on, or back."""

    def run(client: Client, arguments: NoArguments) -> str:
        return line

    return run


_STANDARD = {
    "continue": request("continue", resumes=True, is_free=True),
    "next": request("next", resumes=True),
    "step": request("stepIn", resumes=True),
    "finish": request("stepOut", resumes=True),
    "reverse-step": request("stepBack", capability="supportsStepBack", resumes=True),
    "reverse-continue": request("reverseContinue", resumes=True),
}
for _line, _request in _STANDARD.items():
    _request(_runs(_line))


def _counts(command: Command) -> Callable[[Client, CountArguments], str]:
    """Return a handler that runs a command of the shell with a count."""

    def run(client: Client, arguments: CountArguments) -> str:
        if command.needs_tool:
            client.debuggee.console.live_session(command.needs_tool)
        return f"{command.name} {arguments.count}"

    run.__doc__ = command.summary
    return run


for _command in (*RUNNING.commands, *TIME_TRAVEL.commands):
    _is_counted = _command.repeats and [each.name for each in _command.fields] == ["count"]
    if _is_counted and _command.name not in _STANDARD:  # such as next-change
        _first, *_others = _command.name.split("-")
        _camel = _first + "".join(word.capitalize() for word in _others)
        request(f"{PREFIX}{_camel}", resumes=True)(_counts(_command))


class SkipArguments(Arguments, frozen=True):
    """Where to stop: at the next breakpoint, or with ``step`` at the end of the action."""

    step: bool = False


@request("actiondbg/skip", resumes=True)
def skip(client: Client, arguments: SkipArguments) -> str:
    """Skip the action of the stop."""
    client.debuggee.console.live_session("Skipping actions")
    return "skip --step" if arguments.step else "skip"


class SelectionArguments(Arguments, frozen=True):
    """The actions at which to stop, and whether after them, as of ``break``."""

    spec: str
    condition: str | None = None
    after: bool = False
    outcome: str | None = None


@request("actiondbg/advance", resumes=True)
def advance(client: Client, arguments: SelectionArguments) -> str:
    """Continue to the next action that matches a SPEC."""
    after = "--after " if arguments.after else ""
    outcome = f"--outcome {shlex.quote(arguments.outcome)} " if arguments.outcome else ""
    condition = f" if {arguments.condition}" if arguments.condition else ""
    return f"advance {after}{outcome}{arguments.spec}{condition}"


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
    source: protocol.SourceArgument
    line: int
    column: int | None = None


class GotoTargetsResponse(Body):
    targets: list[protocol.GotoTarget]


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
            protocol.GotoTarget(id=each.ordinal, label=each.title, line=arguments.line)
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


# --- the beginning and the end ------------------------------------------------------


@request("initialize", needs_session=False)
def initialize(client: Client, arguments: InitializeRequestArguments) -> dict[str, object]:
    """Exchange what the client and the server can do."""
    if client.is_initialized:
        raise UsageError("'initialize' is sent once.")
    client.is_initialized = True
    client.info = arguments
    return CAPABILITIES


@request("launch", needs_session=False)
def launch_(client: Client, arguments: LaunchRequestArguments) -> None:
    """Make a session of a tool, or of a recording."""
    _check_new(client)
    _begin(client, launch(arguments, client.server.commands, client.show), arguments)


@request("attach", needs_session=False)
def attach_(client: Client, arguments: AttachRequestArguments) -> None:
    """Make a session of a Python program that waits in ``actiondbg.attach(wait=True)``, or be the
    session of a process for which ``startDebugging`` was sent.
    """
    if arguments.process is not None:
        client.server.children.adopt(client, arguments.process, arguments.token)
        client.send(protocol.InitializedEvent())
        return
    _check_new(client)
    _begin(client, attach(arguments, client.server.commands), arguments)


def _check_new(client: Client) -> None:
    if not client.is_initialized:
        raise UsageError("'initialize' is sent before 'launch' and 'attach'.")
    if client.server.debuggee is not None:
        raise UsageError("A debug session has one 'launch' or 'attach': send 'restart' instead.")


def _begin(client: Client, debuggee: Debuggee, configuration: LaunchConfiguration) -> None:
    client.server.debuggee = debuggee
    argv = debuggee.session.target.argv
    name = shlex.join([os.path.basename(argv[0]), *argv[1:]]) if argv else "program"
    client.send(
        protocol.ProcessEvent(name=name, is_local_process=True, start_method=debuggee.start_method)
    )
    client.send(protocol.InitializedEvent())
    if configuration.init_commands:
        done = debuggee.execute(configuration.init_commands)
        client.show("console", done.text)
        client.show("console" if done.error is None else "important", done.notes)


@request(
    "configurationDone",
    capability="supportsConfigurationDoneRequest",
    resumes=True,
    begins=True,
    is_free=True,
)
def configuration_done(client: Client, arguments: NoArguments) -> str:
    """Start the tool, as all breakpoints are set."""
    debuggee = client.debuggee
    if client.process is not None:
        return ""  # its process is stopped
    if client.server.has_begun:
        raise UsageError("The tool has been started: send 'restart' to start it anew.")
    return _first_line(debuggee)


def _first_line(debuggee: Debuggee) -> str:
    return "start" if debuggee.configuration.stop_on_entry else "run"


@request(
    "restart",
    capability="supportsRestartRequest",
    resumes=True,
    begins=True,
    is_free=True,
    ends_run=True,
)
def restart(client: Client, arguments: NoArguments) -> str:
    """Run the tool from its beginning; breakpoints are kept.

    A changed configuration, which the client may send, is not read: it needs a new session.
    """
    client.server.is_terminated = False
    return _first_line(client.debuggee)


@request("terminate", capability="supportsTerminateRequest", ends_run=True)
def terminate(client: Client, arguments: NoArguments) -> None:
    """Kill the tool, and end the debug session."""
    debuggee = client.debuggee
    if debuggee.live is not None:
        debuggee.live.kill()
    debuggee.flush()
    client.server.terminate(client)


@request("disconnect", needs_session=False, ends_run=True)
def disconnect(client: Client, arguments: NoArguments) -> None:
    """End the debug session: a tool is killed, a program that was attached to goes on."""
    if client.is_child:
        client.server.leave(client)
    else:
        client.server.is_over = True


@request("pause", at_once=True)
def pause(client: Client, arguments: NoArguments) -> None:
    """Stop the tool before its next action; again: at once, inside the action."""
    client.server.in_flight.pause()


class CancelArguments(Arguments, frozen=True):
    request_id: int | None = None
    progress_id: str | None = None


@request("cancel", capability="supportsCancelRequest", at_once=True, needs_session=False)
def cancel(client: Client, arguments: CancelArguments) -> None:
    """Cancel a request that waits or runs."""
    progress = arguments.progress_id or ""
    number = arguments.request_id if arguments.request_id is not None else -1
    if progress.isdecimal():
        number = int(progress)
    client.server.in_flight.cancel(number)
