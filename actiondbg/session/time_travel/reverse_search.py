"""The search for the newest hits before a position: replays of segments, the newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from actiondbg import protocol
from actiondbg.process.forked_tool import ForkedTool


class Hit(NamedTuple):
    """The position of a hit, or the bound of a search.

    Attributes:
        event: the newest event, from 1.
        inside: 0 at that event; k at the k-th stop inside of the action after it. None, for a
            bound only: after all of these.
    """

    event: int
    inside: int | None = 0


class Segment(NamedTuple):
    """The beginning of a segment of the run, which ends at the next segment.

    Attributes:
        event: the newest event; 0 at the beginning of the run.
        at_event: whether it begins at that event; otherwise behind all stops that follow it.
        start: makes a fork there, with all breakpoints set.
    """

    event: int
    at_event: bool
    start: Callable[[], ForkedTool]


def newest_hits(segments: Iterable[Segment], bound: Hit, count: int) -> list[Hit]:
    """Find the newest hits before a bound.

    Args:
        segments: of the run, the newest first; those behind the bound are ignored.
        bound: the end of the search.
        count: the limit for the number of hits.

    Returns:
        The hits, the newest first.
    """
    found: list[Hit] = []
    for segment in segments:
        if not _is_before(segment, bound):
            continue
        with segment.start() as fork:
            found += _hits_in(fork, bound, count - len(found))[::-1]
        if len(found) >= count:
            break
        # Behind all stops that follow an event is right before the next one.
        bound = Hit(segment.event, 1) if segment.at_event else Hit(segment.event + 1, 0)
    return found[:count]


def _is_before(segment: Segment, bound: Hit) -> bool:
    if segment.event < bound.event:
        return True
    return segment.event == bound.event and segment.at_event and bound.inside != 0


def _hits_in(fork: ForkedTool, bound: Hit, count: int) -> list[Hit]:
    """Return the newest hits between the position of a fork and the bound, the oldest first."""
    found: list[Hit] = []
    if fork.event < bound.event:
        stop = fork.go(bound.event, keep=count)
        fork.check_same()
        passed = fork.request(protocol.GetStatus()).passed
        found = [Hit(one.event, one.during) for one in passed]
        is_hit = bool(stop.breakpoints) or stop.reason == "verify"
        if is_hit and bound.inside != 0:
            found.append(Hit(bound.event, 0))
    inside = 1
    while bound.inside is None or inside < bound.inside:
        stop = fork.complete()
        if stop.when != "during" or stop.event != bound.event:
            break
        found.append(Hit(bound.event, inside))
        inside += 1
    return found[-count:]
