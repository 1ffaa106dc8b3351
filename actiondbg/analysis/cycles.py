"""Patterns that undo one another: a round of actions that comes again and again.

A long run of one pattern is no cycle: canonicalization applies one to a thousand operations. What
tells them apart is where and on what the actions are:

- The location comes again, as an operation that replaces another keeps its location. An unknown
  location agrees with any one.
- The operation is the same (changed in place), or it was made since. Ids count creations, so one
  that was made since has a larger id than every one that was seen up to the round before.
- Where neither a location nor an operation comes again, all locations being unknown, only the ids
  are left: every round must then make equally many operations, eight times or more.

What cannot be told apart is a short run over copies that share a location, as of an unrolled loop,
while the ids grow; hence eight times for one action alone. More least_repeats make it surer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import msgspec

from actiondbg.ir.diff import Diff

_LONGEST = 64  # actions in a round
_SURE = 8  # repetitions that are told from an ordinary run when little else tells


class Applied(msgspec.Struct, frozen=True):
    """An action that changed the IR.

    Attributes:
        ordinal: its number, from 1.
        tag: its kind, such as "apply-pattern".
        name: what was applied.
        op: the name of the operation that it was applied to, or None.
        id: that operation's number of creation, from 1, or None.
        location: that operation's FILE:LINE:COL, or None.
    """

    ordinal: int
    tag: str
    name: str
    op: str | None = None
    id: int | None = None
    location: str | None = None


class Cycle(msgspec.Struct):
    """A round of actions that repeats.

    Attributes:
        round: the last whole round, the oldest action first.
        times: how many whole rounds there were.
        diffs: what the actions of that round changed, if it was looked for.
    """

    round: list[Applied]
    times: int
    diffs: list[Diff] = []


def find_cycle(stream: Sequence[Applied], least_repeats: int = 3) -> Cycle | None:
    """Return the cycle that a stream of actions ends with, or None: the shortest round.

    Args:
        stream: the actions that changed the IR, the oldest first. It may end within a round.
        least_repeats: how many whole rounds there must be, from 2.
    """
    if least_repeats < 2:
        raise ValueError(f"{least_repeats} is too few for least_repeats: take 2 or more.")
    highest = list(accumulate((each.id or 0 for each in stream), max))
    for period in range(1, min(_LONGEST, len(stream) // least_repeats) + 1):
        # The newest rounds decide: so a long stream costs no more than a short one.
        newest = len(stream) - max(least_repeats, _SURE) * period
        start = _repeated_from(stream, highest, period, max(newest, 0))
        if _is_cycle(stream[start:], period, least_repeats):
            start = _repeated_from(stream, highest, period, 0)
            times = (len(stream) - start) // period
            last = start + (times - 1) * period
            return Cycle(list(stream[last : last + period]), times)
    return None


def _repeated_from(
    stream: Sequence[Applied], highest: Sequence[int], period: int, oldest: int
) -> int:
    """Return the first place, from ``oldest`` on, after which every round is like the last one."""
    first_round = len(stream) - period
    places = [each.location for each in stream[first_round:]]
    for at in reversed(range(oldest, first_round)):
        each, later = stream[at], stream[at + period]
        if each.name != later.name or each.op != later.op or not _made(each, later, highest[at]):
            return at + 1
        # Every occurrence is compared with one place: an unknown one must not join two.
        phase = (at - first_round) % period
        if not _agree(each.location, places[phase]):
            return at + 1
        places[phase] = places[phase] or each.location
    return oldest


def _made(earlier: Applied, later: Applied, highest: int) -> bool:
    """Whether the later action can be on what followed from the earlier one."""
    if earlier.id is None or later.id is None:
        return True
    return later.id == earlier.id or later.id > highest


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _is_cycle(tail: Sequence[Applied], period: int, least_repeats: int) -> bool:
    """Whether rounds that are alike are more than an ordinary run of rewrites."""
    first, times = tail[0], len(tail) // period
    if times < least_repeats:
        return False
    alone = all((each.name, each.op) == (first.name, first.op) for each in tail[:period])
    if alone and times * period < _SURE:
        return False
    phases = [tail[phase::period] for phase in range(period)]
    if any(_comes_again(phase) for phase in phases):
        return True
    return times >= _SURE and _advances_evenly(tail, period)


def _comes_again(phase: Sequence[Applied]) -> bool:
    """Whether the actions in one place of each round are known to be in one place of the IR."""
    if len({each.id for each in phase}) == 1 and phase[0].id is not None:
        return True
    return sum(each.location is not None for each in phase) > 1


def _advances_evenly(tail: Sequence[Applied], period: int) -> bool:
    """Whether all ids grow by the same number from one round to the next."""
    rounds = zip(tail, tail[period:], strict=False)
    steps = {later.id - each.id if each.id and later.id else 0 for each, later in rounds}
    return len(steps) == 1 and 0 not in steps
