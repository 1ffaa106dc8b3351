"""What live and recorded sessions do alike."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from actiondbg import protocol
from actiondbg.breakpoints.resolution import Vocabulary
from actiondbg.breakpoints.selection import Selection, select
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Redirection, Streams
from actiondbg.session.inspection.agent_access import AgentAccess
from actiondbg.support.closeable import Closeable

End = int | Literal["now", "end"]  # of a recorded replay: after an action, here, of the run
StatisticKind = Literal["pattern", "pass", "fold"]
Beginning = Literal["run", "start"]


class RunnableSession(Closeable):
    """What live and recorded sessions share: the beginnings of runs, and questions to the agent."""

    def __init__(self, agent: AgentAccess, vocabulary: Vocabulary) -> None:
        self._agent = agent
        self._vocabulary = vocabulary

    @property
    @abstractmethod
    def stop(self) -> Stop | None:
        """The current stop, or the end; None while the tool runs and before its first start."""

    @property
    def exit_status(self) -> int | None:
        """The tool's exit status, negative for a signal, or None."""
        return self.stop.status if self.stop else None

    def status(self) -> protocol.Status:
        """Return the state of the run; raises NotStopped when there is no stop."""
        return self._agent.ask(protocol.GetStatus())

    @property
    def contexts(self) -> list[protocol.MLIRContext]:
        """The MLIR contexts of the process so far; raises NotStopped when there is no stop."""
        return self._agent.ask(protocol.GetContexts()).contexts

    def run(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop:
        """Run the tool from its start to a breakpoint or its end; a previous run is ended.

        Args:
            args: new arguments, which later runs keep; None for the previous ones.
            stdin: of this run, see ``launch``; None for the argument of ``launch``.
            stdout: as ``stdin``.
            stderr: as ``stdin``.

        Raises:
            LaunchError: the tool cannot be started, or is unsuitable for the agent.
            UsageError: a file for its output is a recording, which stays as it is.
            NotRecorded: arguments or streams are given, and the session is over a recording.
        """
        return self._begin("run", args, Streams(stdin, stdout, stderr))

    def start(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop:
        """Run the tool from its start, and stop before its first action; see ``run``."""
        return self._begin("start", args, Streams(stdin, stdout, stderr))

    def until(
        self,
        spec: str,
        condition: str | None = None,
        *,
        after: bool = False,
        outcome: str | None = None,
    ) -> Stop:
        """Continue to the next action that matches, at most to the end of the parent action.

        Args:
            spec: as of a breakpoint.
            condition: as of a breakpoint; None for none.
            after: stop after the action instead of before it.
            outcome: as of a breakpoint; None for any.

        Raises:
            UsageError: the SPEC, the condition or the OUTCOME has a syntax error.
            NotStopped: the tool is not stopped.
        """
        selected = select(self._vocabulary, spec, condition, outcome=outcome, after=after)
        return self._until(selected, within=True)

    def advance(
        self,
        spec: str,
        condition: str | None = None,
        *,
        after: bool = False,
        outcome: str | None = None,
    ) -> Stop:
        """Continue to the next action that matches, anywhere in the run; see ``until``."""
        selected = select(self._vocabulary, spec, condition, outcome=outcome, after=after)
        return self._until(selected, within=False)

    @abstractmethod
    def _until(self, selection: Selection, *, within: bool) -> Stop:
        """Continue to the next action of a selection."""

    @abstractmethod
    def _begin(self, how: Beginning, args: list[str] | None, streams: Streams) -> Stop:
        """Begin a run."""
