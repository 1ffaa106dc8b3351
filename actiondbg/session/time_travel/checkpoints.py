"""The list of checkpoints of a run: the user's, and the automatic ones."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg import protocol
from actiondbg.process.checkpoints import Automatic, Checkpoint, Frozen
from actiondbg.process.stop import Stop
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.executions import Executions
from actiondbg.session.stop_updates import InnerStops


class CheckpointList:
    """The checkpoints of the run.

    Every method raises NotStopped when the tool runs or was not started.

    Args:
        executions: the processes of the tool.
        options: of the agent, with the spacing of automatic checkpoints.
        inner_stops: counts the stops inside of an action.
        go_to: moves the session to a checkpoint.
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
        """Make a checkpoint of the stopped tool, for ``restore``.

        Raises:
            NoAnswer: the tool cannot be forked.
        """
        execution = self._executions.need()
        made = execution.fork(protocol.Fork(role="checkpoint"))
        at_event = made.stop is not None and made.stop.when != "during"
        branch = execution.branches.owner(made.event, at_event).number
        return execution.checkpoints.add(made, branch, 0 if at_event else self._inner_stops.number)

    def all(self) -> list[Checkpoint]:
        """Return the user's checkpoints of this run."""
        current = self._executions.current
        return current.checkpoints.all() if current else []

    def automatic(self) -> Automatic:
        """Return the number and the memory of automatic checkpoints."""
        current = self._executions.current
        return current.automatic() if current else Automatic(count=0, bytes=0)

    def delete(self, number: int) -> None:
        """Delete a checkpoint; raises UsageError for an unknown number."""
        self._executions.need().checkpoints.delete(number)

    def restore(self, number: int) -> Stop:
        """Go to a checkpoint, backwards or forwards, on its branch.

        Raises:
            UsageError: there is no checkpoint of that number.
        """
        return self._go_to(self._executions.need_idle().checkpoints.get(number))

    @property
    def spacing(self) -> int:
        """Milliseconds of run time between two automatic checkpoints; 0 for none."""
        return self._options.checkpoint_spacing

    @spacing.setter
    def spacing(self, milliseconds: int) -> None:
        self._options.checkpoint_spacing = milliseconds

    @property
    def memory(self) -> int:
        """The limit in megabytes for the private memory of automatic checkpoints."""
        return self._options.checkpoint_memory

    @memory.setter
    def memory(self, megabytes: int) -> None:
        self._options.checkpoint_memory = megabytes
