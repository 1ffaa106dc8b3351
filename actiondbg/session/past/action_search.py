"""The search for actions of the run, before and after the stop, by replays in forks."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.analysis.actions import ActionList, ListedAction, Window, state_of
from actiondbg.breakpoints.condition import uses_field
from actiondbg.errors import ToolGone
from actiondbg.process.branches import event_before
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.session.past.replay import Place, Replay, logging, read_log, replay_to

LOOK_AHEAD = 1_000_000  # actions after the stop: the tool may never end
_ANY = protocol.OutcomeFilter()
_BEGINS, _ENDS, _FROM, _STOPS = 1, 2, 3, 4  # ids of breakpoints in the forks


class Wanted(NamedTuple):
    """The actions to find."""

    terms: list[protocol.Term]  # of a SPEC; empty for all actions
    condition: protocol.Condition | None = None  # of a SPEC; None for none
    outcome: protocol.OutcomeFilter | None = None  # None for any

    @property
    def at_ends(self) -> bool:
        """Whether the end of an action decides whether it is wanted."""
        return self.outcome is not None or uses_field(self.condition, "outcome")


class ActionSearch:
    """Finds actions of the current timeline, by replays up to its end.

    Actions are counted where they begin or, if only the end decides whether one is wanted, where
    they end: then a window may begin inside of an action that is listed in it.
    """

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def find(self, wanted: Wanted, window: Window) -> ActionList:
        """Return the wanted actions in a window, and the number of the others."""
        place = self._replay.now()
        before, total, here, is_complete = self._count(wanted, window.first, place)
        begin = window.begin(before, total)
        passed = begin
        if window.first is not None:
            wanted, passed = _from(wanted, window.first), 0
        actions = self._listed(wanted, passed, window.count, here, _limit(place))
        return ActionList(
            actions=actions,
            earlier=begin,
            later=total - begin - len(actions),
            is_complete=is_complete,
        )

    def find_all(self, wanted: Wanted) -> list[ListedAction]:
        """Return all wanted actions, with their times."""
        place = self._replay.now()
        with self._replay.log_file() as log, self._replay.fork() as fork:
            fork.request(protocol.SetOptions(count=True))
            fork.request(protocol.SetBreakpoints(breakpoints=_both(wanted)))
            fork.request(protocol.OpenLog(path=str(log)))
            replay_to(fork, place)
            here = fork.event
            _go_on(fork, _limit(place))
            _close_log(fork)
            return self._corrected(_joined(list(read_log(log)), here))

    # --- helpers ---

    def _count(self, wanted: Wanted, first: int | None, place: Place) -> tuple[int, int, int, bool]:
        """Count the wanted actions.

        Returns:
            The number of those before ``first``, or up to the stop; that of all; the event of the
            stop; and whether the end of the run was reached.
        """
        with self._replay.fork() as fork:
            breakpoints = [_logged(wanted, _BEGINS)]
            if first is not None:
                breakpoints.append(_logged(_from(wanted, first), _FROM))
            fork.request(protocol.SetBreakpoints(breakpoints=breakpoints))
            replay_to(fork, place)
            here, before = fork.event, _hits(fork)[_BEGINS]
            is_complete = _go_on(fork, _limit(place))
            hits = _hits(fork)
        if first is not None:
            before = hits[_BEGINS] - hits[_FROM]
        return before, hits[_BEGINS], here, is_complete

    def _listed(
        self, wanted: Wanted, passed: int, count: int, here: int, limit: int
    ) -> list[ListedAction]:
        """Return some of the wanted actions, after those to pass."""
        with self._replay.log_file() as log, self._replay.fork() as fork:
            fork.request(protocol.SetBreakpoints(breakpoints=_with_stop(wanted, passed)))
            if _go_on(fork, limit) or fork.stop is None or not fork.stop.breakpoints:
                return []
            first = fork.stop
            fork.request(protocol.OpenLog(path=str(log)))
            fork.request(protocol.SetBreakpoints(breakpoints=_with_stop(wanted, count - 1)))
            if not _go_on(fork, limit):
                _await_ends(fork)
            _close_log(fork)
            return self._corrected(_joined([first, *read_log(log)], here, count))

    def _corrected(self, actions: list[ListedAction]) -> list[ListedAction]:
        """Correct the state of actions that the stop is inside of, and that the tool left."""
        return [
            msgspec.structs.replace(one, state=self._replay.state_of(one.ordinal, one.state))
            for one in actions
        ]


def _limit(place: Place) -> int:
    return place.ordinal + LOOK_AHEAD


def _go_on(fork: ForkedTool, limit: int) -> bool:
    """Run a fork to a breakpoint, or before the action with an ordinal; return whether it ended."""
    try:
        fork.resume("continue", until=protocol.until_action(limit))
    except ToolGone:
        if fork.exited is None and fork.crashed is None:
            raise
    fork.check_same()
    return fork.is_closed


def _await_ends(fork: ForkedTool) -> None:
    """Continue to the ends of the running actions, and log them: also where an action has erased
    the operation by which it is wanted.
    """
    if fork.stop is not None and fork.stop.depth:
        running = Wanted([], protocol.comparison("ordinal", "<=", fork.stop.ordinal))
        fork.request(protocol.SetBreakpoints(breakpoints=[_logged(running, _ENDS)]))
        with contextlib.suppress(ToolGone):
            fork.resume("finish", fork.stop.depth)


def _close_log(fork: ForkedTool) -> None:
    """Complete the log; a tool that has ended did so."""
    if not fork.is_closed:
        fork.request(protocol.CloseLog())


def _hits(fork: ForkedTool) -> dict[int, int]:
    """Return the hits of the breakpoints of a fork, which may have ended, by their ids."""
    ended = fork.exited or fork.crashed
    hits = ended.hits if ended else fork.request(protocol.GetHits()).hits
    return {one.id: one.hits for one in hits}


# --- breakpoints of the forks ---


def _logged(wanted: Wanted, id: int) -> protocol.WireBreakpoint:
    """Return a logging breakpoint for the beginnings or the ends of actions."""
    outcome = wanted.outcome or (_ANY if id == _ENDS else None)
    return logging(wanted.terms, outcome, condition=wanted.condition, id=id)


def _both(wanted: Wanted) -> list[protocol.WireBreakpoint]:
    if wanted.at_ends:
        return [_logged(wanted, _ENDS)]
    return [_logged(wanted, _BEGINS), _logged(wanted, _ENDS)]


def _with_stop(wanted: Wanted, passed: int) -> list[protocol.WireBreakpoint]:
    """Return logging breakpoints, and one that stops after a number of passed hits."""
    stops = msgspec.structs.replace(_logged(wanted, _STOPS), log=False, ignore=passed)
    return [*_both(wanted), stops]


def _from(wanted: Wanted, first: int) -> Wanted:
    """Return those wanted actions whose ordinal is at least ``first``."""
    condition = protocol.comparison("ordinal", ">=", first)
    if wanted.condition is not None:
        condition = protocol.Condition(call="and", args=[condition, wanted.condition])
    return wanted._replace(condition=condition)


# --- lines of the log ---


def _joined(
    lines: Sequence[Stop | protocol.LoggedHit], here: int, count: int | None = None
) -> list[ListedAction]:
    """Return the first actions whose beginning or change was logged, by ordinal."""
    begins = [line for line in lines if line.when == "before"]
    ends = {line.ordinal: line for line in lines if line.when == "after"}
    actions = begins or list(ends.values())
    found = [_listed(one, ends.get(one.ordinal), here) for one in actions[:count]]
    return sorted(found, key=lambda one: one.ordinal)


def _listed(
    action: Stop | protocol.LoggedHit, end: Stop | protocol.LoggedHit | None, here: int
) -> ListedAction:
    begin = event_before(action.ordinal, action.depth)
    return ListedAction(
        **protocol.ref_fields(action),
        depth=action.depth,
        id=action.id,
        state=state_of(begin, end.event if end else None, here),
        outcome=end.outcome if end else None,
        change_count=end.change_count if end else 0,
        seconds=end.seconds if isinstance(end, protocol.LoggedHit) else None,
    )
