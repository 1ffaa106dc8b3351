"""Describe the culprit: its stack, its pass, its outcome and the diff of the IR."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg import protocol
from actiondbg.bisection.candidates.record import RecordedAction
from actiondbg.bisection.result import Culprit, Entry
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.process.action_diff import compare_action
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.session.past.pass_reproducer import pass_around

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff


def describe_culprit(
    fork_before: Callable[[], ForkedTool], action: RecordedAction, directory: Path
) -> Culprit:
    """Describe a recorded action.

    Args:
        fork_before: forks the tool before the action, or earlier.
        action: the action.
        directory: for the files of the printed IR.
    """
    with fork_before() as fork:
        stop = fork.advance(action.ordinal)
        stack = fork.request(protocol.Backtrace()).frames
        pipeline = _pipeline(fork)
        outcome = _outcome(fork, action.ordinal)
    around = _pass_frame(stack)
    diff = _diff(fork_before, stop, directory)
    return Culprit(
        entry=_entry(action, stop),
        nth=stop.nth,
        stack=stack,
        pass_name=around.name if around else None,
        pass_ordinal=around.ordinal if around else None,
        pass_pipeline=pipeline if around else None,
        outcome=outcome,
        diff=diff,
        whole_module=diff is not None and _is_module(diff),
    )


def _entry(action: RecordedAction, stop: Stop) -> Entry:
    return Entry(
        ordinal=action.ordinal,
        tag=stop.tag,
        name=action.argument or stop.name,
        nth=action.nth or 0,
        location=stop.location,
        function=stop.function,
        op=stop.op,
        last=action.last or action.ordinal,
    )


def _pass_frame(stack: list[protocol.Frame]) -> protocol.Frame | None:
    with contextlib.suppress(UsageError):
        return pass_around(stack)
    return None


def _pipeline(fork: ForkedTool) -> str | None:
    with contextlib.suppress(ActiondbgError):
        return fork.request(protocol.GetPipeline()).text
    return None


def _outcome(fork: ForkedTool, ordinal: int) -> protocol.Outcome | None:
    """Apply the action; None if the tool does not reach the end of it."""
    with contextlib.suppress(ActiondbgError):
        return fork.advance(ordinal, "after").outcome
    return None


def _diff(fork_before: Callable[[], ForkedTool], stop: Stop, directory: Path) -> Diff | None:
    numbers = itertools.count()
    with contextlib.suppress(ActiondbgError):
        return compare_action(
            fork_before,
            stop.ordinal,
            lambda: directory / f"print-{next(numbers)}",
        )
    return None


def _is_module(diff: Diff) -> bool:
    first = diff.before.lstrip().partition("\n")[0]
    return first.startswith(("module", '"builtin.module"', "#", "!"))
