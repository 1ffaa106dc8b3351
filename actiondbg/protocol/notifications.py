"""What the agent sends unasked: that the tool is there, that it stopped, that it ends."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from actiondbg.protocol.types import Change, Culprit, Hits, Message, Outcome, Role, When, Written

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
]


class Hello(Message):
    """The first message of an agent.

    Of a fork, ``ordinal`` is the action that it stands at, and ``event`` the newest event. ``when``
    is None at the beginning, and in a checkpoint that the tool took of itself: that one stands just
    before the event ``event`` + 1, which is the "before" of the action ``ordinal`` + 1.
    """

    method: ClassVar[str] = "hello"
    protocol: int
    agent: str
    llvm: str
    pid: int
    parent: int
    assertions: bool
    capabilities: list[str]
    role: Role
    ordinal: int
    event: int
    when: When | None


class Stopped(Message):
    """The tool waits before, after or in an action; in none when ``ordinal`` is 0.

    ``event`` is the newest event; ``nth`` is the action's number among those of its tag, from 1.
    ``changes`` are the first hundred of ``change_count``.
    """

    method: ClassVar[str] = "stopped"
    when: When
    reason: Reason
    ordinal: int
    event: int
    nth: int
    tag: str
    name: str
    op: str | None
    location: str | None
    function: str | None
    depth: int
    breakpoints: list[int]
    skipped: bool
    id: int | None
    cursor_id: int | None
    outcome: Outcome | None
    changes: list[Change]
    change_count: int
    message: str | None
    culprit: Culprit | None


class Exited(Message):
    """The tool is about to end of itself, with this exit status; ``event`` is its newest event."""

    method: ClassVar[str] = "exited"
    actions: int
    status: int
    written: Written
    event: int = 0
    hits: list[Hits] = msgspec.field(default_factory=list[Hits])


class Crashed(Message):
    """The tool is about to die, in this action (ordinal 0: in none); signal 0 is not known.

    ``event`` is its newest event.
    """

    method: ClassVar[str] = "crashed"
    ordinal: int
    tag: str
    name: str
    op: str | None
    depth: int
    signal: int
    written: Written
    event: int = 0
    hits: list[Hits] = msgspec.field(default_factory=list[Hits])


NOTIFICATIONS: dict[str, type[Message]] = {
    cls.method: cls for cls in (Hello, Stopped, Exited, Crashed)
}
