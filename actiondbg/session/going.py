"""Going on from a stop, and what has to be noted on the way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from actiondbg import protocol
from actiondbg.errors import AgentError, NotStopped, UsageError
from actiondbg.process.execution import Execution
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branches
from actiondbg.session.past import Past


class Going(Past):
    """The part of Session that lets the tool go on, and notes what was answered.

    An answer to a stop that is another one than before begins a new branch of the timeline.
    """

    def __init__(self) -> None:
        super().__init__()
        # At how many stops inside of an action, after which event, the tool stood.
        self._inside = (0, 0)

    @abstractmethod
    def _ended(self) -> None:
        """Take note of the tool's end."""

    @abstractmethod
    def _begin_branch(self, run: Execution) -> None:
        """Have the tool, at a stop, write on a new timeline."""

    @abstractmethod
    def _replan(self, planned: list[int]) -> None:
        """Plan anew what was to be skipped at these ordinals, as another answer was given."""

    def _need_run(self) -> Execution:
        run = self._current
        if run is None:
            raise NotStopped("The tool is not running: start it with run or start.")
        return run

    def _resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        if count < 1:
            raise UsageError(f"The count is {count}, and has to be at least 1.")
        run = self._need_run()
        message = protocol.Resume(control=control, count=count, until=until)
        before = self._decide(run, control)
        try:
            return self._arrive(lambda: run.resume(message))
        except AgentError:
            if before is not None:
                run.branches = before
                self._send_skips(run)
            raise

    def _decide(self, run: Execution, control: protocol.Control) -> Branches | None:
        """Note an answer; return the timelines as they were if it is a new one."""
        stop = run.stop
        answers = control in ("skip", "apply") and run.state == "stopped"
        if stop is None or not answers or stop.when != "before":
            return None
        before = run.branches.save()
        if not run.branches.decide(stop, control == "skip"):
            return None
        if run.branches.current.number != before.current.number:
            self._begin_branch(run)
        self._send_skips(run)
        reached = before.current.reached
        planned = [one.ordinal for one in before.skips() if one.event > reached]
        self._replan(planned)
        return before

    def _send_skips(self, run: Execution) -> None:
        run.request(protocol.SetSkips(ordinals=run.branches.ordinals()))

    def _arrive(self, wait: Callable[[], Stop]) -> Stop:
        """Wait for a stop, and bring what depends on it up to date."""
        self._hits_are_old = True
        self._forget_stop()
        stop = wait()
        self._list.remove_temporary(stop.breakpoints)
        self._need_run().branches.reach(stop)
        self._count_inside(stop)
        if stop.when == "exit":
            self._count_hits()
            self._ended()
        return stop

    def _count_inside(self, stop: Stop) -> None:
        event, number = self._inside
        number = number if event == stop.event else 0
        if stop.when != "during":
            number = 0
        elif stop.reason != "interrupt":
            number += 1
        self._inside = stop.event, number
