"""What tracking found, as text and numbers that can be shown and written as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from actiondbg.lineage.lineage import Lineage, Loss, Step, Trace, Tracking
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.lineage.text.grammar import without_location

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
        target: that of the later one.
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
    return TrackAnswer(
        of=[describe(one) for one in operations],
        direction=direction,
        stage=to.name,
        recorded=lineage.is_recorded,
        operations=[_trace(lineage, one) for one in tracking.traces],
        losses=[_loss(lineage, one) for one in tracking.losses],
    )


def describe(operation: Operation) -> AnsweredOperation:
    """Return an operation as it is shown."""
    stage, index = operation.stage, operation.index
    line = without_location(stage.text_lines[operation.line - 1].strip())
    if index and stage.lines[index - 1] == operation.line and operation.name not in line:
        line = f"{operation.name} inside {line}"  # the custom form leaves it out
    return AnsweredOperation(
        node=operation.node,
        name=operation.name,
        result=operation.result,
        symbol=operation.symbol,
        function=_symbol_around(operation),
        stage=stage.name,
        line=operation.line,
        text=line,
        location=operation.location.text,
    )


def _symbol_around(operation: Operation) -> str:
    around = operation.parent
    while around is not None and not around.symbol:
        around = around.parent
    return around.symbol if around else ""


def has_body(operations: Iterable[Operation]) -> bool:
    """Whether the operations in the regions of some answer for them: not those of functions."""
    return not any(operation.symbol or operation.parent is None for operation in operations)


def related(lineage: Lineage, operations: Iterable[Operation], *, exact: bool = False) -> Tracking:
    """Return the operations of the same stage with an origin in common."""
    sources = list(operations)
    if not sources:
        return Tracking(())
    nested = has_body(sources)
    origins = lineage.track(sources, lineage.stages[0], exact=exact, nested=nested).operations
    return lineage.track(origins, sources[0].stage, exact=exact, nested=has_body(origins))


def _trace(lineage: Lineage, trace: Trace) -> AnsweredTrace:
    return AnsweredTrace(
        operation=describe(trace.operation),
        exact=trace.is_exact,
        steps=[_step(lineage, step) for step in trace.steps],
    )


def _step(lineage: Lineage, step: Step) -> AnsweredStep:
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
