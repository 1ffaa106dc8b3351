"""The action that left the IR invalid in which the tool crashes later."""

from __future__ import annotations

from typing import NamedTuple

from actiondbg import protocol
from actiondbg.bisection.frozen_tool import FrozenTool
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import CONVERSION_TAG, PATTERN_TAG


class BrokenIR(NamedTuple):
    """An action that leaves IR that is not valid.

    Attributes:
        action: the stop after it.
        why: what the verifier says.
    """

    action: Stop
    why: str


def find_broken_ir(tool: FrozenTool, crash: int, seconds: float | None) -> BrokenIR | None:
    """Return the action that broke the IR in which the tool crashes; None if that was valid.

    IR may be invalid during a rewrite and a conversion: the IR before the outermost one counts.

    Args:
        crash: the ordinal of the action that the tool crashes in, when it skips nothing.
        seconds: the time limit of the run that verifies the IR after each action.

    Raises:
        ActiondbgError: the run cannot be replayed.
    """
    with tool.replay(crash) as fork:
        frames = fork.request(protocol.GetFrames()).frames
    rewrites = (one.ordinal for one in frames if one.tag in (PATTERN_TAG, CONVERSION_TAG))
    crash = min([crash, *rewrites])
    with tool.replay(crash) as fork:
        text = tool.directory / "before-crash"
        if not fork.request(protocol.Print(what="module", path=str(text))).generic:
            return None
    found: BrokenIR | None = None
    with tool.fork_before(0) as fork:
        fork.request(protocol.SetOptions(verify_each_action=True))
        try:
            while (stop := fork.complete(seconds, protocol.until_action(crash))).reason == "verify":
                why = (stop.message or "").partition(": ")[2]
                # Before an action, what a pass did by itself is found.
                found = BrokenIR(stop, why) if stop.when == "after" else None
        except TimeoutError:
            return None
    return found
