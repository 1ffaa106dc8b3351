"""Threads, the stack of actions, and the event at which the tool is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.dap import protocol
from actiondbg.commands.dap.debuggee import file_position, thread_number
from actiondbg.commands.dap.handlers import provide, request
from actiondbg.commands.dap.ir_documents import DocumentLines
from actiondbg.commands.dap.protocol import Arguments, Body, NoArguments
from actiondbg.commands.dap.requests.documents import ir_source
from actiondbg.commands.dap.server import Client
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.protocol import Frame

provide("supportsDelayedStackTraceLoading")


class FrameHandle(msgspec.Struct, frozen=True):
    """A frame that a client holds: its index, and the ordinal of its action."""

    index: int
    ordinal: int


class ThreadsResponse(Body):
    threads: list[protocol.Thread]


@request("threads", at_once=True)
def threads(client: Client, arguments: NoArguments) -> ThreadsResponse:
    """List the threads that ran actions up to the stop."""
    stop = client.debuggee.stop
    count = 1 if stop is None else max(stop.threads, thread_number(stop))
    return ThreadsResponse(
        threads=[protocol.Thread(id=number + 1, name=f"t{number}") for number in range(count)]
    )


class StackTraceArguments(Arguments, frozen=True):
    thread_id: int = 0
    start_frame: int = 0
    levels: int = 0


class StackTraceResponse(Body):
    stack_frames: list[protocol.StackFrame]
    total_frames: int | None = None


@request("stackTrace")
def stack_trace(client: Client, arguments: StackTraceArguments) -> StackTraceResponse:
    """Return the stack of actions, the innermost first."""
    debuggee = client.debuggee
    stop = debuggee.stop
    is_over = stop is not None and stop.when == "exit"
    frames = [] if is_over else debuggee.session.stack.frames(units=False)  # or NotStopped
    if not is_over and arguments.thread_id not in (0, thread_number(stop)):
        return StackTraceResponse(stack_frames=[], total_frames=0)
    if stop is not None and not frames:  # at the end, or outside of actions
        place = protocol.StackFrame(
            id=debuggee.handles.add(None),
            name=str(stop).partition("\n")[0],
            line=0,
            column=0,
            presentation_hint="label",
        )
        return StackTraceResponse(stack_frames=[place], total_frames=1)
    last = arguments.start_frame + arguments.levels if arguments.levels else len(frames)
    wanted = frames[arguments.start_frame : last]
    shown = _ir_of(client, wanted)
    return StackTraceResponse(
        stack_frames=[_frame(client, each, shown) for each in wanted], total_frames=len(frames)
    )


def _ir_of(client: Client, frames: list[Frame]) -> tuple[DocumentLines, protocol.Source] | None:
    """Return the document of the IR, where a frame needs it."""
    selected = client.debuggee.session.stack.selected
    if client.debuggee.configuration.show == "input" and not any(
        each.index == selected and file_position(each.location) is None for each in frames
    ):
        return None
    try:
        shown = client.debuggee.documents.read()
    except ActiondbgError:  # such as an erased operation, or a recording without IR
        return None
    return shown, ir_source(client, shown)


def _frame(
    client: Client, frame: Frame, shown: tuple[DocumentLines, protocol.Source] | None
) -> protocol.StackFrame:
    handle = FrameHandle(frame.index, frame.ordinal)
    made = protocol.StackFrame(
        id=client.debuggee.handles.add(handle),
        name=frame.title,
        line=0,
        column=0,
        can_restart=True,
    )
    place = file_position(frame.location)
    if place is not None and client.debuggee.configuration.show == "input":
        path, line, column = place
        made.source = protocol.Source(name=path.rpartition("/")[2], path=path)
        made.line, made.column = client.line(line), client.column(column)
        return made
    if shown is None:
        return made
    ir, source = shown
    is_selected = frame.index == client.debuggee.session.stack.selected
    line = ir.cursor_line if is_selected else ir.line_of(frame.id)
    if line is not None:
        made.source, made.line = source, client.line(line)
        made.column = client.column(1)
    return made


class ExceptionInfoResponse(Body):
    """The event that was caught, or why the action failed."""

    exception_id: str
    break_mode: str
    description: str | None = None
    details: protocol.ExceptionDetails | None = None


@request("exceptionInfo", capability="supportsExceptionInfoRequest")
def exception_info(client: Client, arguments: NoArguments) -> ExceptionInfoResponse:
    """Return the event of a catch, a crash or the verifier, or the reasons of a failure."""
    debuggee = client.debuggee
    stop = debuggee.stop
    if stop is None:
        raise UsageError("The tool is not stopped.")
    caught = {each.id: each.catch.kind for each in debuggee.session.breakpoints.all() if each.catch}
    kinds = [caught[id] for id in stop.breakpoints if id in caught]
    failed = stop.outcome is not None and stop.outcome.result == "failed"
    if stop.reason in ("crash", "verify"):
        kinds.append(stop.reason)
    if not kinds and not failed:
        raise UsageError("Nothing was caught at this stop, and no action has failed.")
    reasons = [] if stop.outcome is None else stop.outcome.reasons
    lines = [*(stop.message or "").splitlines(), *reasons]
    done = debuggee.execute(["backtrace"])
    return ExceptionInfoResponse(
        exception_id=", ".join(dict.fromkeys(kinds)) or "failed",
        break_mode="always",
        description="\n".join(lines) or str(stop),
        details=protocol.ExceptionDetails(
            message=str(stop).partition("\n")[0],
            type_name=stop.tag or None,
            stack_trace=done.text,
            inner_exception=[protocol.ExceptionDetails(message=each) for each in reasons] or None,
        ),
    )
