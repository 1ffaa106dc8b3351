"""What answers requests at a stop: the agent in a tool, or a recording in its place."""

from __future__ import annotations

from typing import Protocol, TypeVar

from actiondbg import protocol
from actiondbg.process.forked_tool import ForkedTool

R = TypeVar("R", bound=protocol.Message)


class AgentAccess(Protocol):
    """Answers the requests of the breakpoint-controller protocol at a stop."""

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request, and return the reply.

        Raises:
            NotStopped: there is no stop.
            AgentError: the request was refused.
        """
        ...


class ForkAccess:
    """Asks the agent of a fork (``AgentAccess``)."""

    def __init__(self, fork: ForkedTool) -> None:
        self._fork = fork

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request; see ``AgentAccess``."""
        return self._fork.request(message)
