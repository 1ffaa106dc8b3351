"""The processes of a program, and its end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec

from actiondbg import protocol
from actiondbg.process.execution import Execution
from actiondbg.process.launch_options import LaunchOptions
from actiondbg.process.program_run import FollowedProcess, OtherTurn
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import actions_at
from actiondbg.session.agent_breakpoints import AgentBreakpoints
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.executions import Executions
from actiondbg.session.skip_plan import SkipPlan


class ProcessFollower:
    """Debugs the processes of a program one after the other.

    Args:
        executions: the processes of the tool.
        options: of the agent.
        breakpoints: of the agent.
        skips: the skips of each run.
        on_next: called when another process has begun.
    """

    def __init__(
        self,
        executions: Executions,
        options: AgentOptions,
        breakpoints: AgentBreakpoints,
        skips: SkipPlan,
        on_next: Callable[[], None],
    ) -> None:
        self._executions = executions
        self._options = options
        self._breakpoints = breakpoints
        self._skips = skips
        self._on_next = on_next

    def follow(self, ended: Stop) -> Stop:
        """Debug the next process of the program; return the end if there is none."""
        last = self._executions.need()
        execution = self._executions.follow(self._at_start())
        if execution is None:
            last.stop = end_of_program(ended, last)
            return last.stop
        return self._begin(execution)

    def turn(self, turn: OtherTurn) -> Stop:
        """Debug another process of the program, while the current one runs on."""
        return self._begin(self._executions.turn(turn, self._at_start()))

    def _at_start(self) -> LaunchOptions:
        resume = protocol.Resume(control="continue")
        skips = self._skips.rules.at_start()
        return self._options.launch(resume, self._breakpoints.all(), skips)

    def _begin(self, execution: Execution) -> Stop:
        self._on_next()
        if not execution.has_begun:
            self._skips.rules.begin_run(execution)
        return execution.wait()


def end_of_program(ended: Stop, last: Execution) -> Stop:
    """Return the end of a program, whose last process that was debugged has ended before.

    Args:
        ended: the end of that process.
        last: its execution.
    """
    status = last.program.end(kill=False) if last.program else ended.status
    if status is None or status == ended.status:
        return ended
    # Its last line is about the end; what is before it was shown then.
    how = (ended.message or "").rpartition("\n")[2]
    if last.program is not None and last.program.is_tool:  # it became another one
        message = f"{how.removesuffix('.')}, which ended with status {status}."
    else:
        message = f"{how} The program that started it ended with status {status}."
    return msgspec.structs.replace(ended, status=status, message=message)


def process_of(execution: Execution, argv: list[str]) -> FollowedProcess:
    """Describe the process of a tool that was started itself."""
    stop = execution.stop
    if execution.state != "exited" or stop is None:
        return FollowedProcess("p0", execution.pid, argv)
    return FollowedProcess("p0", execution.pid, argv, "exited", stop.status, stop.actions)


def processes_of(execution: Execution | None, argv: list[str]) -> list[FollowedProcess]:
    """List the processes that were debugged, in their order."""
    if execution is None:
        return []
    program = execution.program
    found = [process_of(execution, argv)]
    if program is not None:
        found = [dataclasses.replace(one) for one in program.processes]
    for one in found:
        # The current one need not be the newest: a parent goes on after its child.
        is_current = program is None or one == program.current
        if is_current and execution.state == "stopped" and execution.stop is not None:
            one.actions = actions_at(execution.stop)
            one.state = "exited" if execution.has_died else "alive"
    return found
