"""Cycles: rounds of actions that repeat endlessly, such as patterns that undo one another.

A long run of one pattern is not a cycle: canonicalization applies one to a thousand operations. The
location and the operation of the actions make the difference:

- Locations repeat, as an operation keeps the location of the one that it replaces. An unknown
  location matches any other.
- The operation is the same (modified in place), or newer. Ids count creations, so a newer operation
  has a larger id than all those up to the previous round.
- If neither locations nor operations repeat, because all locations are unknown, only the ids
  remain: every round must then create equally many operations, eight times or more.

A short run over copies that share a location, as of an unrolled loop, looks the same while the ids
grow; therefore one action alone must repeat eight times.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import msgspec

from actiondbg import protocol
from actiondbg.ir.diff import Diff

_LONGEST = 64  # actions in a round
_LEAST = 3  # complete rounds
_SURE = 8  # repetitions that suffice without other evidence


class Applied(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """An action that changed the IR; ``id`` is the id of its operation, or None."""

    id: int | None = None


class Cycle(msgspec.Struct):
    """A round of actions that repeats."""

    round: list[Applied]  # the last complete round, the oldest action first
    times: int  # the number of complete rounds
    diffs: list[Diff] = []  # the diffs of the actions of that round, if requested
    more: bool = False  # whether there may be earlier rounds, in actions that were not searched


def find_cycle(stream: Sequence[Applied], cut: bool = False) -> Cycle | None:
    """Return the cycle with the shortest round at the end of a stream of actions, or None.

    Args:
        stream: the actions that changed the IR, the oldest first; it may end within a round.
        cut: whether earlier actions are missing in the stream.
    """
    highest = list(accumulate((each.id or 0 for each in stream), max))
    for period in range(1, min(_LONGEST, len(stream) // _LEAST) + 1):
        # The newest rounds decide first, so that a long stream costs no more than a short one.
        newest = len(stream) - _SURE * period
        start = _repeated_from(stream, highest, period, max(newest, 0))
        if _is_cycle(stream[start:], period):
            start = _repeated_from(stream, highest, period, 0)
            times = (len(stream) - start) // period
            last = start + (times - 1) * period
            more = cut and start < period
            return Cycle(list(stream[last : last + period]), times, more=more)
    return None


def _repeated_from(
    stream: Sequence[Applied], highest: Sequence[int], period: int, oldest: int
) -> int:
    """Return the first index, from ``oldest`` on, from which every round equals the last one."""
    first_round = len(stream) - period
    places = [each.location for each in stream[first_round:]]
    for at in reversed(range(oldest, first_round)):
        each, later = stream[at], stream[at + period]
        if each.name != later.name or each.op != later.op or not _made(each, later, highest[at]):
            return at + 1
        # Compare with one location for each place of a round: unknown ones must not join two.
        phase = (at - first_round) % period
        if not _agree(each.location, places[phase]):
            return at + 1
        places[phase] = places[phase] or each.location
    return oldest


def _made(earlier: Applied, later: Applied, highest: int) -> bool:
    """Return whether the later action's operation can derive from the earlier one's."""
    if earlier.id is None or later.id is None:
        return True
    return later.id == earlier.id or later.id > highest


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _is_cycle(tail: Sequence[Applied], period: int) -> bool:
    """Return whether equal rounds are a cycle, rather than an ordinary run of rewrites."""
    first, times = tail[0], len(tail) // period
    if times < _LEAST:
        return False
    alone = all((each.name, each.op) == (first.name, first.op) for each in tail[:period])
    if alone and times * period < _SURE:
        return False
    phases = [tail[phase::period] for phase in range(period)]
    if any(_comes_again(phase) for phase in phases):
        return True
    return times >= _SURE and _advances_evenly(tail, period)


def _comes_again(phase: Sequence[Applied]) -> bool:
    """Return whether the actions at one place of each round share an operation or a location."""
    if len({each.id for each in phase}) == 1 and phase[0].id is not None:
        return True
    return sum(each.location is not None for each in phase) > 1


def _advances_evenly(tail: Sequence[Applied], period: int) -> bool:
    """Return whether all ids grow by the same number from each round to the next."""
    rounds = zip(tail, tail[period:], strict=False)
    steps = {later.id - each.id if each.id and later.id else 0 for each, later in rounds}
    return len(steps) == 1 and 0 not in steps
