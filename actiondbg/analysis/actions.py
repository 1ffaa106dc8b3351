"""Actions of a run in their order, before and after the stop."""

from __future__ import annotations

from typing import Literal

import msgspec

from actiondbg import protocol

# Relative to the stop: the action has ended or was left, runs, or has not begun.
ActionState = Literal["over", "running", "ahead"]


class ListedAction(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """An action of a list."""

    depth: int  # the number of actions around it
    id: int | None = None  # the id of its operation, or None
    state: ActionState  # where it is, relative to the stop
    outcome: protocol.Outcome | None = None  # None if it did not end
    change_count: int = 0  # the number of changes, those of nested actions included
    seconds: float | None = None  # the time that it took, or None


class ActionList(msgspec.Struct, kw_only=True, frozen=True):
    """Consecutive actions among those of a run that match."""

    actions: list[ListedAction]  # in the order of their ordinals
    earlier: int  # the number of matching actions before them
    later: int  # the number of matching actions after them
    # Whether ``later`` counts up to the end of the run; otherwise up to a limit.
    is_complete: bool = True


class Window(msgspec.Struct, kw_only=True, frozen=True):
    """The part of a list to show."""

    first: int | None = None  # the ordinal to begin with; None: actions around the stop
    count: int = 20  # the largest number of actions, from 1

    def begin(self, before: int, total: int) -> int:
        """Return the index of the first action to show.

        Args:
            before: the number of actions before ``first``, or that have begun at the stop.
            total: the number of actions.
        """
        if self.first is not None:
            return before
        # The action of the stop is in the middle, as far as there are actions after it.
        return max(0, min(before - (self.count + 1) // 2, total - self.count))


def state_of(begin: int, end: int | None, here: int) -> ActionState:
    """Return where an action is, by the events of its beginning, its end or None, and the stop."""
    if end is not None and end <= here:
        return "over"
    # At the stop before an action, it may still be skipped.
    return "running" if begin < here else "ahead"
