"""The actions of a recorded run, as columns by ordinal."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from actiondbg.protocol.tags import FOLD_TAG, PASS_TAG, PATTERN_TAG, TAG_OF_KIND
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.columns import TableColumns


class RecordedActions:
    """Columns of the actions, indexed by ordinal; index 0 is no action."""

    def __init__(self, recording: Recording) -> None:
        self._columns = TableColumns(recording, "actions")
        self._ordinals: Ints = self._columns.numbers("ordinal").astype(np.int64)
        self.size = int(self._ordinals.max(initial=0)) + 1

    def _placed(self, values: Ints) -> Ints:
        column = np.zeros(self.size, np.int64)
        column[self._ordinals] = values
        return column

    def _flags(self, name: str, word: str) -> Bools:
        """Return whether each action has a word in a column of few different words."""
        column = self._columns.words(name)
        return self._placed(column.codes == column.code(word)).astype(np.bool_)

    @cached_property
    def parents(self) -> Ints:
        """The ordinal of the action around each; 0 for none."""
        return self._placed(self._columns.numbers("parent"))

    @cached_property
    def operations(self) -> Ints:
        """The operation of each; 0 for none."""
        return self._placed(self._columns.numbers("operation"))

    @cached_property
    def is_fold(self) -> Bools:
        """Whether each is a fold."""
        return self._flags("tag", FOLD_TAG)

    @cached_property
    def is_pass(self) -> Bools:
        """Whether each is a pass."""
        return self._flags("tag", PASS_TAG)

    @cached_property
    def is_undone(self) -> Bools:
        """Whether the changes of each action were undone, by itself or by an action around it."""
        undone = self._placed(self._columns.numbers("rolled_back"))
        return self._inherited(undone.astype(np.bool_))

    @cached_property
    def patterns(self) -> Ints:
        """The innermost application of a pattern that each is or is in, in its pass; 0 for none."""
        ordinals = np.arange(self.size)
        found = np.where(self._flags("tag", PATTERN_TAG), ordinals, 0)
        return found[self._enclosing((found > 0) | self.is_pass)]

    @cached_property
    def passes(self) -> Ints:
        """The innermost pass that each is or is in; 0 for none."""
        return self._enclosing(self.is_pass)

    def _enclosing(self, ends: Bools) -> Ints:
        """Return the innermost action among some that each is or is in; 0 for none."""
        at = np.arange(self.size)
        while True:
            up = np.where(ends[at], at, self.parents[at])
            if (up == at).all():
                return at
            at = up

    def _inherited(self, flags: Bools) -> Bools:
        while True:
            wider = flags | flags[self.parents]
            wider[0] = False
            if (wider == flags).all():
                return flags
            flags = wider

    def name(self, ordinal: int) -> str:
        """Return the name of an action as users write it, such as ``pattern:FuseX``."""
        row = int(np.searchsorted(self._ordinals, ordinal))
        tag, name = (self._columns.words(column).of(row) or "" for column in ("tag", "name"))
        words: dict[str, str] = {tag: kind for kind, tag in TAG_OF_KIND.items()}
        return f"{words.get(tag, tag)}:{name}" if name else tag

    def finished_pass(self, count: int) -> str:
        """Return the outermost pass that had just ended after so many actions; empty for none."""
        if not 0 < count < self.size:
            return ""
        running = set(self._around(count + 1)) if count + 1 < self.size else set[int]()
        running.update(np.flatnonzero(self._flags("outcome", "unfinished")).tolist())
        ended = [one for one in self._around(count) if one not in running]
        names = [(one, self.name(one).partition(":")) for one in ended]
        passes = [
            f"{name} #{one}"
            for one, (kind, _, name) in names
            if kind == "pass" and not name.endswith("Adaptor")
        ]
        return passes[-1] if passes else ""

    def _around(self, ordinal: int) -> list[int]:
        """Return an action and those around it, innermost first."""
        found = [ordinal]
        while parent := int(self.parents[found[-1]]):
            found.append(parent)
        return found
