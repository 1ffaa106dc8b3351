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
    """A capability.

    Args:
        name: in hello.
        verb: what an agent can do with it.
        commands: some commands of the shell or the command line that need it.
    """

    name: str
    verb: str
    commands: tuple[str, ...]


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
_OF_METHODS = {
    messages.GetCursor.method: "cursor",
    messages.MoveCursor.method: "cursor",
    messages.GetLinks.method: "cursor",
    messages.GetExcerpt.method: "cursor",
    messages.CountOperations.method: "cursor",
    messages.Print.method: "print",
    messages.WriteValueNames.method: "values",
    messages.FindNamed.method: "values",
    messages.GetChanges.method: "changes",
    messages.GetStatistics.method: "statistics",
    messages.Fork.method: "fork",
    messages.SetPlan.method: "skip",
    messages.TryPass.method: "edit",
    messages.GetPasses.method: "edit",
    messages.SetAlternative.method: "alternatives",
    messages.RunAround.method: "alternatives",
    messages.GetCensus.method: "alternatives",
    messages.OpenLegalizations.method: "legalizations",
    messages.OpenRecording.method: "lineage",
    messages.RecordStage.method: "lineage",
}


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
    of_method = _OF_METHODS.get(message.method)
    if of_method is not None:
        yield of_method
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
