"""The updates of a session at each stop, which happen in a fixed order."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable

from actiondbg.process.program_run import OtherTurn
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions

# A program ends its workers by SIGTERM when it needs them no longer, as a pool does.
_NO_ERROR = (0, -signal.SIGTERM)

Resuming = Callable[[], None]
Update = Callable[[Stop], Stop]


class StopUpdates:
    """Resumes the tool up to each stop of the session, and runs the updates.

    Args:
        resuming: called before the tool resumes, in any order.
        updates: called with the stop, in order; each returns the stop for the next one.
        follow: called when a tool has ended and the program that started it runs on; returns the
            stop of the next process of the program, or the end.
        turn: called when another process of the program has its turn; likewise.
    """

    def __init__(
        self,
        executions: Executions,
        resuming: list[Resuming],
        updates: list[Update],
        follow: Update,
        turn: Callable[[OtherTurn], Stop],
    ) -> None:
        self._executions = executions
        self._follow = follow
        self._turn = turn
        self._resuming = resuming
        self._updates = updates

    def resume(self, wait: Callable[[], Stop]) -> Stop:
        """Resume the tool, wait for its stop, and update the session.

        Args:
            wait: resumes and waits; if it raises, no update runs.

        Raises:
            SkipMismatch: a saved skip matches no action.
        """
        for each in self._resuming:
            each()
        stop = self._wait(wait)
        while stop.status in _NO_ERROR and self._executions.need().goes_on:
            stop = self._wait(functools.partial(self._follow, stop))
        for update in self._updates:
            stop = update(stop)
        return stop

    def _wait(self, wait: Callable[[], Stop]) -> Stop:
        """Wait for a stop of the process that has its turn."""
        while True:
            try:
                return wait()
            except OtherTurn as turn:
                wait = functools.partial(self._turn, turn)


class InnerStops:
    """Counts the stops inside of an action, after the same event: crashes, failures, interrupts."""

    def __init__(self) -> None:
        self.event = 0
        self.number = 0

    def update(self, stop: Stop) -> Stop:
        """Count a stop."""
        number = self.number if self.event == stop.event else 0
        if stop.when != "during":
            number = 0
        elif stop.reason != "interrupt":
            number += 1
        self.event, self.number = stop.event, number
        return stop
