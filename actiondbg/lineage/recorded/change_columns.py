"""The actions, changes and links of a recording, as columns, and the operands that links show."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.ir.tokens import RESULTS, VALUE
from actiondbg.ir.written_locations import without_trailing_locations
from actiondbg.lineage.stage import Stage
from actiondbg.protocol.tags import FOLD_TAG, PASS_TAG, PATTERN_TAG, TAG_OF_KIND
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.table_columns import TableColumns


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
        running = set(self.around(count + 1)) if count + 1 < self.size else set[int]()
        running.update(np.flatnonzero(self._flags("outcome", "unfinished")).tolist())
        ended = [one for one in self.around(count) if one not in running]
        names = [(one, self.name(one).partition(":")) for one in ended]
        passes = [
            f"{name} #{one}"
            for one, (kind, _, name) in names
            if kind == "pass" and not is_adaptor(name)
        ]
        return passes[-1] if passes else ""

    def around(self, ordinal: int) -> list[int]:
        """Return an action and those around it, innermost first; none of an unknown one."""
        if not 0 < ordinal < self.size:
            return []
        found = [ordinal]
        while parent := int(self.parents[found[-1]]):
            found.append(parent)
        return found


# --- changes and links ---


class ChangesInOrder(NamedTuple):
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

    def only(self, which: Bools | Ints) -> ChangesInOrder:
        """Return some of the changes."""
        return ChangesInOrder(*(column[which] for column in self))


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
        self._all = ChangesInOrder(times + 1, ordinals, operations, named, by).only(is_kept)

    def of_kind(self, *kinds: str) -> ChangesInOrder:
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

    @property
    def highest(self) -> int:
        """The highest number of an operation, also of copies that no action inserted."""
        return max(int(column.max(initial=0)) for column in self._columns[1:])

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of all operations of links."""
        _, operations, sources = self._columns
        return frozenset(np.union1d(operations, sources).tolist()) - {0}


# --- operands ---


_RESULTS = re.compile(rf"^\s*{RESULTS}")
_VALUE = re.compile(VALUE)


class Operands:
    """By the number of an operation, the operations that define its operands.

    An operation that the run made has the operands with which it was made; a copy that gets them
    only later those of its original, or their copies. One of the input has those that its first
    line names.

    Args:
        recording: made with ``record --lineage``.
        links: that it recorded.
        first: the input, under the names that MLIR prints.
    """

    def __init__(self, recording: Recording, links: RecordedLinks, first: Stage) -> None:
        self._recording = recording
        self._links = links
        self._first = first

    def of(self, number: int) -> Sequence[int]:
        """Return the operations in the order of the operands; 0 for arguments of blocks."""
        found = self._of_input.get(number)
        if found is not None:
            return found
        users, definers = self._uses
        start, end = np.searchsorted(users, (number, number + 1))
        original = self._originals.get(number) if start == end else None
        if original is None:
            return definers[start:end].tolist()
        return [self._copied(one, number) for one in self.of(original)]

    def _copied(self, operand: int, user: int) -> int:
        """Return the copy of an operand that was made with a copy of its user, or the operand."""
        copies = self._copies.get((operand, self._made_by[user]), ())
        at = bisect_left(copies, user)  # numbers grow with time
        return copies[at - 1] if at else operand

    def users(self, number: int) -> Sequence[int]:
        """Return the operations that were made with a result of another as an operand.

        Those of the operations that it replaced use it, too.
        """
        replaced = (number, *self._replaced_by.get(number, ()))
        return [user for one in replaced for user in self._by_definer.get(one, ())]

    @cached_property
    def _uses(self) -> tuple[Ints, Ints]:
        _, users, definers = self._links.of_kind("uses")
        order = np.argsort(users, kind="stable")
        return users[order], definers[order]

    @cached_property
    def _originals(self) -> dict[int, int]:
        _, copies, originals = self._links.of_kind("cloned")
        return dict(zip(copies.tolist(), originals.tolist(), strict=True))

    @cached_property
    def _made_by(self) -> dict[int, int]:
        ordinals, copies, _ = self._links.of_kind("cloned")
        return dict(zip(copies.tolist(), ordinals.tolist(), strict=True))

    @cached_property
    def _copies(self) -> dict[tuple[int, int], list[int]]:
        """By original and action, the copies in the order of time."""
        found: dict[tuple[int, int], list[int]] = {}
        columns = (column.tolist() for column in self._links.of_kind("cloned"))
        for ordinal, copy, original in sorted(zip(*columns, strict=True)):
            found.setdefault((original, ordinal), []).append(copy)
        return found

    @cached_property
    def _of_input(self) -> dict[int, list[int]]:
        nodes = self._first.nodes
        return {
            nodes[index]: [nodes[one] if one >= 0 else 0 for one in definers]
            for index, definers in self._named()
        }

    @cached_property
    def _by_definer(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, definers in self._of_input.items():
            for one in definers:
                found.setdefault(one, []).append(number)
        for number, one in zip(*(column.tolist() for column in self._uses), strict=True):
            found.setdefault(one, []).append(number)
        for number in self._originals.keys() - {*self._uses[0].tolist()}:
            for one in self.of(number):
                found.setdefault(one, []).append(number)
        return found

    @cached_property
    def _replaced_by(self) -> dict[int, list[int]]:
        changes: Any = self._recording.table("changes", ("operation", "by"))
        found: dict[int, list[int]] = {}
        for one, by in zip(
            changes["operation"].to_pylist(), changes["by"].to_pylist(), strict=True
        ):
            if one and by:
                found.setdefault(by, []).append(one)
        return found

    def _named(self) -> Iterator[tuple[int, list[int]]]:
        """Iterate over the operations of the input, with the indices of the definers; -1: none."""
        stage, known = self._first, dict[str, list[int]]()
        for index, result in enumerate(stage.results):
            line = without_trailing_locations(stage.text_lines[stage.lines[index] - 1])
            names = _VALUE.findall(_RESULTS.sub("", line))
            yield index, [self._visible(known.get(name, ()), index) for name in names]
            if result:
                known.setdefault(result, []).append(index)

    def _visible(self, candidates: Sequence[int], user: int) -> int:
        """Return the last operation of a name that a user can see; sibling regions share names."""
        parents = self._first.parents
        for one in reversed(candidates):
            around = parents[user]
            while around > parents[one]:
                around = parents[around]
            if around == parents[one]:
                return one
        return -1
