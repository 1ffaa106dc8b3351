"""What may be to blame: the actions that a run was recorded to have applied."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.bisection.result import Entry
from actiondbg.errors import NoAnswer


class Row(msgspec.Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """A line of a record: an action that changed the IR, or a pass (docs/protocol.md, Plans).

    Of an action all but ``ordinal`` is there only when keys were asked for.
    """

    ordinal: int
    tag: str = ""
    name: str = ""
    location: str | None = None
    function: str | None = None
    nth: int | None = None
    id: int | None = None
    op: str | None = None
    argument: str | None = msgspec.field(name="pass", default=None)
    last: int = 0
    leaves: int = 0
    conversion: bool = False
    over: bool = True
    failed: bool = False
    changed: bool = False

    @property
    def is_pass(self) -> bool:
        return self.argument is not None

    @property
    def entry(self) -> Entry:
        """What a result says of it."""
        return Entry(
            ordinal=self.ordinal,
            tag=self.tag,
            name=self.argument or self.name,
            nth=self.nth or 0,
            location=self.location,
            function=self.function,
            op=self.op,
            last=self.last or self.ordinal,
        )

    @property
    def key(self) -> protocol.Key:
        """What names it in a run in which others are skipped; only with keys."""
        return protocol.Key(
            tag=self.tag,
            name=self.name,
            location=self.location,
            function=self.function,
            nth=self.nth or 1,
        )


class Record:
    """What a run applied.

    Attributes:
        actions: patterns and folds that changed the IR, by ordinal.
        passes: all passes but adaptors, by ordinal.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        ordered = sorted(rows, key=lambda row: row.ordinal)
        self.actions = [row for row in ordered if not row.is_pass]
        self.passes = [row for row in ordered if row.is_pass]

    def arguments(self) -> list[str]:
        """Return the arguments of the passes, each once, in order."""
        return list(dict.fromkeys(row.argument or "" for row in self.passes))

    def with_leaves(self) -> set[str]:
        """Return the arguments of the passes in which patterns or folds were tried."""
        return {row.argument or "" for row in self.passes if row.leaves}

    def with_conversion(self) -> set[str]:
        """Return the arguments of the passes that convert."""
        return {row.argument or "" for row in self.passes if row.conversion}

    def inside(self, row: Row) -> list[Row]:
        """Return the actions in a pass."""
        first = bisect.bisect_left(self.actions, row.ordinal, key=lambda one: one.ordinal)
        last = bisect.bisect_right(self.actions, row.last, key=lambda one: one.ordinal)
        return self.actions[first:last]

    def failing(self) -> str | None:
        """Return the argument of the innermost pass that failed or came to no end, or None."""
        rows = [row for row in self.passes if row.failed or not row.over]
        return rows[-1].argument if rows else None


def read_record(file: Path) -> Record:
    """Read a record; raises NoAnswer when it cannot be read."""
    try:
        return Record(msgspec.json.Decoder(Row).decode_lines(file.read_bytes()))
    except (OSError, msgspec.DecodeError) as error:
        raise NoAnswer(
            f"The record of a trial cannot be read ({error}): is there room left on the disk?"
        ) from error


class Scheme(msgspec.Struct, frozen=True):
    """What the candidates are.

    Attributes:
        passes: arguments of passes that are candidates.
        held: arguments of passes in which nothing is a candidate.
        words: what that means, for a note; empty for the ordinary one.
    """

    passes: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    words: str = ""

    def requiring(self, argument: str) -> Scheme:
        """Return the same with a pass that has to run."""
        return Scheme(
            self.passes - {argument},
            self.held | {argument},
            f"the pass {argument} has to run, and nothing in it is a candidate",
        )

    def opening(self, argument: str) -> Scheme:
        """Return the same with the actions in a pass for candidates, not the pass."""
        return Scheme(self.passes - {argument}, self.held - {argument})


def candidates_of(record: Record, scheme: Scheme, kept: Sequence[Row]) -> list[Row]:
    """Return the candidates of a scheme, by ordinal.

    Args:
        record: of the run with all applied.
        scheme: which passes are taken as a whole.
        kept: the passes that may be candidates at all.
    """
    closed = [row for row in record.passes if row.argument in scheme.held]
    units = [row for row in kept if row.argument in scheme.passes]
    actions: list[Row] = []
    end = 0  # of the closed passes so far, which may hold one another
    position = 0
    for row in record.actions:
        while position < len(closed) and closed[position].ordinal < row.ordinal:
            end = max(end, closed[position].last)
            position += 1
        if row.ordinal > end:
            actions.append(row)
    return sorted([*actions, *units], key=lambda row: row.ordinal)
