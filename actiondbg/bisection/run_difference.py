"""The first action in which two runs of a tool differ, as by the layout of its addresses."""

from __future__ import annotations

import bisect
import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actiondbg import protocol
from actiondbg.bisection.candidates.record import Record
from actiondbg.bisection.trials.frozen_tool import FrozenTool
from actiondbg.errors import ActiondbgError


@dataclass(frozen=True)
class RecordedRun:
    """A run that skips nothing.

    Args:
        tool: frozen before the first action.
        record: the actions that changed the IR.
    """

    tool: FrozenTool
    record: Record


def first_different_action(one: RecordedRun, other: RecordedRun, directory: Path) -> str | None:
    """Describe the first action of the second run in which it differs.

    Args:
        one: a run.
        other: another run of the same command.
        directory: for the printed IR.

    Returns:
        The action, such as "#17 fold arith.addi at a.mlir:2:3"; None if it was not found.
    """
    left, right = ([action.ordinal for action in run.record.actions] for run in (one, other))
    pairs = enumerate(itertools.zip_longest(left, right))
    same = next((index for index, (a, b) in pairs if a != b), len(left))
    with contextlib.suppress(ActiondbgError, OSError):
        # The same actions may have changed the IR in two ways.
        index = bisect.bisect_left(
            left[:same], True, key=lambda ordinal: _texts_differ(one, other, ordinal, directory)
        )
        if index < same:
            return _describe(other.tool, left[index])
        following = [*left[same : same + 1], *right[same : same + 1]]
        return _describe(other.tool, min(following)) if following else None
    return None


def _texts_differ(one: RecordedRun, other: RecordedRun, ordinal: int, directory: Path) -> bool:
    texts: Sequence[bytes] = [_text_after(run.tool, ordinal, directory) for run in (one, other)]
    return texts[0] != texts[1]


def _text_after(tool: FrozenTool, ordinal: int, directory: Path) -> bytes:
    file = directory / "difference"
    with tool.replay(ordinal, "after") as fork:
        fork.request(protocol.Print(what="module", path=str(file)))
    return file.read_bytes()


def _describe(tool: FrozenTool, ordinal: int) -> str:
    with tool.replay(ordinal) as fork:
        stop = fork.stop
        assert stop is not None
        named = " ".join(word for word in (stop.tag, stop.name) if word)
        about = f" on {stop.op}" if stop.op else ""
        place = f" at {stop.location}" if stop.location else ""
        return f"#{ordinal} {named}{about}{place}"
