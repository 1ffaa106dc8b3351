"""Callbacks for the recorded actions that a control passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actiondbg.process.stop import Stop
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.session.action_query import ActionQuery
from actiondbg.session.observers import Callback, CallbackRuns, Observer


@dataclass(frozen=True)
class _Observed:
    """An observer, and the events at which its actions begin and end, sorted."""

    observer: Observer
    begins: Ints
    ends: Ints


class RecordedObservers(CallbackRuns):
    """Calls observers for each matching action between two stops."""

    def __init__(self, query: ActionQuery) -> None:
        super().__init__()
        self._query = query
        self._observed: list[_Observed] = []

    def add(
        self,
        spec: str,
        *,
        before: Callable[[Stop], object] | None = None,
        after: Callable[[Stop], object] | None = None,
    ) -> Observer:
        """Add callbacks at the matching actions that a control passes or stops at.

        During a callback the session stands at that event; see ``ObserverList.add``.
        """
        observer = Observer(spec, before, after)
        places = self._query.places(spec)
        actions = self._query.actions
        begins, ends = actions.line.begins[places], actions.end_events(places)
        self._observed.append(_Observed(observer, begins, ends))
        return observer

    def remove(self, observer: Observer) -> None:
        """Remove an observer; does nothing for an unknown one."""
        self._observed = [each for each in self._observed if each.observer is not observer]

    def calls(self, after: int, event: int) -> list[tuple[int, Callback]]:
        """Return the callbacks after an event, up to another, in order, each with its event."""
        calls: list[tuple[int, Callback]] = []
        for each in self._observed:
            for events, callback in (
                (each.begins, each.observer.before),
                (each.ends, each.observer.after),
            ):
                if callback is not None:
                    first, last = np.searchsorted(events, [after, event], side="right")
                    calls += [(int(at), callback) for at in events[first:last]]
        # Stable: at one event, in the order in which they were added.
        return sorted(calls, key=lambda call: call[0])

    def stopped(self, stop: Stop) -> None:
        """Call the functions of ``on_stop``."""
        self.call(self._at_stops, stop)
