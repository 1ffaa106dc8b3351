"""The notifications of the agent: hello, stopped, exited, crashed."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from actiondbg.protocol.neighbourhood import Neighbourhood
from actiondbg.protocol.stop_fields import StopFields
from actiondbg.protocol.types import Difference, Hits, Message, Role, When, Written

Reason = Literal[
    "start",
    "breakpoint",
    "step",
    "next",
    "finish",
    "until",
    "interrupt",
    "watch",
    "catch",
    "verify",
    "crash",
]


class Hello(Message):
    """The first message of an agent.

    In a fork, ``ordinal`` is the current action, and ``event`` the newest event. ``when`` is None
    at the beginning, and in an automatic checkpoint, which is stopped just before the event
    ``event`` + 1, the "before" of the action ``ordinal`` + 1. ``missing`` is why capabilities are
    missing, for some of them: the end of a sentence, without a dot.
    """

    method: ClassVar[str] = "hello"
    protocol: int
    pid: int
    parent: int
    capabilities: frozenset[str]
    role: Role
    ordinal: int
    event: int
    when: When | None
    missing: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Stopped(StopFields, Message, kw_only=True):
    """The tool waits before, after or inside an action; outside of any if ``ordinal`` is 0.

    In a replay of the run, ``difference`` is its first difference from it. ``missing`` is why
    capabilities were lost since hello, because a check failed when the first IR was seen.
    ``capabilities`` is set at a stop in another MLIR than the last one: all that the agent has
    there, and ``missing`` then has the reasons for all others.
    """

    method: ClassVar[str] = "stopped"
    when: When
    reason: Reason
    difference: Difference | None = None
    missing: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    capabilities: frozenset[str] | msgspec.UnsetType = msgspec.UNSET


class LoggedHit(Stopped, kw_only=True):
    """A line of the log: a hit that did not stop the tool; ``changes`` only for a watch.

    ``seconds`` is the time of an action that has ended, if actions are counted. ``neighbourhood``
    is that of the operation, before the action, if the log was opened with neighbourhoods.
    """

    seconds: float | None = None
    neighbourhood: Neighbourhood | None = None


class Exited(Message):
    """The tool is about to end normally, with this exit status; ``event`` is its newest event.

    ``difference`` and ``unforkable`` are as in ``Stopped``.
    """

    method: ClassVar[str] = "exited"
    actions: int
    status: int
    written: Written
    event: int = 0
    hits: list[Hits] = msgspec.field(default_factory=list[Hits])
    difference: Difference | None = None
    unforkable: str | None = None


class Crashed(Message):
    """The tool is about to crash, in this action, or outside of any if ``ordinal`` is 0.

    ``event`` is its newest event; signal 0 is unknown. ``message`` is what the tool wrote about the
    crash, such as a failed assertion, or None. ``difference`` and ``unforkable`` are as in
    ``Stopped``.
    """

    method: ClassVar[str] = "crashed"
    ordinal: int
    tag: str
    name: str
    op: str | None
    depth: int
    signal: int
    written: Written
    message: str | None = None
    event: int = 0
    hits: list[Hits] = msgspec.field(default_factory=list[Hits])
    difference: Difference | None = None
    context: str | None = None
    mlir: str | None = None
    unforkable: str | None = None


NOTIFICATIONS: dict[str, type[Message]] = {
    cls.method: cls for cls in (Hello, Stopped, Exited, Crashed)
}
