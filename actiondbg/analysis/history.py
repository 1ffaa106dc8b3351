"""The history of an operation: the actions that created, changed and erased it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from actiondbg import protocol
from actiondbg.protocol.tags import PASS_TAG

EventKind = Literal["created", "modified", "moved", "replaced", "erased"]

# A watch's message: "@12 arith.addi was created; @12 arith.addi was replaced by @15 arith.addi".
_PARTS = re.compile(r"; (?=@\d+ \S+ was )")
_PART = re.compile(r"@\d+ (?P<op>\S+) was (?P<kind>\w+)(?: by @(?P<by>\d+) )?")
_KINDS: dict[str, EventKind] = {kind: kind for kind in get_args(EventKind)}


class Event(msgspec.Struct, kw_only=True, frozen=True, rename={"pass_name": "pass"}):
    """One event in the history of an operation."""

    ordinal: int  # the action that caused it, from 1; 0 outside of any action
    tag: str  # the action's kind; empty outside of any action
    # The action's subject; outside of any action "the parser", which made the operations of the
    # input, or the tool.
    name: str
    kind: EventKind  # the kind of the event
    message: str | None  # the message of a watch, such as "@12 arith.addi was created", or None
    guess: bool  # whether the action was not observed causing it
    id: int  # the operation
    # The pass around the action; empty if there is none, or if it is a pass itself.
    pass_name: str = ""


class Unfinished(msgspec.Struct, frozen=True):
    """A change by an action that has not ended, with the action's tag and name."""

    change: protocol.Change
    tag: str
    name: str


class History(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The history of an operation up to now."""

    id: int  # of the operation, from 1
    op: str  # its name; empty if unknown
    events: list[Event]  # from its creation on
    made_from: list[int]  # the ids of the operations that it replaced
    became: list[int]  # the ids of the operations that replaced it


def history_of(
    id: int,
    op: str,
    lines: Iterable[protocol.Stopped],
    unfinished: Iterable[Unfinished] = (),
    passes: Sequence[tuple[int, str]] = (),
) -> History:
    """Read a history from the log of a watch on the operation.

    Args:
        id: the operation.
        op: its name if it is alive; otherwise empty, and the log supplies it.
        lines: the log of the watch.
        unfinished: the changes of the action that the stop is inside of, which are in no log.
        passes: the ordinals and names of the passes that have begun, in their order.
    """
    events: list[Event] = []
    changes: list[protocol.Change] = []
    made_from: dict[int, None] = {}
    became: dict[int, None] = {}
    for line in lines:
        for part in _PARTS.split(line.message or ""):
            match = _PART.match(part)
            events.append(_event(id, line, part, match))
            op = op or (match["op"] if match else "")
            if match and match["by"]:
                became[int(match["by"])] = None
        changes.extend(line.changes)
    for each in unfinished:
        changes.append(each.change)
        if each.change.what == "operation" and each.change.id == id:
            events.append(_unfinished_event(id, each))
            op = op or each.change.op
    for change in changes:
        sources = _sources(change)
        if change.what == "operation" and change.id == id:
            became |= dict.fromkeys(sources)
        elif change.id is not None and id in sources:
            made_from[change.id] = None
    if not events or events[0].kind != "created":
        events.insert(0, _parsed(id))
    events = [_within(event, passes) for event in events]
    return History(id=id, op=op, events=events, made_from=list(made_from), became=list(became))


def _within(event: Event, passes: Sequence[tuple[int, str]]) -> Event:
    """Return an event with the pass around its action, which is the last that has begun by then."""
    begun = bisect_right(passes, event.ordinal, key=lambda each: each[0])
    if event.tag in ("", PASS_TAG) or not begun:
        return event
    return msgspec.structs.replace(event, pass_name=passes[begun - 1][1])


def _sources(change: protocol.Change) -> list[int]:
    """Return the ids of the operations whose results replace a replaced operation."""
    return [one.id for one in change.by or [] if one.id is not None and one.op != "block argument"]


def _event(id: int, line: protocol.Stopped, message: str, match: re.Match[str] | None) -> Event:
    culprit = line.culprit or protocol.Culprit(
        ordinal=line.ordinal, tag=line.tag, name=line.name, guess=True
    )
    kind = _KINDS.get(match["kind"], "modified") if match else "modified"
    if not culprit.ordinal and kind == "created":
        return _parsed(id, message)
    outside = "" if culprit.ordinal else "the tool, outside of any action"
    return Event(
        ordinal=culprit.ordinal,
        tag=culprit.tag,
        name=culprit.name or outside,
        kind=kind,
        message=message or None,
        guess=culprit.guess,
        id=id,
    )


def _unfinished_event(id: int, unfinished: Unfinished) -> Event:
    change = unfinished.change
    return Event(
        ordinal=change.ordinal,
        tag=unfinished.tag,
        name=unfinished.name,
        kind="created" if change.kind == "inserted" else change.kind,
        message=None,
        guess=change.guess,
        id=id,
    )


def _parsed(id: int, message: str | None = None) -> Event:
    return Event(
        ordinal=0, tag="", name="the parser", kind="created", message=message, guess=False, id=id
    )
