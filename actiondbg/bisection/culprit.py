"""What a result says of the guilty action: its stack, its pass, what it did."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg import protocol
from actiondbg.bisection.candidates import Row
from actiondbg.bisection.result import Entry, Guilty
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.process.action_diff import compare_action
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.session.past.pass_reproducer import pass_around

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff


def describe(near: Callable[[], ForkedTool], row: Row, directory: Path) -> Guilty:
    """Describe an action.

    Args:
        near: makes a replica that stands before it, or earlier.
        row: of the record.
        directory: for what is printed.
    """
    with near() as replica:
        stop = replica.advance(row.ordinal)
        stack = replica.request(protocol.Backtrace()).frames
        pipeline = _pipeline(replica)
        outcome = _outcome(replica, row.ordinal)
    around = _pass_frame(stack)
    diff = _diff(near, stop, directory)
    return Guilty(
        entry=_entry(row, stop),
        nth=stop.nth,
        stack=stack,
        pass_name=around.name if around else None,
        pass_ordinal=around.ordinal if around else None,
        pass_pipeline=pipeline if around else None,
        outcome=outcome,
        diff=diff,
        whole_module=diff is not None and _is_module(diff),
    )


def _entry(row: Row, stop: Stop) -> Entry:
    return Entry(
        ordinal=row.ordinal,
        tag=stop.tag,
        name=row.argument or stop.name,
        nth=row.nth or 0,
        location=stop.location,
        function=stop.function,
        op=stop.op,
        last=row.last or row.ordinal,
    )


def _pass_frame(stack: list[protocol.Frame]) -> protocol.Frame | None:
    with contextlib.suppress(UsageError):
        ordinal = pass_around(stack)
        return next(frame for frame in stack if frame.ordinal == ordinal)
    return None


def _pipeline(replica: ForkedTool) -> str | None:
    with contextlib.suppress(ActiondbgError):
        return replica.request(protocol.GetPipeline()).text
    return None


def _outcome(replica: ForkedTool, ordinal: int) -> protocol.Outcome | None:
    """Carry it out; None if the tool does not come to its end."""
    with contextlib.suppress(ActiondbgError):
        return replica.advance(ordinal, "after").outcome
    return None


def _diff(near: Callable[[], ForkedTool], stop: Stop, directory: Path) -> Diff | None:
    numbers = itertools.count()
    with contextlib.suppress(ActiondbgError):
        return compare_action(
            near,
            stop.ordinal,
            lambda: directory / f"print-{next(numbers)}",
            settled=stop.tag == "fold",
        )
    return None


def _is_module(diff: Diff) -> bool:
    first = diff.before.lstrip().partition("\n")[0]
    return first.startswith(("module", '"builtin.module"', "#", "!"))
