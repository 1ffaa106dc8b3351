"""What could change the IR of a stop now: each pass of the tool, and the patterns of a pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import msgspec

from actiondbg import protocol
from actiondbg.errors import NotStopped, ToolGone, UsageError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.whatif.alternative_runs import refusal

if TYPE_CHECKING:
    from actiondbg.process.execution import Execution
    from actiondbg.session.session import Session

OnProgress = Callable[[int, int], None]
# Write files of their own at places that their options do not name.
_WRITERS = frozenset(("snapshot-op-locations",))


class TriedPass(msgspec.Struct, frozen=True, kw_only=True):
    """A registered pass, tried on the IR of a stop."""

    name: str  # its argument
    pipeline: str  # with the nesting that it needs, such as ``func.func(affine-loop-fusion)``
    # "changed" and "unchanged"; "failed", where it reported an error; "crashed"; "timeout";
    # "impossible", where it cannot run on this IR, or not without options.
    result: Literal["changed", "unchanged", "failed", "crashed", "timeout", "impossible"]
    changes: int = 0  # the number of changes
    counts: dict[str, int] = {}  # the changes of each kind
    reason: str | None = None  # why it did not run to its end, or None


class ApplicablePattern(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern that the pass at a stop will apply."""

    name: str  # of the pattern
    succeeded: int  # how often it will succeed
    attempts: int  # how often it will be tried
    changes: int  # the number of changes that it will make


def try_passes(
    session: Session, *, seconds: float | None = 5.0, progress: OnProgress | None = None
) -> list[TriedPass]:
    """Try each pass that the tool has registered on the IR of the stop, in a fork of its own.

    Args:
        session: stopped before or after a pass.
        seconds: the limit for each pass; None for none.
        progress: called with the numbers of passes tried, and of all.

    Returns:
        All passes; those with the most changes first.

    Raises:
        NotStopped: the tool is not stopped.
        UsageError: it is stopped inside a pass.
    """
    execution = _stopped_at_pass(session)
    with execution.fork(protocol.Fork(role="replica")) as start:
        start.request(protocol.SetBreakpoints(breakpoints=[]))
        names = start.request(protocol.GetPasses()).names
        found: list[TriedPass] = []
        for name in names:
            found.append(_try_pass(start, name, seconds))
            if progress is not None:
                progress(len(found), len(names))
    return sorted(found, key=lambda one: (-one.changes, one.result != "changed", one.name))


def applicable_patterns(
    session: Session, *, seconds: float | None = None
) -> list[ApplicablePattern]:
    """Find the patterns that succeed in the pass at the stop, from the stop to the pass's end.

    Args:
        session: stopped before a pass, or inside one.
        seconds: the limit; None for none.

    Returns:
        The patterns; those that succeed most often first.

    Raises:
        NotStopped: the tool is not stopped.
        UsageError: it is stopped outside of any pass.
        TimeoutError: the pass takes longer than the limit.
        ToolGone: the tool ends in the pass.
    """
    execution = _stopped(session)
    stop = execution.stop
    assert stop is not None, execution.state
    frames = execution.request(protocol.GetFrames()).frames
    running = [
        frame
        for index, frame in enumerate(frames)
        if frame.tag == PASS_TAG and not (index == 0 and stop.when == "after")
    ]
    if not running:
        raise UsageError(
            "The tool is not stopped before a pass or inside one: go there with next or break."
        )
    with execution.fork(protocol.Fork(role="replica")) as fork:
        fork.request(protocol.SetBreakpoints(breakpoints=[]))
        fork.request(protocol.SetOptions(count=True))
        before = _succeeded(fork)
        end = protocol.until_action(running[0].ordinal, after=True)
        ended = fork.complete(seconds, end)
        if ended.when == "exit":
            raise ToolGone(f"The pass does not end: {ended.message or 'the tool ends in it.'}")
        after = _succeeded(fork)
    found = [_difference(row, before.get(name)) for name, row in after.items()]
    return sorted(
        (one for one in found if one.succeeded), key=lambda one: (-one.succeeded, one.name)
    )


def _stopped(session: Session) -> Execution:
    execution = session.execution
    if execution is None or execution.state != "stopped":
        raise NotStopped("The tool is not stopped: start it, and stop it before a pass.")
    return execution


def _stopped_at_pass(session: Session) -> Execution:
    execution = _stopped(session)
    stop = execution.stop
    if stop is None or stop.tag != PASS_TAG or stop.when == "during":
        raise UsageError(
            "Inside a pass no other pass can be tried: go before or after a pass, such as with "
            "'finish' or 'advance pass:*'."
        )
    return execution


def _try_pass(start: ForkedTool, name: str, seconds: float | None) -> TriedPass:
    if name in _WRITERS:
        why = "it writes a file, and was left out"
        return TriedPass(name=name, pipeline=name, result="impossible", reason=why)
    with start.fork() as fork:
        try:
            tried = fork.request(protocol.TryPass(name=name), seconds)
        except TimeoutError:
            why = f"it did not end in {seconds:g} s"
            return TriedPass(name=name, pipeline=name, result="timeout", reason=why)
        except ToolGone:
            return TriedPass(name=name, pipeline=name, result="crashed", reason="the tool crashed")
    if tried.error is not None:
        is_run = bool(tried.counts)
        return TriedPass(
            name=name,
            pipeline=tried.pipeline,
            result="failed" if is_run else "impossible",
            reason=tried.error if is_run else refusal(tried.error),
        )
    if not tried.changed:
        return TriedPass(name=name, pipeline=tried.pipeline, result="unchanged")
    changes = sum(tried.counts.values())
    return TriedPass(
        name=name, pipeline=tried.pipeline, result="changed", changes=changes, counts=tried.counts
    )


def _succeeded(fork: ForkedTool) -> dict[str, protocol.Statistic]:
    rows = fork.request(protocol.GetStatistics()).rows
    return {row.name: row for row in rows if row.tag == PATTERN_TAG}


def _difference(row: protocol.Statistic, old: protocol.Statistic | None) -> ApplicablePattern:
    return ApplicablePattern(
        name=row.name,
        succeeded=row.succeeded - (old.succeeded if old else 0),
        attempts=row.attempts - (old.attempts if old else 0),
        changes=row.changes - (old.changes if old else 0),
    )
