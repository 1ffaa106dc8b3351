"""Looking for the newest hits before a place, by repeating the run piece by piece, backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.process.forked_tool import ForkedTool


class Hit(NamedTuple):
    """Where something was hit, or a place before which hits are looked for.

    Attributes:
        event: the newest event there, from 1.
        inside: 0 at that event; k at the k-th stop inside of the action after it. None, of a
            place only: after all of these.
    """

    event: int
    inside: int | None = 0


class Segment(NamedTuple):
    """The beginning of a piece of the run, which ends where the one after it begins.

    Attributes:
        event: the newest event there; 0 at the beginning of the run.
        stands: whether it is at that event; else behind all stops that follow it.
        start: makes a replica there, in which everything that stops the tool is set.
    """

    event: int
    stands: bool
    start: Callable[[], ForkedTool]


def newest_hits(segments: Iterable[Segment], bound: Hit, count: int) -> list[Hit]:
    """Find hits.

    Args:
        segments: all of them, the newest first; those that begin behind the bound are passed.
        bound: hits before this place are looked for.
        count: how many at most.

    Returns:
        The newest ones, the newest first.
    """
    found: list[Hit] = []
    for segment in segments:
        if not _is_before(segment, bound):
            continue
        with segment.start() as replica:
            found += _hits_in(replica, bound, count - len(found))[::-1]
        if len(found) >= count:
            break
        # Behind all stops that follow an event is right before the next one.
        bound = Hit(segment.event, 1) if segment.stands else Hit(segment.event + 1, 0)
    return found[:count]


def _is_before(segment: Segment, bound: Hit) -> bool:
    """Tell whether there is anything between the beginning of a segment and the bound."""
    if segment.event < bound.event:
        return True
    return segment.event == bound.event and segment.stands and bound.inside != 0


def _hits_in(replica: ForkedTool, bound: Hit, count: int) -> list[Hit]:
    """Return the newest hits from where a replica stands up to the bound, the oldest first."""
    found: list[Hit] = []
    if replica.event < bound.event:
        stop = replica.go(bound.event, keep=count)
        passed = replica.request(protocol.GetStatus()).passed
        found = [Hit(one.event, one.during) for one in passed]
        is_hit = bool(stop.breakpoints) or stop.reason == "verify"
        if is_hit and bound.inside != 0:
            found.append(Hit(bound.event, 0))
    inside = 1
    while bound.inside is None or inside < bound.inside:
        stop = replica.complete()
        if stop.when != "during" or stop.event != bound.event:
            break
        found.append(Hit(bound.event, inside))
        inside += 1
    return found[-count:]
