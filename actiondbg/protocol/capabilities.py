"""The capabilities of an agent: what each is for, and the requests that need it.

An agent lists in its hello what it has checked in the tool's process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from actiondbg.errors import CapabilityMissing
from actiondbg.protocol import messages
from actiondbg.protocol.notifications import Hello


class Capability(NamedTuple):
    """What an agent may be able to do."""

    name: str  # in hello
    verb: str  # what an agent can do with it
    commands: tuple[str, ...]  # some commands of the shell or the command line that need it


CAPABILITIES: dict[str, Capability] = {
    each.name: each
    for each in (
        Capability("interrupt", "stop the tool while it runs", ("Ctrl-C",)),
        Capability("skip", "skip actions", ("skip", "set skip", "bisect")),
        Capability("print", "print IR", ("print", "diff")),
        Capability("location", "read locations of operations", ("break FILE:LINE",)),
        Capability("cursor", "move in the IR", ("cursor-parent", "cursor-goto", "around", "count")),
        Capability("outcomes", "observe outcomes of actions", ("break --outcome", "info outcome")),
        Capability("changes", "observe changes of the IR", ("info changes", "history")),
        Capability("folds", "observe folds", ("break fold:OP",)),
        Capability("reasons", "read why patterns failed", ("why-not", "info outcome")),
        Capability("threads-off", "switch off the threads of MLIR", ()),
        Capability("ordinals-stable", "number actions alike in each run", ("restart", "bisect")),
        Capability("fork", "fork the tool", ("reverse-step", "goto", "explain", "bisect")),
        Capability("watch", "watch operations", ("watch",)),
        Capability("catch", "stop at failures and crashes", ("catch",)),
        Capability("values", "name SSA values", ("cursor-goto %NAME",)),
        Capability("record", "record actions", ("record", "log", "trace", "report")),
        Capability("lineage", "record the lineage of operations", ("track", "lineage")),
        Capability("edit", "edit IR and run passes on it", ("edit-ir", "apply-pass")),
        Capability("legalizations", "trace dialect conversions", ("explain",)),
        Capability("alternatives", "try alternatives", ("whatif",)),
        Capability("statistics", "count actions by name", ("stat", "info patterns")),
    )
}
# Lost when a second thread runs an action.
OF_ONE_THREAD = ("fork", "ordinals-stable")
_REQUESTS: dict[str, tuple[type[messages.Request[Any]], ...]] = {
    "cursor": (
        *(messages.GetCursor, messages.MoveCursor, messages.GetLinks),
        *(messages.GetExcerpt, messages.CountOperations),
    ),
    "print": (messages.Print,),
    "values": (messages.WriteValueNames, messages.FindNamed),
    "changes": (messages.GetChanges,),
    "statistics": (messages.GetStatistics,),
    "fork": (messages.Fork,),
    "skip": (messages.SetPlan,),
    "edit": (messages.TryPass, messages.GetPasses),
    "alternatives": (messages.SetAlternative, messages.RunAround, messages.GetCensus),
    "legalizations": (messages.OpenLegalizations,),
    "lineage": (messages.OpenRecording, messages.RecordStage),
}
_OF_REQUEST = {kind: name for name, kinds in _REQUESTS.items() for kind in kinds}


def check_capabilities(hello: Hello, message: messages.Request[Any]) -> None:
    """Refuse a request for which an agent lacks a capability.

    Raises:
        CapabilityMissing: with what is missing, why, and the remedy.
    """
    for name in _needed(message):
        if name not in hello.capabilities:
            raise CapabilityMissing(missing_text(hello, name))


def missing_text(hello: Hello, name: str) -> str:
    """Return what an agent cannot do, why, and the remedy, in one sentence."""
    capability = CAPABILITIES[name]
    start = f"The agent in this tool cannot {capability.verb}"
    return f"{start}: {missing_reason(hello, name)}."


def missing_reason(hello: Hello, name: str) -> str:
    """Return why an agent lacks a capability, and the remedy: the end of a sentence."""
    if name in hello.missing:
        return hello.missing[name]
    return "its check failed in this process; 'actiondbg doctor' describes what was found"


def _needed(message: messages.Request[Any]) -> Iterator[str]:
    if (name := _OF_REQUEST.get(type(message))) is not None:
        yield name
    match message:
        case messages.Resume(control="skip"):
            yield "skip"
        case messages.SetSkips():
            if message.edits:
                yield "edit"
            if message.ordinals or message.rules:
                yield "skip"
        case messages.SetBreakpoints():
            yield from _of_breakpoints(message)
        case _:
            pass


def _of_breakpoints(message: messages.SetBreakpoints) -> Iterator[str]:
    kinds = {"fold": "folds", "location": "location"}
    for breakpoint in message.breakpoints:
        if breakpoint.watch is not None:
            yield "watch"
        if breakpoint.catch is not None:
            yield "catch"
        if breakpoint.outcome is not None:
            yield "outcomes"
            if breakpoint.outcome.reason is not None:
                yield "reasons"
        yield from (kinds[term.kind] for term in breakpoint.terms if term.kind in kinds)
