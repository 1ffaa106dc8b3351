"""The documents of a stop: the IR now, and before and after the action."""

from __future__ import annotations

import msgspec

from actiondbg.commands.dap.handlers import request
from actiondbg.commands.dap.ir_documents import IRDocument, Mark, ShownIR
from actiondbg.commands.dap.protocol import Arguments, Body, Source, SourceArgument
from actiondbg.commands.dap.server import Client


def ir_source(client: Client, shown: ShownIR) -> Source:
    number = client.debuggee.documents.keep(shown)
    path = client.debuggee.configuration.ir_document
    return Source(
        name=_name(client, shown),
        path=path,
        source_reference=number if path is None else None,
        origin="IR at the stop",
    )


def _name(client: Client, shown: ShownIR) -> str:
    stop = client.debuggee.stop
    place = f" {stop.when} #{stop.ordinal}" if stop is not None and stop.ordinal else ""
    return f"IR{place} in @{shown.excerpt.function or 'module'}.mlir"


class SourceArguments(Arguments, frozen=True):
    source: SourceArgument | None = None
    source_reference: int = 0


class SourceResponse(Body):
    content: str
    mime_type: str | None = None


@request("source")
def source(client: Client, arguments: SourceArguments) -> SourceResponse:
    """Return the text of a virtual document."""
    number = arguments.source_reference
    if not number and arguments.source is not None:
        number = arguments.source.source_reference or 0
    shown = client.debuggee.documents.get(number)
    return SourceResponse(content=shown.text, mime_type="text/x-mlir")


class IRArguments(Arguments, frozen=True):
    """How much of the IR to return: lines before and after the cursor."""

    lines: int | None = None


@request("actiondbg/ir")
def ir(client: Client, arguments: IRArguments) -> IRDocument:
    """Return the IR around the cursor, with what the last action changed."""
    shown = client.debuggee.documents.read(arguments.lines)
    return IRDocument(
        name=_name(client, shown),
        source_reference=client.debuggee.documents.keep(shown),
        text=shown.text,
        operations=shown.operations,
        cursor_line=client.line(shown.cursor_line),
        more_before=shown.excerpt.more_before,
        more_after=shown.excerpt.more_after,
        function=shown.excerpt.function,
        marks=[_on_wire(client, each) for each in shown.marks],
    )


def _on_wire(client: Client, mark: Mark) -> Mark:
    return msgspec.structs.replace(
        mark, line=client.line(mark.line), end_line=client.line(mark.end_line)
    )


class DiffArguments(Arguments, frozen=True):
    """A past action; null for that of the stop. The function around it, or the whole module."""

    ordinal: int | None = None
    module: bool = False


class DiffResponse(Body):
    """The IR before and after an action, with the same names of values."""

    title: str
    before: str
    after: str
    ordinal: int


@request("actiondbg/diff")
def diff(client: Client, arguments: DiffArguments) -> DiffResponse:
    """Return the IR before and after an action, for a diff editor."""
    found = client.debuggee.session.past.diff(arguments.ordinal, module=arguments.module)
    return DiffResponse(
        title=found.title, before=found.before, after=found.after, ordinal=found.ordinal
    )
