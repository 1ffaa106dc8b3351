"""The virtual document of the IR at a stop: the lines around the cursor, marked with changes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Literal

from actiondbg.commands.dap.protocol import Body
from actiondbg.commands.render.ir_text.marks import MarkedLine, mark_all_changes
from actiondbg.errors import NoSuchUnit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actiondbg.commands.render.ir_text.ir_view import IRView
    from actiondbg.ir.printed import Excerpt
    from actiondbg.protocol import Line
    from actiondbg.recording.session.recorded_session import DebugSession

_INDENT = "  "
_MOST_CHANGES = 1000
_SHOWN_BEFORE = ("erased", "replaced", "modified")  # changes of lines that were there before
_MOST_KEPT = 100  # documents
IR_SCHEME = "actiondbg-ir:"  # of the path of a document that a client shows as the newest IR

MarkKind = Literal["inserted", "modified", "erased"]


class Mark(Body):
    """A change of the last action, in lines of the document.

    ``erased`` lines are not in the document: ``text`` was before ``line``.
    """

    kind: MarkKind
    line: int
    end_line: int
    operation: int | None = None
    text: str | None = None


class IRDocument(Body):
    """The document of the IR at a stop.

    Attributes:
        source_reference: by which the request ``source`` returns the text, too.
        operations: of each line, the id of its operation, or null.
        marks: what the last action changed.
    """

    name: str
    source_reference: int
    text: str
    operations: list[int | None]
    cursor_line: int
    more_before: bool
    more_after: bool
    marks: list[Mark]
    function: str | None = None


class DocumentLines:
    """The lines of IR of a stop, and how they were before its action."""

    def __init__(self, excerpt: Excerpt, marked: Sequence[MarkedLine]) -> None:
        self.excerpt = excerpt
        self.texts: list[str] = []
        self.operations: list[int | None] = []
        self.marks: list[Mark] = []
        self.cursor_line = 1
        current = excerpt.lines[excerpt.current] if excerpt.lines else None
        for each in marked:
            self._add(each, each.line is current)

    def _add(self, each: MarkedLine, is_current: bool) -> None:
        rows = [f"{_INDENT * each.line.depth}{row}" for row in each.line.text.split("\n")]
        first = len(self.texts) + 1
        if each.sign == "-":
            self._mark("erased", first, first, each.line.id, "\n".join(rows))
            return
        if is_current:
            self.cursor_line = first
        self.texts += rows
        self.operations += [each.line.id] * len(rows)
        if each.sign in "+~":
            kind = "inserted" if each.sign == "+" else "modified"
            is_known = each.before and each.before != each.line.text
            before = f"{_INDENT * each.line.depth}{each.before}" if is_known else None
            self._mark(kind, first, len(self.texts), each.line.id, before)

    def _mark(
        self, kind: MarkKind, first: int, last: int, operation: int | None, text: str | None
    ) -> None:
        self.marks.append(
            Mark(kind=kind, line=first, end_line=last, operation=operation, text=text)
        )

    @property
    def key(self) -> object:
        """What is equal for equal documents."""
        return self.texts, self.operations, self.cursor_line

    @property
    def text(self) -> str:
        return "".join(f"{row}\n" for row in self.texts)

    def operation_at(self, line: int) -> int | None:
        """Return the operation of a line, from 1; None if there is none."""
        return self.operations[line - 1] if 0 < line <= len(self.operations) else None

    def line_of(self, operation: int | None) -> int | None:
        """Return the first line of an operation; None if it is not in the document."""
        if operation is None or operation not in self.operations:
            return None
        return self.operations.index(operation) + 1


class IRDocuments:
    """Reads the document of each stop, and keeps the lines of the one before.

    Args:
        count: lines before and after the cursor.
    """

    def __init__(self, session: DebugSession, view: IRView, count: int) -> None:
        self._session = session
        self._view = view
        self._count = count
        self._before: tuple[int, list[Line]] = 0, []  # before the action of an ordinal
        self._kept: OrderedDict[int, DocumentLines] = OrderedDict()
        self._newest = 0

    def keep(self, shown: DocumentLines) -> int:
        """Return the number by which a client may ask for a document, also at later stops."""
        newest = self._kept.get(self._newest)
        if newest is None or newest.key != shown.key:
            self._newest += 1
        self._kept[self._newest] = shown
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return self._newest

    def get(self, number: int | None) -> DocumentLines:
        """Return a document by its number; the newest without a number.

        Raises:
            NoSuchUnit: there is none of this number, or no longer.
        """
        found = self._kept.get(number or self._newest)
        if found is None:
            raise NoSuchUnit(f"There is no document {number or ''} of IR: read it again.")
        return found

    def read(self, count: int | None = None) -> DocumentLines:
        """Read the lines around the cursor.

        Args:
            count: lines before and after it; None for those of the configuration.

        Raises:
            UnitErased, NoSuchUnit: the cursor is on nothing that is printed.
        """
        count = self._count if count is None else count
        excerpt = self._view.excerpt(before=count, after=count)
        stop = self._session.stop
        if stop is None or stop.when != "after":
            self._before = (stop.ordinal if stop else 0), excerpt.lines
            return DocumentLines(excerpt, [MarkedLine(line) for line in excerpt.lines])
        changes = self._session.outcome.changes(limit=_MOST_CHANGES).changes
        before: list[Line] = []
        if self._before[0] == stop.ordinal:
            before = self._before[1]
        elif any(change.kind in _SHOWN_BEFORE for change in changes):
            before = self._view.lines_before(stop, count)
        return DocumentLines(excerpt, mark_all_changes(before, excerpt, changes))
