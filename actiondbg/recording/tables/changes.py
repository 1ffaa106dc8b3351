"""The tables of changes, operations, reasons and findings, and their summaries per action."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from actiondbg.recording.format.arrow import (
    PLACE,
    WORD,
    Array,
    Bools,
    Ints,
    bool_array,
    id_array,
    int_array,
    pa,
    word_array,
)
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.layout import (
    BLOCK,
    CHANGE_KIND_MASK,
    CHANGE_KINDS,
    CHECKED_RULES,
    GUESS,
    LINK_KINDS,
    ROLLED_BACK,
)
from actiondbg.recording.format.packed import unzigzag
from actiondbg.recording.format.strings import StringTables
from actiondbg.recording.format.structs import Kind, Space
from actiondbg.recording.tables.definitions import Definitions
from actiondbg.recording.tables.lazy_table import LazyTable
from actiondbg.recording.tables.nesting import firsts
from actiondbg.recording.tables.rows import ActionRows


class ActionItems:
    """Items that belong to actions, in the order of the actions; see ``Items``."""

    def __init__(self, rows: ActionRows, kind: int) -> None:
        self.rows = rows
        self.items = Items(rows.file, kind, rows.threads)

    @cached_property
    def _action_places(self) -> Ints:
        """The place of each stored item's action, -1 for a missing action."""
        return self.rows.places(self.items, self.items.field("row"))

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints]:
        """The order of the items, and the rank of each item's action."""
        places = self._action_places
        known = np.flatnonzero(places >= 0)
        ranks = self.rows.ranks_of(places[known])
        order = np.argsort(ranks, kind="stable")
        return known[order].astype(PLACE), ranks[order]

    @property
    def ranks(self) -> Ints:
        """The rank of each item's action; see ``ActionRows.ranks_of``."""
        return self._sorted[1]

    @cached_property
    def ordinals(self) -> Ints:
        """The ordinal of each item's action."""
        return self.rows.ordinals[self.ranks]

    def field(self, name: str) -> Ints:
        """Return a field of all items."""
        return self.sorted(self.items.field(name))

    def sorted(self, values: Ints) -> Ints:
        """Reorder one value per stored item to the order of the actions."""
        return values[self._sorted[0]]


class ChangeTable(ActionItems):
    """All changes, in order."""

    def __init__(self, rows: ActionRows, definitions: Definitions) -> None:
        super().__init__(rows, Kind.CHANGES)
        self._definitions = definitions

    @cached_property
    def operations(self) -> Ints:
        """The operation of each change; for a block, its parent operation."""
        return self.field("operation")

    @cached_property
    def kinds(self) -> Ints:
        """The code of each change's kind."""
        return self._codes & CHANGE_KIND_MASK

    @cached_property
    def blocks(self) -> Bools:
        """Whether each change is of a block."""
        return self._codes & BLOCK > 0

    def counts(self, kind: str) -> Ints:
        """Count each action's changes of a kind, in the order of the ordinals."""
        codes = self.items.field("code")
        places = self._action_places[codes & CHANGE_KIND_MASK == CHANGE_KINDS.index(kind)]
        # Index 0 counts changes whose action is missing.
        counts = np.bincount(places + 1, minlength=self.rows.count + 1)[1:]
        return self.rows.ordered(counts)

    def table(self) -> LazyTable:
        """Return the table."""
        return LazyTable(
            [
                ("ordinal", pa.int64(), lambda: int_array(self.ordinals, pa.int64())),
                # The position in the file, from 1: chronological within a thread.
                ("seq", pa.int64(), lambda: int_array(self._sorted[0] + 1, pa.int64())),
                ("kind", WORD, lambda: word_array(self.kinds, CHANGE_KINDS)),
                ("operation", pa.int64(), lambda: id_array(self.operations)),
                *self._definitions.columns(lambda: self._found),
                ("block", pa.bool_(), lambda: bool_array(self.blocks)),
                ("guess", pa.bool_(), lambda: bool_array(self._codes & GUESS > 0)),
                ("by", pa.int64(), lambda: id_array(self._by)),
                ("by_result", pa.int32(), self._by_result),
            ]
        )

    @cached_property
    def _codes(self) -> Ints:
        return self.field("code")

    @cached_property
    def _by(self) -> Ints:
        by = self.field("by")
        return np.where(by > 0, self.operations + unzigzag(by - 1), 0)

    @cached_property
    def _found(self) -> Ints:
        return self._definitions.find(self.operations, self.ranks)

    def _by_result(self) -> Array:
        return int_array(self.field("by_result"), pa.int32(), self._by == 0)


class ReasonTable(ActionItems):
    """All reasons, in order."""

    def __init__(self, rows: ActionRows, strings: StringTables) -> None:
        super().__init__(rows, Kind.REASONS)
        self._strings = strings[Space.REASON]

    @cached_property
    def _codes(self) -> Ints:
        return self.sorted(self.items.resolve("reason", self._strings.places))

    def first(self) -> Array:
        """Return the first reason of each action, in the order of the ordinals, or null."""
        first = np.full(self.rows.count, -1, np.int32)
        which = firsts(self.ranks)  # of each action
        first[self.ranks[which]] = self._codes[which]
        return word_array(first, self._strings.words)

    def table(self) -> LazyTable:
        """Return the table."""
        return LazyTable(
            [
                ("ordinal", pa.int64(), lambda: int_array(self.ordinals, pa.int64())),
                ("reason", WORD, lambda: word_array(self._codes, self._strings.words)),
            ]
        )


def finding_table(rows: ActionRows, strings: StringTables) -> LazyTable:
    """Return the rules that patterns broke, in order: of a recording with checks."""
    findings = ActionItems(rows, Kind.FINDINGS)

    def details() -> Array:
        texts = strings[Space.REASON]
        codes = findings.items.resolve("text", texts.places)
        return word_array(findings.sorted(codes), texts.words)

    return LazyTable(
        [
            ("ordinal", pa.int64(), lambda: int_array(findings.ordinals, pa.int64())),
            ("rule", WORD, lambda: word_array(findings.field("rule"), CHECKED_RULES)),
            ("operation", pa.int64(), lambda: id_array(findings.field("operation"))),
            ("detail", WORD, details),
        ]
    )


def link_table(rows: ActionRows) -> LazyTable:
    """Return how operations were made from others, where no change reports it."""
    links = ActionItems(rows, Kind.LINKS)

    def kinds() -> Array:
        return word_array(links.field("kind").astype(np.int32), LINK_KINDS)

    def sources() -> Array:
        return int_array(links.field("operation") + unzigzag(links.field("source")), pa.int64())

    return LazyTable(
        [
            ("ordinal", pa.int64(), lambda: int_array(links.ordinals, pa.int64())),
            ("kind", WORD, kinds),
            ("operation", pa.int64(), lambda: int_array(links.field("operation"), pa.int64())),
            ("source", pa.int64(), sources),
        ]
    )


class OperationTable:
    """One row per operation, with its last definition."""

    def __init__(self, definitions: Definitions, changes: ChangeTable) -> None:
        self._definitions = definitions
        self._changes = changes

    def table(self) -> LazyTable:
        """Return the table."""
        newest = self._definitions.find_newest
        return LazyTable(
            [
                ("operation", pa.int64(), lambda: int_array(self._numbers, pa.int64())),
                *self._definitions.columns(newest),
                ("location", pa.string(), lambda: self._definitions.location(newest())),
                ("created_by", pa.int64(), self._created_by),
                ("erased_by", pa.int64(), self._erased_by),
            ]
        )

    @cached_property
    def _numbers(self) -> Ints:
        return self._definitions.operations[self._definitions.find_newest()]

    def _created_by(self) -> Array:
        return self._first_of(self._of_kind("inserted"))

    def _erased_by(self) -> Array:
        rows = self._changes.rows
        undone = (rows.ordered(rows.flags) & ROLLED_BACK)[self._changes.ranks] > 0
        last_first = np.flatnonzero(self._of_kind("erased") & ~undone)[::-1]
        return self._first_of(last_first)

    def _of_kind(self, kind: str) -> Bools:
        is_kind = self._changes.kinds == CHANGE_KINDS.index(kind)
        return is_kind & ~self._changes.blocks

    def _first_of(self, which: Ints | Bools) -> Array:
        """Return the ordinal of each operation's first change among some, or null."""
        ordinals = self._changes.ordinals[which]
        operations, firsts = np.unique(self._changes.operations[which], return_index=True)
        _, mine, theirs = np.intersect1d(
            self._numbers, operations, assume_unique=True, return_indices=True
        )
        found = np.zeros(len(self._numbers), np.int64)
        found[mine] = ordinals[firsts[theirs]]
        return id_array(found)
