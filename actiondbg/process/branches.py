"""The timelines of a run, their branches, and what is skipped and edited on each."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Literal

import msgspec

from actiondbg import protocol
from actiondbg.process.stop import Side, Stop
from actiondbg.support.counts import counted


class Skipped(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """A skipped action; ``event`` is the number of the event before it."""

    event: int


class Edited(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """An edit of the IR before or after an action."""

    when: Side  # "before" or "after" the action
    target: str  # the edited IR: "@SYMBOL" or "module"
    edit: protocol.Edit  # as the agent gets it
    # The hunks of a unified diff of the printed text; none for passes.
    patch: list[str] = msgspec.field(default_factory=list[str])
    # The ordinal of its action in the file that it was loaded from; None for an edit made at a
    # stop.
    saved: int | None = None


class RuleSpan(msgspec.Struct, kw_only=True, frozen=True):
    """The standing rules from a place on, up to the next span of the timeline."""

    event: int  # the newest event at the place; 0 at the beginning of the run
    ordinal: int  # the first action that they apply to
    rules: list[protocol.SkipRule]  # those that the agent gets are limited to the span


class Branch(msgspec.Struct, kw_only=True):
    """An alternative timeline, from the event where it leaves its parent.

    Attributes:
        number: from 1.
        parent: the branch that it leaves; None for the first.
        event: the event where it leaves its parent; 0 for the first.
        ordinal: of the action that got another control there, or at which the IR was edited; 0
            for the first.
        skips: the actions that are skipped on it, in the order of the events.
        edits: the edits on it, in the order of the events.
        applied: the actions that a standing rule matches, and that were applied.
        spans: the standing rules, in the order of the events.
        reached: its newest event.
        actions: the number of actions up to that event.
        created: the operations and blocks that it shares with its parent; None for the first.
        ended: whether the tool has ended on it.
    """

    number: int
    parent: int | None = None
    event: int = 0
    ordinal: int = 0
    skips: list[Skipped] = []
    edits: list[Edited] = []
    applied: list[Skipped] = []
    spans: list[RuleSpan] = []
    reached: int = 0
    actions: int = 0
    created: protocol.Created | None = None
    ended: bool = False

    @property
    def begins_edited(self) -> bool:
        """Whether an edit, and not a control, makes it differ from its parent."""
        return any(one.edit.event == self.event for one in self.edits)

    def holds(self, event: int, at_event: bool) -> bool:
        """Return whether a position is behind its beginning; see ``Branches.owner``."""
        at_beginning = event == self.event and (not at_event or self.begins_edited)
        return self.event < event or at_beginning


class Timeline(msgspec.Struct, kw_only=True, frozen=True):
    """The branches of a run, and the position of the tool on them.

    Attributes:
        branches: in the order of their creation.
        current: the number of the tool's branch.
        when: "before", "after" or "during" the current action, "exit" at the end; None while the
            tool runs.
        ordinal: the current action's number, from 1; 0 outside of any action.
        event: the newest event, from 1; 0 before the first event.
    """

    branches: list[Branch]
    current: int
    when: Literal["before", "after", "during", "exit"] | None
    ordinal: int
    event: int


class Branches:
    """All branches of a run, and the ``current`` one, that of the tool."""

    def __init__(self) -> None:
        self._all = [Branch(number=1)]
        self.current = self._all[0]

    def all(self) -> list[Branch]:
        """Return copies of all, in the order of their numbers."""
        return copy.deepcopy(self._all)

    def switch(self, number: int) -> None:
        """Make another branch current."""
        self.current = self._all[number - 1]

    def save(self) -> Branches:
        """Return a copy, which later controls do not change."""
        return copy.deepcopy(self)

    # --- positions ---

    def owner(self, event: int, at_event: bool) -> Branch:
        """Return the branch of the current timeline that holds a position.

        Args:
            event: the newest event of the position.
            at_event: whether the position is a stop before or after an action, not behind it.
        """
        found = self._all[0]
        for branch in self._path():
            if branch.holds(event, at_event):
                found = branch
        return found

    def holds(self, number: int, event: int, at_event: bool) -> bool:
        """Return whether a position on a branch is on the current timeline; see ``owner``."""
        if not at_event and any(one.event == event for one in self.skips()):
            return False  # inside of an action that is skipped now
        path = self._path()
        for branch, leaving in zip(path, [*path[1:], None], strict=True):
            if branch.number == number:
                return leaving is None or not leaving.holds(event, at_event)
        return False

    # --- skips ---

    def skips(self) -> list[Skipped]:
        """Return the actions skipped on the current timeline, in the order of the events.

        Planned skips of actions ahead are included, those of standing rules are not.
        """
        found: list[Skipped] = []
        for branch in self._path():
            # An edit leaves the control at its event as it is.
            newest = branch.event - (not branch.begins_edited)
            found = [one for one in found if one.event <= newest] + branch.skips
        return found

    def ordinals(self) -> list[int]:
        """Return the ordinals of the actions skipped on the current timeline; see ``skips``."""
        return [one.ordinal for one in self.skips()]

    def planned(self) -> list[int]:
        """Return the ordinals of the skips of actions ahead."""
        return [one.ordinal for one in self.skips() if one.event > self.current.reached]

    def request(self, ordinals: Iterable[int] | None = None) -> protocol.SetSkips:
        """Return the request that skips what the current timeline skips, or the given ordinals."""
        return protocol.SetSkips(
            ordinals=self.ordinals() if ordinals is None else sorted(ordinals),
            rules=self._rules(),
            applied=self._applied(),
            edits=[one.edit for one in self.edits()],
        )

    def _applied(self) -> list[int]:
        found: list[Skipped] = []
        for branch in self._path():
            found = [one for one in found if one.event < branch.event] + branch.applied
        return [one.ordinal for one in found]

    # --- edits ---

    def edits(self) -> list[Edited]:
        """Return the edits of the current timeline, those ahead included, in their order."""
        found: list[Edited] = []
        for branch in self._path():
            found = [one for one in found if one.edit.event <= branch.event] + branch.edits
        return found

    def edit(self, stop: Stop, edited: Edited) -> None:
        """Begin a new branch with an edit at a stop; edits ahead do not apply to it."""
        self._leave(stop)
        self.current.edits = [edited]

    def plan_edits(self, planned: Iterable[Edited]) -> None:
        """Add edits ahead to the current branch."""
        self.current.edits = [*self.current.edits, *planned]

    def newest_edited(self) -> Branch | None:
        """Return the newest branch of the current timeline that an edit began; None without one."""
        edited = [branch for branch in self._path() if branch.begins_edited]
        return edited[-1] if edited else None

    # --- standing rules ---

    def _spans(self) -> list[RuleSpan]:
        found: list[RuleSpan] = []
        for branch in self._path():
            found = [one for one in found if one.event <= branch.event] + branch.spans
        return found

    def _rules(self) -> list[protocol.SkipRule]:
        spans = self._spans()
        found: list[protocol.SkipRule] = []
        for span, following in zip(spans, [*spans[1:], None], strict=False):
            end = None if following is None else following.ordinal - 1
            if end is None or span.ordinal <= end:
                found += [
                    msgspec.structs.replace(rule, first=span.ordinal, last=end)
                    for rule in span.rules
                ]
        return found

    def set_rules(self, span: RuleSpan) -> None:
        """Begin a span of standing rules on the current branch, unless they are in force."""
        spans = self._spans()
        if (spans[-1].rules if spans else []) != span.rules:
            branch = self.current
            branch.spans = [*(one for one in branch.spans if one.event < span.event), span]

    # --- controls ---

    def plan(self, planned: Iterable[Skipped]) -> None:
        """Replace the planned skips of actions ahead."""
        branch = self.current
        made = [one for one in branch.skips if one.event <= branch.reached]
        branch.skips = made + sorted(planned, key=lambda one: one.event)

    def decide(self, stop: Stop, skip: bool) -> bool:
        """Record whether an action is skipped, at the stop before it.

        A control that differs from the earlier one at this event begins a new branch. Later skips
        of the old branch, and planned ones, do not apply to the new branch.

        Returns:
            Whether the control differs.
        """
        is_planned = stop.ordinal in self.ordinals()
        is_ruled = stop.skipped and not is_planned
        if skip == (is_planned or is_ruled):
            return False
        self.leave(stop)
        branch = self.current
        branch.skips = [one for one in branch.skips if one.event < stop.event]
        branch.applied = [one for one in branch.applied if one.event < stop.event]
        if skip:
            branch.skips.append(skipped_at(stop))
        elif is_ruled:
            branch.applied.append(skipped_at(stop))
        return True

    def leave(self, stop: Stop) -> None:
        """Begin a new branch at a stop, if the current one continues behind it."""
        if self.current.reached > stop.event:
            self._leave(stop)

    def reach(self, stop: Stop) -> None:
        """Record the newest stop of the tool."""
        branch = self.current
        if stop.event >= branch.reached:
            branch.reached = stop.event
            branch.actions = max(branch.actions, actions_at(stop))
            branch.ended |= stop.when == "exit"

    def _leave(self, stop: Stop) -> None:
        branch = Branch(
            number=len(self._all) + 1,
            parent=self.owner(stop.event, at_event=True).number,
            event=stop.event,
            ordinal=stop.ordinal,
            reached=stop.event,
            actions=actions_at(stop),
            created=stop.created,
        )
        self._all.append(branch)
        self.current = branch

    def _path(self) -> list[Branch]:
        """Return the branches of the current timeline, the first one first."""
        path = [self.current]
        while (parent := path[-1].parent) is not None:
            path.append(self._all[parent - 1])
        return path[::-1]


def skipped_at(stop: Stop) -> Skipped:
    """Return the action of a stop as a skipped one."""
    return Skipped(event=stop.event, **protocol.ref_fields(stop))


def event_before(ordinal: int, depth: int) -> int:
    """Return the number of the event before an action.

    All earlier actions have begun, and all of them have ended but the ``depth`` ones around it.
    """
    return 2 * ordinal - 1 - depth


def actions_at(stop: Stop) -> int:
    """Return the number of actions that have begun at a stop: the inverse of ``event_before``."""
    if stop.actions is not None:
        return stop.actions
    running = stop.depth + (stop.when != "after") if stop.ordinal else 0
    return (stop.event + running) // 2


ALREADY_THERE = "Already before the first action: there is nothing to go back to."
BEGINNING = "this is the beginning of the run"


def only_found(hits: int) -> str:
    """Return why a reverse control stops before the first action, after some hits."""
    verb = "was" if hits == 1 else "were"
    found = f"only {counted(hits, 'hit')} {verb} found" if hits else "nothing was hit"
    return f"{found} before: {BEGINNING}"


def too_far_out(depth: int) -> str:
    """Return why there is no action so many levels around a stop of a depth."""
    if not depth:
        return "No action is around this stop: use reverse-next or reverse-step."
    verb = "is" if depth == 1 else "are"
    return f"Only {counted(depth, 'action')} {verb} around this stop: give a smaller count."
