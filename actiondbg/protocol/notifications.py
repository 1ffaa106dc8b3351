"""The notifications of the agent: hello, stopped with the fields of a stop, exited, crashed."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from actiondbg.protocol.types import (
    ActionRef,
    Change,
    Created,
    Culprit,
    Difference,
    Hits,
    Message,
    Outcome,
    PassRun,
    Role,
    StopCursor,
    When,
    Written,
)


class Neighbour(Message, kw_only=True):
    """An operation; ``constant`` is whether it has the trait ConstantLike.

    ``operands`` are the first ones, and empty two operations away from the first. The attributes
    include the properties.
    """

    name: str
    constant: bool
    attributes: dict[str, str]
    operand_count: int
    result_count: int
    operands: list[NearValue]


class NearValue(Message, kw_only=True):
    """A value: equal numbers ``value`` mean the same one; 0 is a null operand.

    ``local`` is whether it is defined in the block that uses it. A block argument has no
    ``definer``: ``argument_of`` is the name of the operation that holds the block.
    """

    value: int
    type: str
    uses: int
    local: bool
    definer: Neighbour | None = None
    argument_of: str | None = None
    index: int | None = None


class NearUser(Message, kw_only=True):
    """A use of a result: the name of the user, and the number of the operand."""

    name: str
    operand: int
    local: bool


class NearResult(Message, kw_only=True):
    """A result of the operation; ``users`` are the first ones."""

    value: int
    type: str
    uses: int
    users: list[NearUser]


class NearRegion(Message, kw_only=True):
    """A region of the operation; all but ``blocks`` is about its entry block.

    ``names`` are the different names of its operations, ``yielded`` the operands of the last one.
    """

    blocks: int
    operations: int = 0
    arguments: list[NearValue] = msgspec.field(default_factory=list[NearValue])
    names: list[str] = msgspec.field(default_factory=list[str])
    yielded: list[NearValue] = msgspec.field(default_factory=list[NearValue])


class NearSuccessor(Message, kw_only=True):
    """A successor; equal numbers ``block`` mean the same one, ``first`` is its first operation."""

    predecessors: int
    arguments: int
    operations: int
    first: str | None
    block: int


class Adjacent(Message, kw_only=True):
    """The operation before or after another one, and the values that it uses."""

    name: str
    operands: list[int]


class Neighbourhood(Neighbour, kw_only=True):
    """An operation and what is around it; ``parents`` from the inside."""

    results: list[NearResult]
    regions: list[NearRegion]
    successors: list[NearSuccessor]
    parents: list[str]
    previous: Adjacent | None
    next: Adjacent | None


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


class StopFields(ActionRef, kw_only=True, rename="camel"):
    """The fields of a stop, without ``when`` and ``reason``.

    The agent sends all of them. docs/protocol.md has the same descriptions.

    Attributes:
        ordinal: the action's number, from 1; 0 outside of any action, and at an exit unless the
            tool crashed in an action.
        tag: the action's kind; empty where ``ordinal`` is 0.
        name: the action's subject; empty where ``ordinal`` is 0.
        op: the name of the action's operation, or None.
        location: FILE:LINE:COL of the operation, or None.
        function: the symbol that holds the operation, or None.
        context: the action's MLIR context, such as "c0", or None.
        mlir: the file of the action's MLIR, such as "libtriton.so"; None if the process has one
            MLIR.
        event: the newest event's number, from 1: each action has one before and one after it; 0
            before the first event, and at an exit where it is unknown.
        nth: the action's number among those of its tag, from 1; 0 where ``ordinal`` is 0, and at an
            exit.
        unnamed: of a pattern without a debug name, its root and benefit, which match in place of
            its name; otherwise None.
        depth: the number of actions around this one.
        breakpoints: the ids of the breakpoints that were hit.
        skipped: whether the action was skipped; before the action, whether it will be.
        id: the id of the action's operation at its dispatch, or None.
        cursor: the unit in view, and why it is in view; or None.
        outcome: the action's outcome; None except after the action.
        changes: the first hundred changes by the action and its nested actions.
        change_count: the number of all these changes.
        culprit: the action that a watch or a catch attributes its finding to, or None.
        message: the finding of a watch or a catch, a sentence without the final dot, or None; at an
            exit, one sentence about how the tool ended. At a crash, the signal and what the tool
            wrote about it.
        thread: the thread that is stopped, such as "t0"; None if it ran no action.
        threads: the number of threads that ran actions so far.
        contexts: the number of MLIR contexts in which actions ran so far.
        unforkable: the reason why the tool cannot be forked at this stop, so that there is no time
            travel: a sentence without capital and dot; or None.
        created: the numbers of operations and blocks that were created so far; None at an exit.
        pass_run: the run of the innermost pass that the action is, or that is around it; or None.
    """

    ordinal: int = 0
    tag: str = ""
    name: str = ""
    event: int = 0
    nth: int = 0
    unnamed: str | None = None
    depth: int = 0
    breakpoints: list[int] = msgspec.field(default_factory=list[int])
    skipped: bool = False
    id: int | None = None
    cursor: StopCursor | None = None
    outcome: Outcome | None = None
    changes: list[Change] = msgspec.field(default_factory=list[Change])
    change_count: int = 0
    culprit: Culprit | None = None
    message: str | None = None
    thread: str | None = None
    threads: int = 1
    contexts: int = 1
    unforkable: str | None = None
    created: Created | None = None
    pass_run: PassRun | None = None


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
