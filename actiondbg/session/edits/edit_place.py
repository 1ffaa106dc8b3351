"""The places where IR can be edited: before and after passes that no other pass runs."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg import protocol
from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.errors import EditRefused, NotStopped
from actiondbg.process.stop import Stop


def check_place(stop: Stop | None, frames: Sequence[protocol.Frame], target: int | None) -> None:
    """Check that an operation can be edited at a stop.

    Pass managers allow changes around a pass of their own. A pass or a driver that is running
    holds pointers to the operations that it has to look at: changing them would break it.

    Args:
        stop: the stop.
        frames: the stack of actions there, the innermost first.
        target: the id of the operation; None if it has none.

    Raises:
        NotStopped: the tool is not stopped.
        EditRefused: the operation cannot be edited here; the message names the nearest places.
    """
    if stop is None or stop.when == "exit":
        raise NotStopped("The tool is not stopped: there is no IR to edit.")
    if not frames:
        raise EditRefused("No action is running: edit the IR at a stop before or after a pass.")
    innermost = frames[0]
    running = [one for one in frames if not is_adaptor(one.name)]
    is_at_pass = innermost.tag == "pass-execution" and stop.when in ("before", "after")
    if not is_at_pass or any(one is not innermost for one in running):
        raise _refusal(running[-1], "holds operations of this IR")
    around = [one for one in frames[1:] if _operation(one) == target]
    if target is not None and around:
        raise _refusal(around[0], "is iterating over the operations inside this operation")


def _operation(frame: protocol.Frame) -> int | None:
    return frame.units[0].id if frame.units else None


def _refusal(frame: protocol.Frame, why: str) -> EditRefused:
    """Return the error that names an action which has to end first."""
    number = f"#{frame.ordinal}"
    what = (
        f"the pass manager {number}"
        if is_adaptor(frame.name)
        else f"{number} {frame.name or frame.tag}"
    )
    if frame.tag != "pass-execution":
        return EditRefused(
            f"The IR cannot be edited here: {what} {why}; stop before or after a pass."
        )
    return EditRefused(
        f"The IR cannot be edited here: {what} {why}; edit it before this action ('goto "
        f"{number}') or "
        f"after it ('goto {number} --after')."
    )
