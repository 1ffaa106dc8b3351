"""The names of tags, patterns, passes and operations of the tool."""

from __future__ import annotations

import contextlib

from actiondbg import protocol
from actiondbg.errors import ActiondbgError, LaunchError
from actiondbg.process.stop import Stop
from actiondbg.session.agent_breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions
from actiondbg.tool.known_names import KINDS, KnownNames, NameKind

_LEARN_SECONDS = 1.0  # names are a convenience: they must not delay the end of a session


class SessionNames:
    """The names that the tool has dispatched, in this run and in earlier ones.

    Args:
        executions: the processes of the tool.
        breakpoints: their hit counts are read together with the names.
    """

    def __init__(self, executions: Executions, breakpoints: AgentBreakpoints) -> None:
        self._executions = executions
        self._breakpoints = breakpoints
        self._known: KnownNames | None = None

    def get(self, kind: NameKind) -> list[str]:
        """List names, sorted.

        Args:
            kind: "tag", "pattern", "pass" or "op".
        """
        known = self._load()
        if known is None:
            return []
        if self._executions.state == "stopped":
            known.add(kind, self._executions.ask(protocol.GetNames(kind=kind)).names)
        return known.get(kind)

    def learn(self) -> None:
        """Store the names and the hit counts of a stopped agent, before the tool is ended."""
        if self._executions.state != "stopped":
            return
        with contextlib.suppress(ActiondbgError, TimeoutError):
            execution, known = self._executions.need(), self._load()
            hits = execution.request(protocol.GetHits(), _LEARN_SECONDS).hits
            self._breakpoints.table.count(hits)
            if known is None:
                return
            for kind in KINDS:
                known.add(
                    kind, execution.request(protocol.GetNames(kind=kind), _LEARN_SECONDS).names
                )
            known.save()

    def update(self, stop: Stop) -> Stop:
        """Save the names at the end of the tool."""
        if stop.when == "exit" and self._known is not None:
            self._known.save()
        return stop

    def _load(self) -> KnownNames | None:
        if self._known is None:
            try:
                tool = self._executions.program.tool
            except LaunchError:
                return None
            self._known = KnownNames(f"{tool.path}\0{tool.build_id}")
        return self._known
