"""Python callbacks before and after the actions that match a SPEC, and at each stop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from actiondbg import protocol
from actiondbg.breakpoints.resolution import Vocabulary, resolve_spec
from actiondbg.breakpoints.spec import parse_spec
from actiondbg.errors import AgentError, ControlRefused, UsageError
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import FOLD_TAG
from actiondbg.session.breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions

Callback = Callable[[Stop], object]

_FIRST_ID = 1 << 28  # of the breakpoints of observers; a user's are below
_GOAL_ID = (1 << 29) + 1  # of the breakpoint of a control's goal


@dataclass(frozen=True, eq=False)
class Observer:
    """Callbacks for the actions that match a SPEC.

    Attributes:
        spec: which actions.
        before: called with the stop before each of them, or None.
        after: called with the stop after each of them, or None.
    """

    spec: str
    before: Callback | None = None
    after: Callback | None = None

    def __post_init__(self) -> None:
        if self.before is None and self.after is None:
            raise UsageError("An observer needs a callback: give before=, after= or both.")


class CallbackRuns:
    """Runs of callbacks; a callback may look at the session, but not resume it."""

    def __init__(self) -> None:
        self._is_notifying = False
        self._at_stops: list[Callback] = []

    def on_stop(self, callback: Callback) -> None:
        """Register a callback for each stop of the session, including the tool's end."""
        self._at_stops.append(callback)

    def check_resumable(self) -> None:
        """Raise ControlRefused while a callback runs."""
        if self._is_notifying:
            raise ControlRefused("A callback cannot resume the tool: return, and resume it then.")

    @contextmanager
    def notifying(self) -> Generator[None]:
        """Refuse controls while a callback runs."""
        self._is_notifying = True
        try:
            yield
        finally:
            self._is_notifying = False

    def call(self, callbacks: Iterable[Callback], stop: Stop) -> None:
        """Call callbacks with a stop."""
        with self.notifying():
            for callback in callbacks:
                callback(stop)


@dataclass(frozen=True)
class Goal:
    """The stop that a control aims at, apart from breakpoints."""

    reason: protocol.Reason = "breakpoint"  # the reason of that stop
    # The ordinal of an action, and "before" or "after"; or None.
    place: tuple[int, str] | None = None
    # Those whose hits reach the goal too.
    breakpoints: list[protocol.WireBreakpoint] = field(
        default_factory=list[protocol.WireBreakpoint]
    )
    any_event: bool = False  # the very next event reaches the goal
    # A hit counts only if the action itself changed the IR, not a nested one.
    own_change: bool = False


class ObserverList(CallbackRuns):
    """The observers of a session.

    Callbacks run for each matching action that a control passes or stops at, but not for actions
    that time travel replays. A callback may inspect the session and set breakpoints, but not
    resume the tool.
    """

    def __init__(
        self, executions: Executions, breakpoints: AgentBreakpoints, names: Vocabulary
    ) -> None:
        super().__init__()
        self._executions = executions
        self._names = names
        self._breakpoints = breakpoints
        self._ids = itertools.count(_FIRST_ID)
        self._callbacks: dict[int, tuple[Observer, Callback]] = {}
        self._wire: dict[int, protocol.WireBreakpoint] = {}
        self._goal = Goal()
        self._is_aiming = False
        self._fired: list[Callback] = []
        # Whether the newest stop was for observers only, and the tool has to resume.
        self.passes = False
        # Whether predicates have refused every breakpoint of the newest stop.
        self.has_refused = False
        self._is_deferring = False
        self._is_deferred = False
        breakpoints.observers.append(self._on_wire)

    def add(
        self, spec: str, *, before: Callback | None = None, after: Callback | None = None
    ) -> Observer:
        """Register callbacks for the actions that match a SPEC.

        Args:
            spec: as of a breakpoint.
            before: called with the stop before each action.
            after: called with the stop after each action.

        Raises:
            UsageError: the spec has a syntax error, or there is no callback.
            NotStopped: the tool runs.
        """
        made = Observer(spec, before, after)
        terms = parse_spec(resolve_spec(spec, self._names).spec)
        self._breakpoints.check_changeable()
        added: list[int] = []
        for callback, is_after in ((before, False), (after, True)):
            if callback is not None:
                id = next(self._ids)
                self._callbacks[id] = made, callback
                self._wire[id] = protocol.WireBreakpoint(id=id, terms=terms, after=is_after)
                added.append(id)
        try:
            self._breakpoints.send()
        except AgentError:
            self._forget(added)
            raise
        return made

    def remove(self, observer: Observer) -> None:
        """Remove an observer, if it is registered."""
        self._breakpoints.check_changeable()
        self._forget([id for id, (one, _) in self._callbacks.items() if one is observer])
        self._breakpoints.send()

    # --- interface of the tool's control ---

    @property
    def is_active(self) -> bool:
        """Whether the tool may stop for callbacks alone: for observers or predicates."""
        return bool(self._wire) or self.have_predicates

    @property
    def have_predicates(self) -> bool:
        """Whether a breakpoint has a predicate, an enabled one or not."""
        return any(one.predicate is not None for one in self._breakpoints.table.all())

    @contextmanager
    def reporting_once(self) -> Generator[None]:
        """Report only the last stop of the block to ``on_stop``, at its end."""
        if self._is_deferring:
            yield
            return
        self._is_deferring, self._is_deferred = True, False
        try:
            yield
        finally:
            self._is_deferring = False
            stop = self._executions.stop
            if self._is_deferred and stop is not None:
                self.call(self._at_stops, stop)

    @contextmanager
    def aiming(self, goal: Goal) -> Generator[None]:
        """Stop at a goal in the block, and resume after stops for callbacks alone."""
        self._goal, self._is_aiming = goal, True
        if goal.breakpoints:
            self._breakpoints.send()
        try:
            yield
        finally:
            self._goal, self._is_aiming = Goal(), False
            if goal.breakpoints and self._executions.state == "stopped":
                self._breakpoints.send()

    # --- updates at a stop ---

    def filter(self, stop: Stop) -> Stop:
        """Remove the observers' breakpoints, and those with a false predicate, from a stop."""
        self._fired, self.passes, self.has_refused = [], False, False
        hit = stop.breakpoints
        if not hit or stop.when == "exit":
            return stop
        self._fired = [self._callbacks[id][1] for id in hit if id in self._callbacks]
        is_goal = self._is_goal(stop)
        kept = [id for id in hit if id < _FIRST_ID or id > _GOAL_ID]
        kept = [id for id in kept if self._holds(id, stop)]
        if kept == hit:
            return stop
        if not kept and stop.reason in ("breakpoint", "watch"):
            self.has_refused = True
            self.passes = self._is_aiming and not is_goal
            stop = stop.with_reason(self._goal.reason if is_goal else "until")
        stop = msgspec.structs.replace(stop, breakpoints=kept)
        self._executions.need().stop = stop
        return stop

    def notify(self, stop: Stop) -> Stop:
        """Call the callbacks of a stop."""
        self._is_deferred = self._is_deferring and not self.passes
        is_reported = not self._is_deferring and not self.passes
        callbacks = [*self._fired, *(self._at_stops if is_reported else ())]
        if callbacks:
            self.call(callbacks, stop)
        return stop

    def _is_goal(self, stop: Stop) -> bool:
        goal = self._goal
        if goal.any_event or (stop.ordinal, stop.when) == goal.place:
            return True
        if _GOAL_ID not in stop.breakpoints:
            return False
        if not goal.own_change or stop.tag == FOLD_TAG:
            return True
        return self._executions.ask(protocol.GetChanges(nested=False, count=0)).total > 0

    def _holds(self, id: int, stop: Stop) -> bool:
        """Return whether the predicate of a breakpoint holds, or it has none."""
        predicate = next(
            (one.predicate for one in self._breakpoints.table.all() if one.id == id), None
        )
        if predicate is None:
            return True
        with self.notifying():
            return bool(predicate(stop))

    def _on_wire(self) -> list[protocol.WireBreakpoint]:
        return [*self._wire.values(), *self._goal.breakpoints]

    def _forget(self, ids: list[int]) -> None:
        for id in ids:
            del self._callbacks[id], self._wire[id]


def goal_breakpoint(until: protocol.Until) -> protocol.WireBreakpoint:
    """Return the breakpoint that is hit at the end of ``until``."""
    return protocol.WireBreakpoint(
        id=_GOAL_ID,
        after=until.after,
        terms=until.terms,
        condition=until.condition,
        outcome=until.outcome,
    )
