"""The replacement of the tool by a fork, or a new process, that has replayed to an event."""

from __future__ import annotations

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ToolGone
from actiondbg.process.branches import Branches
from actiondbg.process.checkpoints import Frozen
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool, closed_on_error
from actiondbg.process.stop import Stop, with_skipping
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions

_SEEN = "the program that started the tool has read its exit status, and continues"
_AGAIN = "the tool cannot be forked: it was started again and replayed from its start"


class ToolReplacement:
    """Replaces the tool by a process that has replayed to another event.

    The old process is killed after the new one has reached the event. On an error before that, or
    on KeyboardInterrupt, the tool is unchanged.
    """

    def __init__(
        self, executions: Executions, breakpoints: AgentBreakpoints, options: AgentOptions
    ) -> None:
        self._executions = executions
        self._breakpoints = breakpoints
        self._options = options

    def begin_branch(self) -> None:
        """Prepare the stopped tool for output on a new timeline.

        A tool that is silent up to earlier output is replaced by a fork that is not.
        """
        execution = self._executions.need_idle()
        stop = execution.stop
        if not execution.is_muted or stop is None:
            self._options.freeze_current()
            return
        execution.check_childless()
        shared = self._executions.shared_streams()
        made = execution.fork(protocol.Fork(role="tool", shared=shared))
        with closed_on_error(made):
            self._prepare(execution, made, execution.branches)
        execution.adopt(made, stop, execution.branches, muted=None)

    def fork(self, frozen: Frozen, branches: Branches) -> ForkedTool | None:
        """Fork a checkpoint to replace the tool; return None if that failed, and it was dropped."""
        execution = self._executions.need_idle()
        execution.check_childless()
        same = branches.current.number == execution.branches.current.number
        try:
            return frozen.tool.fork(
                "tool",
                muted=execution.shown() if same else None,
                shared=self._executions.shared_streams(),
            )
        except (AgentError, ToolGone, NotStopped):
            execution.checkpoints.drop(frozen)
            return None

    def replace(
        self, made: ForkedTool, branches: Branches, event: int | None = None, inside: int = 0
    ) -> Stop:
        """Replay in a fork up to an event, and replace the tool by the fork.

        Args:
            made: the fork, of the role "tool".
            branches: the timelines; the fork is on the current one.
            event: the target; None for the current event of the fork.
            inside: 0 for the event itself; k for the k-th stop in an action after it.
        """
        execution = self._executions.need_idle()
        same = branches.current.number == execution.branches.current.number
        muted = execution.shown() if same else None
        with closed_on_error(made):
            self._prepare(execution, made, branches)
            stop = made.stop if event is None else _advance(made, event, inside)
            if (
                event is None and stop is not None and stop.reason == "start"
            ):  # why it was gone to then
                stop = msgspec.structs.replace(stop, message=None)
            stop = self._breakpoints.as_seen(stop)
            self._breakpoints.remove_temporary(stop)
            made.request(protocol.SetBreakpoints(breakpoints=self._breakpoints.all()))
            hits = made.request(protocol.GetHits()).hits
        if execution.has_been_seen_to_end:
            stop = msgspec.structs.replace(stop, message=_SEEN)
        stop = execution.adopt(made, stop, branches, muted)
        self._breakpoints.table.recount(hits)
        return stop

    def start_again(
        self,
        resume: protocol.Resume,
        breakpoints: list[protocol.WireBreakpoint],
        inside: int = 0,
    ) -> Stop:
        """Start a tool without forks again, and replay to an event; see ``replace`` for ``inside``.

        Raises:
            NoAnswer: the new process may run other actions.
        """
        execution = self._executions.need_idle()
        execution.check_repeatable()
        skips = execution.branches.request()
        again = self._executions.start_beside(self._options.launch(resume, breakpoints, skips))
        try:
            stop = again.wait()
            for _ in range(inside):
                stop = again.resume(protocol.Resume(control="continue"))
            _check_arrival(stop, resume.event, inside)
            stop = self._breakpoints.as_seen(stop)
            self._breakpoints.remove_temporary(stop)
            again.request(protocol.SetBreakpoints(breakpoints=self._breakpoints.all()))
            hits = again.request(protocol.GetHits()).hits
        except BaseException:
            again.kill()
            raise
        again.branches = execution.branches
        again.stop = msgspec.structs.replace(stop, message=stop.message or _AGAIN)
        self._executions.replace(again)
        self._breakpoints.table.recount(hits)
        return again.stop

    def _prepare(self, execution: Execution, made: ForkedTool, branches: Branches) -> None:
        made.request(protocol.SetBreakpoints(breakpoints=self._breakpoints.quiet()))
        skipping = made.request(branches.request())
        made.stop = with_skipping(made.stop, skipping)
        made.request(self._options.message())
        made.request(execution.checkpoint_options(branches))


def _advance(made: ForkedTool, event: int, inside: int) -> Stop:
    stop = made.go(event)
    for _ in range(inside):
        stop = made.resume("continue")
    made.check_same()
    _check_arrival(stop, event, inside)
    return stop


def _check_arrival(stop: Stop, event: int | None, inside: int) -> None:
    is_there = stop.event == event or (event is None and stop.reason == "until")
    if not is_there or (stop.when == "during") != bool(inside):
        raise NoAnswer(_diverged(stop, event))


def _diverged(stop: Stop, event: int | None) -> str:
    target = "the action" if event is None else f"event {event}"
    found = "the end of the run" if stop.when == "exit" else f"event {stop.event}"
    return (
        f"Replay diverged: {target} was not reached again (stopped at {found}). "
        "The tool may be nondeterministic."
    )
