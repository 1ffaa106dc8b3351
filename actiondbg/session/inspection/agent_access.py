"""What answers requests at a stop: an agent, a recording, or what was asked of an agent before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions
from actiondbg.support.decoders import decoder_of

R = TypeVar("R", bound=protocol.Message)
_Key = tuple[str, bytes]

Question = (  # which changes nothing
    protocol.Backtrace
    | protocol.GetAction
    | protocol.GetChanges
    | protocol.GetContext
    | protocol.GetCursor
    | protocol.GetExcerpt
    | protocol.GetLinks
)


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


class QuestionGroup:
    """Asks the agent a group of questions at once, at the first question of the group at a stop.

    The answers are kept until a request that may change them. It is an ``AgentAccess``.
    """

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._group: dict[_Key, Question] = {}
        self._answers: dict[_Key, protocol.Message | protocol.WireError] = {}
        self._stop: Stop | None = None

    def set(self, questions: Sequence[Question]) -> None:
        """Replace the questions of the group."""
        self._group = {_key(each.method, each): each for each in questions}

    def forget(self) -> None:
        """Drop the answers: the stop is over, or the IR has changed."""
        self._answers = {}

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request; see ``AgentAccess``."""
        if not self._group:
            return self._executions.ask(message)
        asked: object = message
        if not isinstance(asked, Question) or self._stop is not self._executions.stop:
            self.forget()
        key = _key(message.method, message)
        if key in self._group and not self._answers:
            self._ask_all()
        answer = self._answers.get(key)
        if isinstance(answer, protocol.WireError):
            self._answers.pop(key)  # asked alone, it fails with its own words
        elif answer is not None:
            return cast("R", answer)
        return self._executions.ask(message)

    def _ask_all(self) -> None:
        asked = [protocol.Asked(method=each.method, params=each) for each in self._group.values()]
        self._stop = self._executions.stop
        try:
            answered = self._executions.ask(protocol.AskTogether(requests=asked)).answers
        except AgentError:
            return  # a question may have crashed the fork: each is asked alone
        for (key, question), each in zip(self._group.items(), answered, strict=True):
            self._answers[key] = each.error or decoder_of(question.result).decode(each.result)


def _key(method: str, message: object) -> _Key:
    return method, msgspec.json.encode(message)
