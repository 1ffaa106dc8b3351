"""The changes and the links of a recording, by kind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from actiondbg.lineage.recorded.actions import RecordedActions
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recording import Recording


class Changes(NamedTuple):
    """Changes of some kinds, in the order of time.

    Args:
        times: when each happened, from 1.
        ordinals: the action of each.
        operations: that it changed.
        kinds: such as ``inserted``.
        by: what replaced the operation; 0 for nothing.
    """

    times: Ints
    ordinals: Ints
    operations: Ints
    kinds: Any
    by: Ints

    def only(self, which: Bools | Ints) -> Changes:
        """Return some of the changes."""
        return Changes(*(column[which] for column in self))


class RecordedChanges:
    """The changes that were not undone."""

    def __init__(self, recording: Recording, actions: RecordedActions) -> None:
        columns = ("ordinal", "seq", "kind", "operation", "block", "by")
        table: Any = recording.table("changes", columns)
        ordinals = table["ordinal"].to_numpy().astype(np.int64)
        blocks = table["block"].to_numpy(zero_copy_only=False).astype(np.bool_)
        self._all = Changes(
            table["seq"].to_numpy().astype(np.int64) + 1,
            ordinals,
            table["operation"].fill_null(0).to_numpy().astype(np.int64),
            np.array(table["kind"].to_pylist(), object),
            table["by"].fill_null(0).to_numpy().astype(np.int64),
        ).only(~blocks & ~actions.is_undone[ordinals])

    def of_kind(self, *kinds: str) -> Changes:
        """Return the changes of some kinds."""
        return self._all.only(np.isin(self._all.kinds, kinds))


class Links(NamedTuple):
    """Links of one kind: the action of each, and the operations that it links."""

    ordinals: Ints
    operations: Ints
    sources: Ints


class RecordedLinks:
    """The links of a recording, those of undone actions included."""

    def __init__(self, recording: Recording) -> None:
        table: Any = recording.table("links")
        self._kinds: Any = np.array(table["kind"].to_pylist(), object)
        self._columns: list[Ints] = [
            table[name].to_numpy().astype(np.int64) for name in ("ordinal", "operation", "source")
        ]

    def of_kind(self, kind: str) -> Links:
        """Return the links of a kind, such as ``cloned``."""
        which = self._kinds == kind
        return Links(*(column[which] for column in self._columns))
