"""The checkpoints of a run: the user's, and those that the tool makes of itself."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg import protocol
from actiondbg.process.checkpoints import Automatic, Checkpoint, Frozen
from actiondbg.process.stop import Stop
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.arrival import InnerStops
from actiondbg.session.executions import Executions


class CheckpointList:
    """The checkpoints of the run.

    Every method raises NotStopped when the tool runs or was not started.

    Args:
        executions: the processes of the tool.
        options: of the agent, with the spacing of automatic checkpoints.
        inner_stops: where in an action the tool stands.
        go_to: takes the session to a frozen process.
    """

    def __init__(
        self,
        executions: Executions,
        options: AgentOptions,
        inner_stops: InnerStops,
        go_to: Callable[[Frozen], Stop],
    ) -> None:
        self._executions = executions
        self._options = options
        self._inner_stops = inner_stops
        self._go_to = go_to

    def add(self) -> Checkpoint:
        """Freeze a fork of the stopped tool, to which ``restore`` goes back.

        Raises:
            NoAnswer: the tool cannot be forked.
        """
        execution = self._executions.need()
        made = execution.fork(protocol.Fork(role="checkpoint"))
        stands = made.stop is not None and made.stop.when != "during"
        branch = execution.branches.owner(made.event, stands).number
        return execution.checkpoints.add(made, branch, 0 if stands else self._inner_stops.number)

    def all(self) -> list[Checkpoint]:
        """Return the checkpoints that ``add`` made in this run."""
        current = self._executions.current
        return current.checkpoints.all() if current else []

    def automatic(self) -> Automatic:
        """Return the number and the memory of the checkpoints that the tool made of itself."""
        current = self._executions.current
        return current.automatic() if current else Automatic(count=0, bytes=0)

    def delete(self, number: int) -> None:
        """End a checkpoint; raises UsageError if there is none of that number."""
        self._executions.need().checkpoints.delete(number)

    def restore(self, number: int) -> Stop:
        """Go to a checkpoint, backwards or forwards, on its branch.

        Raises:
            UsageError: there is none of that number.
        """
        return self._go_to(self._executions.need_idle().checkpoints.get(number))

    @property
    def spacing(self) -> int:
        """Milliseconds that the tool runs between two automatic checkpoints; 0 for none."""
        return self._options.checkpoint_spacing

    @spacing.setter
    def spacing(self, milliseconds: int) -> None:
        self._options.checkpoint_spacing = milliseconds

    @property
    def memory(self) -> int:
        """Megabytes that the automatic checkpoints may hold, in pages of their own."""
        return self._options.checkpoint_memory

    @memory.setter
    def memory(self, megabytes: int) -> None:
        self._options.checkpoint_memory = megabytes
