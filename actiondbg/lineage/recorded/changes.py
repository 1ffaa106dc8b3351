"""The changes and the links of a recording, by kind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from actiondbg.lineage.recorded.actions import RecordedActions
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.columns import TableColumns


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
        columns = TableColumns(recording, "changes")
        names = ("seq", "ordinal", "operation", "by")
        recording.arrays("changes", *names, "kind", "block")  # together, in threads
        times, ordinals, operations, by = (columns.numbers(one).astype(np.int64) for one in names)
        kinds = columns.words("kind")
        named = np.array(kinds.values, object)[kinds.codes]
        is_kept = ~columns.numbers("block").astype(np.bool_) & ~actions.is_undone[ordinals]
        self._all = Changes(times + 1, ordinals, operations, named, by).only(is_kept)

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
        columns, names = TableColumns(recording, "links"), ("ordinal", "operation", "source")
        recording.arrays("links", *names, "kind")  # together, in threads
        self._kinds = columns.words("kind")
        self._columns: list[Ints] = [columns.numbers(name).astype(np.int64) for name in names]

    def of_kind(self, kind: str) -> Links:
        """Return the links of a kind, such as ``cloned``."""
        which = self._kinds.codes == self._kinds.code(kind)
        return Links(*(column[which] for column in self._columns))
