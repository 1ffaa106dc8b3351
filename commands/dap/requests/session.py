"""The beginning and the end of a debug session."""

from __future__ import annotations

import os
import shlex

from actiondbg.commands.dap.client import Client, InitializeRequestArguments
from actiondbg.commands.dap.configuration import (
    AttachRequestArguments,
    Configuration,
    LaunchRequestArguments,
)
from actiondbg.commands.dap.debuggee import Debuggee, attach, launch
from actiondbg.commands.dap.declaration import CAPABILITIES, request
from actiondbg.commands.dap.protocol.base import Arguments, NoArguments
from actiondbg.commands.dap.protocol.events import InitializedEvent, ProcessEvent
from actiondbg.errors import UsageError


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
        client.server.adopt(client, arguments.process, arguments.token)
        client.send(InitializedEvent())
        return
    _check_new(client)
    _begin(client, attach(arguments, client.server.commands), arguments)


def _check_new(client: Client) -> None:
    if not client.is_initialized:
        raise UsageError("'initialize' is sent before 'launch' and 'attach'.")
    if client.server.debuggee is not None:
        raise UsageError("A debug session has one 'launch' or 'attach': send 'restart' instead.")


def _begin(client: Client, debuggee: Debuggee, configuration: Configuration) -> None:
    client.server.debuggee = debuggee
    argv = debuggee.session.target.argv
    name = shlex.join([os.path.basename(argv[0]), *argv[1:]]) if argv else "program"
    client.send(ProcessEvent(name=name, is_local_process=True, start_method=debuggee.start_method))
    client.send(InitializedEvent())
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
    client.server.breakpoints.reset_ignored(client.debuggee)
    client.server.restarted()
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
