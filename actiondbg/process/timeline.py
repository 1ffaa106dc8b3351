"""The timelines of a run: what was skipped on each, and where one leaves another."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Literal

import msgspec

from actiondbg.process.stop import Stop


class Skipped(msgspec.Struct, kw_only=True, frozen=True):
    """An action that is skipped when it comes.

    Attributes:
        ordinal: its number, from 1.
        event: the number of its beginning.
        tag: its kind.
        name: what it is about.
        op: the name of the operation that it is about, or None.
        location: FILE:LINE:COL of that operation, or None.
        function: the symbol that holds that operation, or None.
    """

    ordinal: int
    event: int
    tag: str
    name: str
    op: str | None = None
    location: str | None = None
    function: str | None = None


class Branch(msgspec.Struct, kw_only=True):
    """A timeline from where it leaves another one on.

    Attributes:
        number: from 1.
        parent: the branch that it leaves, or None of the first.
        event: it leaves that one at this event, the beginning of an action; 0 of the first.
        ordinal: of the action that was answered differently there; 0 of the first.
        skips: what is skipped on it after that, and there; in the order of the events.
        reached: the newest event that there was on it.
        actions: how many actions there were by then.
        ended: whether the tool came to its end on it.
    """

    number: int
    parent: int | None = None
    event: int = 0
    ordinal: int = 0
    skips: list[Skipped] = []
    reached: int = 0
    actions: int = 0
    ended: bool = False


class Timeline(msgspec.Struct, kw_only=True, frozen=True):
    """The branches of a run, and where on them the tool stands.

    Attributes:
        branches: in the order in which they were begun.
        current: the number of the branch that the tool is on.
        when: the side of the action at which it stands, "exit" at its end; None while it runs.
        ordinal: that action's number, from 1; 0 where there is none.
        event: the newest event, from 1; 0 where none has come.
    """

    branches: list[Branch]
    current: int
    when: Literal["before", "after", "during", "exit"] | None
    ordinal: int
    event: int


class Branches:
    """All branches of a run, and the one that it is on."""

    def __init__(self) -> None:
        self._all = [Branch(number=1)]
        self._current = self._all[0]

    @property
    def current(self) -> Branch:
        """The branch that the tool is on; it began where it left its parent."""
        return self._current

    def all(self) -> list[Branch]:
        """Return copies of all, in the order of their numbers."""
        return copy.deepcopy(self._all)

    def switch(self, number: int) -> None:
        """Go to another branch."""
        self._current = self._all[number - 1]

    def save(self) -> Branches:
        """Return a copy, which later decisions do not change."""
        return copy.deepcopy(self)

    # --- where something lies ---

    def owner(self, event: int, stands: bool) -> Branch:
        """Return the branch of the current timeline on which a place lies.

        Args:
            event: the newest event there.
            stands: whether it is at a stop before or after an action: at the event, not behind it.
        """
        found = self._all[0]
        for branch in self._path():
            if branch.event < event or (branch.event == event and not stands):
                found = branch
        return found

    def holds(self, number: int, event: int, stands: bool) -> bool:
        """Tell whether a place on a branch lies on the current timeline; see ``owner``."""
        path = self._path()
        for branch, left in zip(path, [*(one.event for one in path[1:]), math.inf], strict=True):
            if branch.number == number:
                return event < left or (event == left and stands)
        return False

    # --- what is skipped ---

    def skips(self) -> list[Skipped]:
        """Return what is skipped on the current timeline, in the order of the events.

        What is planned for events that have not come yet is among it.
        """
        found: list[Skipped] = []
        for branch in self._path():
            found = [one for one in found if one.event < branch.event]
            found += branch.skips
        return found

    def ordinals(self) -> list[int]:
        """Return the ordinals of what is skipped on the current timeline."""
        return [one.ordinal for one in self.skips()]

    def plan(self, planned: Iterable[Skipped]) -> None:
        """Skip actions to come, instead of those that were planned before."""
        branch = self._current
        made = [one for one in branch.skips if one.event <= branch.reached]
        branch.skips = made + sorted(planned, key=lambda one: one.event)

    def decide(self, stop: Stop, skip: bool) -> bool:
        """Note the answer at a stop before an action.

        An answer that is not the one that was given there before begins a new branch. What is
        skipped after it on the old one, and what is planned, does not hold any more.

        Returns:
            Whether the answer is a new one.
        """
        if skip == (stop.ordinal in self.ordinals()):
            return False
        if self._current.reached > stop.event:
            self._leave(stop)
        branch = self._current
        branch.skips = [one for one in branch.skips if one.event < stop.event]
        if skip:
            branch.skips.append(skipped_at(stop))
        return True

    def reach(self, stop: Stop) -> None:
        """Note how far the tool came."""
        branch = self._current
        if stop.event >= branch.reached:
            branch.reached = stop.event
            branch.actions = max(branch.actions, actions_at(stop))
            branch.ended |= stop.when == "exit"

    def _leave(self, stop: Stop) -> None:
        branch = Branch(
            number=len(self._all) + 1,
            parent=self.owner(stop.event, stands=True).number,
            event=stop.event,
            ordinal=stop.ordinal,
            reached=stop.event,
            actions=actions_at(stop),
        )
        self._all.append(branch)
        self._current = branch

    def _path(self) -> list[Branch]:
        """Return the branches of the current timeline, the first one first."""
        path = [self._current]
        while (parent := path[-1].parent) is not None:
            path.append(self._all[parent - 1])
        return path[::-1]


def skipped_at(stop: Stop) -> Skipped:
    """Return the action of a stop before it, as one that is skipped."""
    return Skipped(
        ordinal=stop.ordinal,
        event=stop.event,
        tag=stop.tag,
        name=stop.name,
        op=stop.op,
        location=stop.location,
        function=stop.function,
    )


def event_before(ordinal: int, depth: int) -> int:
    """Return the number of the event at which an action begins.

    All actions before it have begun, and all but the ``depth`` ones around it are over.
    """
    return 2 * ordinal - 1 - depth


def actions_at(stop: Stop) -> int:
    """Return how many actions have begun at a stop: the inverse of ``event_before``."""
    if stop.actions is not None:
        return stop.actions
    running = stop.depth + (stop.when != "after") if stop.ordinal else 0
    return (stop.event + running) // 2
