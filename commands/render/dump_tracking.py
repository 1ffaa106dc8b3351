"""What operations became, and came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Loss, Step, Tracking
    from actiondbg.lineage.stage import Operation, Stage

Direction = Literal["became", "came from", "shares its source with"]

_MOST = 100  # columns of an operation's first line
_WHY = {
    "unlocated": "it has no source location",
    "unmatched": "no source location there overlaps its own",
}

Object = dict[str, object]


class TrackingShown(NamedTuple):
    """Operations and where they were tracked to.

    Args:
        operation: one that was asked about.
        direction: how the others are related to it.
        stage: where it was tracked to.
        tracking: the answer.
    """

    operation: Operation
    direction: Direction
    stage: Stage
    tracking: Tracking


def tracking_lines(shown: Sequence[TrackingShown]) -> Iterator[str]:
    """Yield the lines of answers: the operation, then those that it became or came from."""
    for one in shown:
        yield _operation_line(one.operation)
        count = len(one.tracking.traces)
        if not count:
            yield f"  {one.direction} nothing in {one.stage.name}{_why(one.tracking.losses)}"
            continue
        noun = "1 operation" if count == 1 else f"{count} operations"
        yield f"  {one.direction} {noun} of {one.stage.name}, {_evidence(one.tracking)}"
        for trace in one.tracking.traces:
            yield f"  {_operation_line(trace.operation)}"


def tracking_object(shown: TrackingShown) -> Object:
    """Return an answer as JSON."""
    return {
        "operation": _operation_object(shown.operation),
        "direction": shown.direction,
        "stage": shown.stage.name,
        "operations": [
            {**_operation_object(trace.operation), "steps": [_step(one) for one in trace.steps]}
            for trace in shown.tracking.traces
        ],
        "losses": [
            {"node": loss.node, "why": loss.why, "ordinal": loss.ordinal}
            for loss in shown.tracking.losses
        ],
    }


def _operation_line(operation: Operation) -> str:
    first = operation.text.split("\n", 1)[0].strip()
    shown = first if len(first) <= _MOST else f"{first[: _MOST - 3]}..."
    return f"{operation.stage.name}:{operation.line}: {shown}"


def _operation_object(operation: Operation) -> Object:
    return {
        "node": operation.node,
        "name": operation.name,
        "result": operation.result,
        "symbol": operation.symbol,
        "line": operation.line,
        "location": operation.location.text,
    }


def _step(step: Step) -> Object:
    return {
        "evidence": step.evidence.value,
        "source": step.source,
        "target": step.target,
        "ordinal": step.ordinal,
    }


def _evidence(tracking: Tracking) -> str:
    kinds = dict.fromkeys(step.evidence.value for trace in tracking.traces for step in trace.steps)
    return f"by {', '.join(kinds)}:"


def _why(losses: Sequence[Loss]) -> str:
    why = next((loss.why for loss in losses), "")
    return f": {_WHY.get(why, why)}." if why else "."
