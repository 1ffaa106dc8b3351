"""What tracking found, as text and numbers that can be shown and written as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:  # renderers import this module at each start of the shell
    from actiondbg.lineage.lineage import Lineage, LineageStep, Loss, Trace, Tracking
    from actiondbg.lineage.stage import Operation, Stage

Direction = Literal["forward", "back", "related"]


class AnsweredOperation(msgspec.Struct, kw_only=True):
    """An operation of a stage.

    Attributes:
        node: its number; of a recorded run the operation id.
        name: its name.
        result: the name of its first result; empty for none.
        symbol: the symbol that it defines; empty for none.
        function: the innermost symbol around it; empty for none.
        stage: the name of the stage.
        line: the line of the stage's text on which it begins, from 1.
        text: that line, without a location.
        location: the text of its source location.
    """

    node: int
    name: str
    result: str
    symbol: str
    function: str
    stage: str
    line: int
    text: str
    location: str


class AnsweredStep(msgspec.Struct, kw_only=True):
    """One operation made from another.

    Attributes:
        evidence: what shows it, such as ``replaced``.
        source: the number of the earlier operation.
        target: that of the later one; the same if it was modified or moved.
        ordinal: the action that did it; None if no action is known.
        action: its name, such as ``pattern:FuseX``; None likewise.
    """

    evidence: str
    source: int
    target: int
    ordinal: int | None
    action: str | None


class AnsweredTrace(msgspec.Struct, kw_only=True):
    """An operation that was reached.

    Attributes:
        operation: the operation.
        exact: whether the compiler showed each step.
        steps: the way, in the order of time.
    """

    operation: AnsweredOperation
    exact: bool
    steps: list[AnsweredStep]


class AnsweredLoss(msgspec.Struct, kw_only=True):
    """A way that ended.

    Attributes:
        node: the number of the operation.
        name: its name.
        why: see ``actiondbg.lineage.lineage.Loss``.
        ordinal: the action that erased or inserted it; None if no action is known.
        action: its name; None likewise.
    """

    node: int
    name: str
    why: str
    ordinal: int | None
    action: str | None


class TrackAnswer(msgspec.Struct, kw_only=True):
    """What operations became, came from, or are related to.

    Attributes:
        of: the operations that were tracked.
        direction: what is asked about them.
        stage: the name of the stage of the answer.
        recorded: whether operations are numbered by their ids, as a run was recorded.
        operations: those of that stage that were reached.
        losses: where ways ended.
    """

    of: list[AnsweredOperation]
    direction: Direction
    stage: str
    recorded: bool
    operations: list[AnsweredTrace]
    losses: list[AnsweredLoss]


def answer(
    lineage: Lineage,
    operations: Sequence[Operation],
    to: Stage,
    tracking: Tracking,
    direction: Direction,
) -> TrackAnswer:
    """Return what tracking found.

    Args:
        lineage: names the actions.
        operations: those that were tracked.
        to: the stage to which they were tracked.
        tracking: what was found.
        direction: forward, back, or to the operations with the same origin.
    """
    later = operations[0].stage if direction == "back" and operations else to
    return TrackAnswer(
        of=[describe(one) for one in operations],
        direction=direction,
        stage=to.name,
        recorded=lineage.is_recorded,
        operations=[_trace(lineage, one, later.actions) for one in tracking.traces],
        losses=[_loss(lineage, one) for one in tracking.losses],
    )


def describe(operation: Operation) -> AnsweredOperation:
    """Return an operation as it is shown."""
    from actiondbg.ir.written_locations import without_trailing_locations
    from actiondbg.lineage.stage import symbol_around

    stage, index = operation.stage, operation.index
    line = without_trailing_locations(stage.text_lines[operation.line - 1].strip())
    if index and stage.lines[index - 1] == operation.line and operation.name not in line:
        around = operation.parent or operation  # the custom form leaves it out
        outer = without_trailing_locations(stage.text_lines[around.line - 1].strip())
        line = f"{operation.name} inside {outer}"
    return AnsweredOperation(
        node=operation.node,
        name=operation.name,
        result=operation.result,
        symbol=operation.symbol,
        function=symbol_around(operation),
        stage=stage.name,
        line=operation.line,
        text=line,
        location=operation.location.text,
    )


def _trace(lineage: Lineage, trace: Trace, actions: int | None) -> AnsweredTrace:
    return AnsweredTrace(
        operation=describe(trace.operation),
        exact=trace.is_exact,
        steps=[_step(lineage, step) for step in _way(lineage, trace, actions)],
    )


def _way(lineage: Lineage, trace: Trace, actions: int | None) -> Iterator[LineageStep]:
    """Yield the steps, and between them what happened to each operation on the way.

    Args:
        lineage: knows what happened.
        trace: its steps.
        actions: the number of actions that had begun at the later stage; None for all.
    """
    arrived = 0
    end = trace.operation.node
    for step in trace.steps:
        left = step.ordinal or 0
        yield from _between(lineage.events(step.source), arrived, left)
        yield step
        arrived, end = left, step.target
    yield from _between(lineage.events(end), arrived, None if actions is None else actions + 1)


def _between(events: Sequence[LineageStep], first: int, last: int | None) -> Iterator[LineageStep]:
    for step in events:
        if first < (step.ordinal or 0) and (last is None or (step.ordinal or 0) < last):
            yield step


def _step(lineage: Lineage, step: LineageStep) -> AnsweredStep:
    return AnsweredStep(
        evidence=str(step.evidence),
        source=step.source,
        target=step.target,
        ordinal=step.ordinal,
        action=_action(lineage, step.ordinal),
    )


def _loss(lineage: Lineage, loss: Loss) -> AnsweredLoss:
    return AnsweredLoss(
        node=loss.node,
        name=lineage.node(loss.node).name,
        why=loss.why,
        ordinal=loss.ordinal,
        action=_action(lineage, loss.ordinal),
    )


def _action(lineage: Lineage, ordinal: int | None) -> str | None:
    return None if ordinal is None else lineage.action(ordinal)
