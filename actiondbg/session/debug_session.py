"""The common interface of live and recorded sessions, and what both do alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from actiondbg import protocol
from actiondbg.analysis.actions import ActionList, ListedAction
from actiondbg.analysis.attempts import PatternAttempts
from actiondbg.analysis.contrast import Contrast, Example
from actiondbg.analysis.history import History
from actiondbg.breakpoints.resolution import Vocabulary
from actiondbg.process.branches import Timeline
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.process.execution import State
from actiondbg.process.stop import Side, Stop
from actiondbg.process.streams import Redirection, Streams
from actiondbg.session.breakpoints import BreakpointList
from actiondbg.session.inspection.agent_access import AgentAccess
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.inspection.stack import Outcome, Stack
from actiondbg.session.inspection.stopped_ir import StoppedIR
from actiondbg.support.closeable import Closeable

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Cycle
    from actiondbg.analysis.legalization.explanation import Explanation
    from actiondbg.ir.diff import Diff
    from actiondbg.session.observers import Observer

End = int | Literal["now", "end"]  # of a recorded replay: after an action, here, of the run
StatisticKind = Literal["pattern", "pass", "fold"]
Beginning = Literal["run", "start"]


class TargetView(Protocol):
    """The debugged program."""

    @property
    def argv(self) -> list[str]:
        """The command line of the tool."""
        ...


class CheckpointView(Protocol):
    """The checkpoints of a run."""

    def add(self) -> Checkpoint: ...

    def all(self) -> list[Checkpoint]: ...

    def automatic(self) -> Automatic: ...

    def delete(self, number: int) -> None: ...

    def restore(self, number: int) -> Stop: ...


class TimelineView(Protocol):
    """Movement along the timeline of a run."""

    @property
    def checkpoints(self) -> CheckpointView: ...

    def goto(self, ordinal: int, when: Side = "before") -> Stop: ...

    def reverse_step(self, count: int = 1) -> Stop: ...

    def reverse_next(self, count: int = 1) -> Stop: ...

    def reverse_finish(self, count: int = 1) -> Stop: ...

    def reverse_continue(self, count: int = 1) -> Stop: ...

    def branches(self) -> Timeline: ...


class PastView(Protocol):
    """Questions about what the run did up to now."""

    def why_not(
        self, name: str, location: str | None = None, op_id: int | None = None
    ) -> PatternAttempts: ...

    def explain(self, target: str | None = None) -> Explanation: ...

    def contrast(
        self, attempts: PatternAttempts, others: Sequence[Example] = ()
    ) -> Contrast | None: ...

    def history(self, target: str = "cursor") -> History: ...

    def recorded(self, end: End = "now") -> AbstractContextManager[Path]: ...

    def diff(self, ordinal: int | None = None, module: bool = False) -> Diff: ...

    def excerpt_before(self, stop: Stop, message: protocol.GetExcerpt) -> protocol.Excerpt: ...

    def cycles(self) -> Cycle | None: ...

    def actions(
        self,
        spec: str | None = None,
        condition: str | None = None,
        *,
        changed: bool = False,
        first: int | None = None,
        count: int = 20,
    ) -> ActionList: ...

    def passes(self) -> list[ListedAction]: ...

    def statistics(self, kind: StatisticKind | None = None) -> list[protocol.Statistic]: ...


class ObserversView(Protocol):
    """Callbacks before and after actions."""

    def add(
        self,
        spec: str,
        *,
        before: Callable[[Stop], object] | None = None,
        after: Callable[[Stop], object] | None = None,
    ) -> Observer: ...

    def on_stop(self, callback: Callable[[Stop], object]) -> None: ...

    def remove(self, observer: Observer) -> None: ...


class DebugSession(Protocol):
    """A session over a tool or over a recording.

    Methods that a recording does not support raise NotRecorded, with a way out.
    """

    @property
    def target(self) -> TargetView: ...

    @property
    def state(self) -> State: ...

    @property
    def stop(self) -> Stop | None: ...

    @property
    def exit_status(self) -> int | None: ...

    @property
    def breakpoints(self) -> BreakpointList: ...

    @property
    def stack(self) -> Stack: ...

    @property
    def cursor(self) -> Cursor: ...

    @property
    def ir(self) -> StoppedIR: ...

    @property
    def outcome(self) -> Outcome: ...

    @property
    def timeline(self) -> TimelineView: ...

    @property
    def past(self) -> PastView: ...

    @property
    def names(self) -> Vocabulary: ...

    @property
    def observers(self) -> ObserversView: ...

    def status(self) -> protocol.Status: ...

    @property
    def contexts(self) -> list[protocol.MLIRContext]: ...

    def run(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop: ...

    def start(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop: ...

    def restart(self) -> Stop: ...

    def continue_(self, count: int = 1) -> Stop: ...

    def step(self, count: int = 1) -> Stop: ...

    def next(self, count: int = 1) -> Stop: ...

    def finish(self, count: int = 1) -> Stop: ...

    def until(self, spec: str, condition: str | None = None) -> Stop: ...

    def advance(self, spec: str, condition: str | None = None) -> Stop: ...

    def next_attempt(self, name: str, location: str | None = None) -> Stop: ...

    def next_change(self, count: int = 1) -> Stop: ...

    def next_success(self, spec: str | None = None, condition: str | None = None) -> Stop: ...

    def close(self) -> None: ...


class RunnableSession(Closeable):
    """What live and recorded sessions share: the beginnings of runs, and questions to the agent."""

    def __init__(self, agent: AgentAccess) -> None:
        self._agent = agent

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

    @abstractmethod
    def _begin(self, how: Beginning, args: list[str] | None, streams: Streams) -> Stop:
        """Begin a run."""
