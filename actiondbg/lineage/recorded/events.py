"""What happened to operations that stayed the same: modified in place, moved, outlined."""

from __future__ import annotations

from typing import Any

import numpy as np

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.lineage import Step
from actiondbg.lineage.recorded.actions import RecordedActions
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recording import Recording

_KINDS = {"modified": Evidence.MODIFIED, "moved": Evidence.MOVED}


class OperationEvents:
    """The changes of operations that kept them, by operation.

    Args:
        recording: its changes.
        actions: those of the recording.
    """

    def __init__(self, recording: Recording, actions: RecordedActions) -> None:
        table: Any = recording.table("changes", ("ordinal", "kind", "operation", "block"))
        ordinals = table["ordinal"].to_numpy().astype(np.int64)
        kinds: Any = np.array(table["kind"].to_pylist(), object)
        operations = table["operation"].fill_null(0).to_numpy().astype(np.int64)
        keeps: Bools = ~table["block"].to_numpy(zero_copy_only=False).astype(np.bool_)
        keeps &= ~actions.is_undone[ordinals] & np.isin(kinds, list(_KINDS))
        which = np.flatnonzero(keeps)
        which = which[np.argsort(operations[which], kind="stable")]
        self._operations: Ints = operations[which]
        self._ordinals: Ints = ordinals[which]
        self._kinds: Any = kinds[which]

    def of(self, number: int) -> list[Step]:
        """Return the events of an operation in the order of time, one for each action and kind."""
        first = np.searchsorted(self._operations, number)
        last = np.searchsorted(self._operations, number, side="right")
        steps: list[Step] = []
        for at in range(int(first), int(last)):
            step = Step(_KINDS[self._kinds[at]], number, number, int(self._ordinals[at]))
            if not steps or steps[-1] != step:
                steps.append(step)
        return steps


def outlined(steps: list[Step]) -> list[Step]:
    """Return the events of an operation that ended in another function: the last move did it."""
    moves = [at for at, step in enumerate(steps) if step.evidence is Evidence.MOVED]
    if moves:
        steps[moves[-1]] = steps[moves[-1]]._replace(evidence=Evidence.OUTLINED)
    return steps
