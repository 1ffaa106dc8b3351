"""The configuration of a debug session: the arguments of ``launch`` and ``attach``."""

from __future__ import annotations

from typing import Literal

from actiondbg.commands.dap.protocol.base import Arguments
from actiondbg.commands.interpreter.declaration import Permission


class Configuration(Arguments, frozen=True):
    """What ``launch`` and ``attach`` have in common.

    Attributes:
        stop_on_entry: stop before the first action.
        stop_at_end: stop at the end of the run, from which one can go back, instead of ending.
        show: the text to which frames belong: the input, or the IR at the stop.
        ir_document: the URI of the client's own document of the newest IR: frames in the IR are in
            it, instead of in a virtual document.
        ir_lines: lines of IR before and after the cursor in the document of the IR.
        print_stops: print each stop in the debug console.
        init_commands: command lines of the shell to execute before the start.
        allow: what the debug console may do beside debugging.
    """

    stop_on_entry: bool = False
    stop_at_end: bool = False
    show: Literal["input", "ir"] = "input"
    ir_document: str | None = None
    ir_lines: int = 200
    print_stops: bool = True
    init_commands: tuple[str, ...] = ()
    allow: tuple[Permission, ...] = ()


class LaunchRequestArguments(Configuration, frozen=True):
    """The configuration of a session of a tool or a recording.

    Attributes:
        env: variables to add to the environment; null removes one.
        skip: a SPEC each: actions to skip.
        skips: a file of ``save skips``.
        edits: a file of ``save edits``.
        follow: a glob of the processes to debug, of a program that starts tools.
        without: capabilities of the agent to switch off.
        no_debug: run the tool without a stop.
    """

    tool: str | None = None
    args: tuple[str, ...] = ()
    recording: str | None = None
    partial: bool = False
    cwd: str | None = None
    env: dict[str, str | None] | None = None
    stdin: str | None = None
    skip: tuple[str, ...] = ()
    skips: str | None = None
    edits: str | None = None
    follow: str | None = None
    randomize: bool = False
    without: tuple[str, ...] = ()
    no_debug: bool = False


class AttachRequestArguments(Configuration, frozen=True, kw_only=True):
    """The configuration of a session of a Python program that waits.

    Attributes:
        socket: the path that ``actiondbg.attach(wait=True)`` printed.
        process: in a configuration that the server made, the process of a child session.
        token: likewise, by which the server recognizes the child session.
    """

    socket: str | None = None
    process: str | None = None
    token: str | None = None
