"""The fields of a stop: agents send them, recordings compute them, sessions show them."""

from __future__ import annotations

import msgspec

from actiondbg.protocol.types import (
    ActionRef,
    Change,
    Created,
    Culprit,
    Outcome,
    PassRun,
    StopCursor,
)


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
