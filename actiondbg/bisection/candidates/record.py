"""The record of a run: the actions that changed the IR, and the passes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.bisection.result import Entry
from actiondbg.bisection.verdict import Milestone
from actiondbg.errors import NoAnswer
from actiondbg.protocol.tags import STEP_TAG
from actiondbg.support.decoders import decoder_of


class RecordedAction(protocol.ActionRef, protocol.Message, kw_only=True, gc=False):
    """A line of a record: an action that changed the IR, or a pass (docs/protocol.md, Plans).

    Without keys, an action that is no pass has only its ``ordinal``.
    """

    tag: str = ""
    name: str = ""
    nth: int | None = None
    id: int | None = None
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
    def is_step(self) -> bool:
        """Whether it is an operation of a schedule; needs a record with keys."""
        return self.tag == STEP_TAG

    @property
    def entry(self) -> Entry:
        """The action as a result lists it."""
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
        """Identifies the action in runs that skip other actions; needs a record with keys."""
        return protocol.Key(
            tag=self.tag,
            name=self.name,
            location=self.location,
            function=self.function,
            nth=self.nth or 1,
        )


class Record:
    """The actions of a run.

    Attributes:
        actions: patterns, folds and operations of schedules that changed the IR, by ordinal.
        passes: all passes except adaptors, by ordinal.
    """

    def __init__(self, lines: Iterable[RecordedAction]) -> None:
        ordered = sorted(lines, key=lambda one: one.ordinal)
        self.actions = [one for one in ordered if not one.is_pass]
        self.passes = [one for one in ordered if one.is_pass]

    def actions_in(self, each: RecordedAction) -> list[RecordedAction]:
        """Return the patterns, the folds and the operations of a schedule in a pass."""
        first = bisect.bisect_left(self.actions, each.ordinal, key=lambda one: one.ordinal)
        last = bisect.bisect_right(self.actions, each.last, key=lambda one: one.ordinal)
        return self.actions[first:last]

    def milestone(self, ordinal: int) -> Milestone | None:
        """Return the innermost pass around an action, with its runs so far.

        Args:
            ordinal: of the action; outside of any pass, the newest pass is taken.
        """
        around = [one for one in self.passes if one.ordinal <= ordinal <= one.last]
        newest = (around or self.passes)[-1:]
        if not newest or not newest[0].argument:
            return None
        argument, last = newest[0].argument, newest[0].ordinal
        runs = [one for one in self.passes if one.argument == argument and one.ordinal <= last]
        return Milestone(argument, [one.last for one in runs])

    def failed_pass(self) -> str | None:
        """Return the argument of the innermost pass that failed or did not end, or None."""
        failed = [one for one in self.passes if one.failed or not one.over]
        return failed[-1].argument if failed else None


def read_record(file: Path) -> Record:
    """Read a record; raises NoAnswer if it cannot be read."""
    try:
        return Record(decoder_of(RecordedAction).decode_lines(file.read_bytes()))
    except (OSError, msgspec.DecodeError) as error:
        raise NoAnswer(
            f"The record of a trial cannot be read ({error}): is there room left on the disk?"
        ) from error
