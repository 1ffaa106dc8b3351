"""Scout forks: they replay the current timeline from a checkpoint, and are inspected there."""

from __future__ import annotations

from collections.abc import Iterable

from actiondbg import protocol
from actiondbg.process.branches import Skipped
from actiondbg.process.checkpoints import Frozen
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool, closed_on_error
from actiondbg.process.stop import Stop
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.executions import Executions


class Scout:
    """Forks checkpoints, or the stopped tool, to inspect events of the current timeline."""

    def __init__(self, executions: Executions, options: AgentOptions) -> None:
        self._executions = executions
        self._options = options

    def fork(self, start: ForkedTool, breakpoints: list[protocol.WireBreakpoint]) -> ForkedTool:
        """Fork a checkpoint; close the fork."""
        fork = start.fork()
        with closed_on_error(fork):
            self._instruct(fork, breakpoints)
        return fork

    def fork_tool(self) -> ForkedTool:
        """Fork the stopped tool; close the fork."""
        fork = self._executions.need_idle().fork(protocol.Fork(role="replica"))
        with closed_on_error(fork):
            self._instruct(fork, [])
        return fork

    def fork_with_skips(self, planned: Iterable[int]) -> ForkedTool:
        """Fork the stopped tool with additional planned skips; close the fork."""
        execution = self._executions.need_idle()
        fork = self.fork_tool()
        with closed_on_error(fork):
            skip(fork, execution, planned)
        return fork

    def peek(self, event: int) -> Stop:
        """Return the stop at an event of the past."""
        with self.fork(self.nearest(event), []) as fork:
            stop = fork.go(event)
            fork.check_same()
            return stop

    def frames(self, event: int) -> list[protocol.Frame]:
        """Return the stack of actions at an event of the past."""
        with self.fork(self.nearest(event), []) as fork:
            fork.go(event)
            fork.check_same()
            return fork.request(protocol.GetFrames()).frames

    def nearest(self, event: int) -> ForkedTool:
        """Return the checkpoint with the shortest replay to an event; raises NoAnswer if none."""
        execution = self._executions.need_idle()
        usable = usable_for(execution, event)
        return usable[0].tool if usable else execution.origin

    def _instruct(self, fork: ForkedTool, breakpoints: list[protocol.WireBreakpoint]) -> None:
        branches = self._executions.need_idle().branches
        fork.request(protocol.SetBreakpoints(breakpoints=breakpoints))
        fork.request(branches.request())
        fork.request(self._options.scout_message(bool(breakpoints)))


def usable_for(execution: Execution, event: int) -> list[Frozen]:
    """Return the checkpoints from which an event can be reached, the nearest first."""
    return [
        one
        for one in execution.frozen()
        if one.event < event or (one.event == event and one.at_event)
    ]


def skip(fork: ForkedTool, execution: Execution, planned: Iterable[int]) -> None:
    """Set the skips of a fork: those of the timeline so far, and planned ones."""
    made = [one.ordinal for one in execution.branches.skips() if not is_planned(execution, one)]
    fork.request(execution.branches.request({*made, *planned}))


def is_planned(execution: Execution, action: Skipped) -> bool:
    """Return whether a skipped action is still ahead."""
    return action.event > execution.branches.current.reached
