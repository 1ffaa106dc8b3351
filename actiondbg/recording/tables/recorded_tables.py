"""The tables of actions, changes, operations, reasons, findings and links."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.format.arrow import (
    PLACE,
    WORD,
    Array,
    Bools,
    DataType,
    Ints,
    bool_array,
    id_array,
    int_array,
    pa,
    word_array,
)
from actiondbg.recording.format.items import Items, Strings, StringTables, unzigzag
from actiondbg.recording.format.layout import (
    BLOCK,
    CHANGE_KIND_MASK,
    CHANGE_KINDS,
    CHANGED,
    CHECKED_RULES,
    FOLD_MASK,
    FOLD_SHIFT,
    FOLDS,
    GUESS,
    LINK_KINDS,
    OUTCOMES,
    ROLLED_BACK,
    UNHEARD,
    UNKNOWN_CHANGE,
)
from actiondbg.recording.format.structs import SectionKind, Space
from actiondbg.recording.tables.action_rows import ActionNesting, ActionRows, firsts
from actiondbg.recording.tables.lazy_table import LazyTable
from actiondbg.recording.tables.operation_definitions import Definitions

INT64, INT32 = pa.int64(), pa.int32()
# The parts of a string of the space ACTION.
_WORDS = ("tag", "name", "full_name", "labels", "unnamed")


class ActionTable:
    """Builds the columns of the actions, in the order of the ordinals."""

    def __init__(
        self,
        rows: ActionRows,
        strings: StringTables,
        definitions: Definitions,
        changes: ChangeTable,
        reasons: ReasonTable,
    ) -> None:
        self._rows = rows
        self._strings = strings
        self._definitions = definitions
        self._changes = changes
        self._reasons = reasons
        self._nesting = ActionNesting(rows)

    def table(self) -> LazyTable:
        """Return the table."""
        rows, nesting = self._rows, self._nesting
        events = [
            (column_of_event(name), INT64, partial(self._event, index))
            for index, name in enumerate(rows.file.header.events)
        ]
        return LazyTable(
            [
                ("ordinal", INT64, lambda: int_array(rows.ordinals, INT64)),
                ("parent", INT64, self._parent),
                ("thread", INT32, self._thread),
                ("context", WORD, lambda: word_array(*self._contexts)),
                ("mlir", WORD, self._mlir),
                ("depth", INT32, lambda: self._ints(nesting.depths, INT32)),
                *((word, WORD, partial(self._word, word)) for word in _WORDS),
                ("nth", INT64, self._nth),
                ("pass", WORD, self._pass),
                ("operation", INT64, lambda: id_array(self._operations)),
                *self._definitions.columns(lambda: self._found),
                ("outcome", WORD, lambda: _of_codes(rows.ordered(rows.outcomes), OUTCOMES)),
                ("changed", pa.bool_(), self._changed),
                ("rolled_back", pa.bool_(), lambda: bool_array(self._flags & ROLLED_BACK > 0)),
                ("fold", WORD, self._fold),
                ("reason", WORD, self._reasons.first),
                ("unheard", pa.bool_(), lambda: bool_array(self._flags & UNHEARD > 0)),
                *((kind, INT32, partial(self._count, kind)) for kind in CHANGE_KINDS),
                ("start_ns", INT64, self._start),
                ("duration_ns", INT64, lambda: self._time(rows.duration_ticks)),
                ("self_ns", INT64, lambda: self._time(nesting.own_ticks)),
                *events,
            ]
        )

    # --- order and nesting ---

    def _parent(self) -> Array:
        parents = self._rows.ordinals_of(self._rows.ordered(self._nesting.parents))
        return id_array(parents)

    def _thread(self) -> Array:
        slices = self._rows.items.slices
        counts = [part.stop - part.start for part in slices]
        return self._ints(np.repeat(self._rows.threads, counts), INT32)

    @cached_property
    def _contexts(self) -> tuple[Ints, list[str]]:
        """The context of each action, as an index into names; -1 for none."""
        begins = Items(self._rows.file, SectionKind.CONTEXTS, self._rows.threads)
        codes = np.full(self._rows.count, -1, np.int32)
        if not begins.count:  # a recording of an earlier version, or an import
            return codes, []
        numbers = begins.field("context")
        places = self._rows.next_places(begins, begins.field("row"))
        for own, part in zip(self._rows.items.slices, begins.slices, strict=True):
            is_known = places[part] >= 0
            starts, values = places[part][is_known], numbers[part][is_known]
            if len(starts):
                codes[starts[0] : own.stop] = np.repeat(values, np.diff(starts, append=own.stop))
        return self._rows.ordered(codes), [f"c{number}" for number in range(codes.max() + 1)]

    def _mlir(self) -> Array:
        codes, names = self._contexts
        files: dict[str, int] = {}
        mlirs = np.full(len(names) + 1, -1, np.int32)
        for text in self._strings[Space.CONTEXT].texts:
            number, file = text.split("\0")
            if int(number) < len(names):
                mlirs[int(number)] = files.setdefault(file, len(files))
        return word_array(mlirs[codes], list(files))

    def _ints(self, values: Ints, kind: DataType, absent: Bools | None = None) -> Array:
        """Return a column from one value per stored row."""
        absent = None if absent is None else self._rows.ordered(absent)
        return int_array(self._rows.ordered(values), kind, absent)

    # --- names ---

    @cached_property
    def _names(self) -> Ints:
        """The name of each action, as an index into the strings of ACTION; -1 for none."""
        return self._rows.ordered(self._stored_names)

    @cached_property
    def _stored_names(self) -> Ints:
        return self._rows.items.resolve("name", self._strings[Space.ACTION].places)

    def _word_codes(self, word: str) -> tuple[Ints, list[str]]:
        """Return the words, and the index of each name's word, with -1 after the last name."""
        known: dict[str, int] = {}
        codes: list[int] = []
        index = _WORDS.index(word)
        for text in self._strings[Space.ACTION].texts:
            part = [*text.split("\0"), "", "", "", "", ""][index]
            part = part.replace("\x1f", ",")
            absent = word in ("labels", "unnamed") and not part
            codes.append(-1 if absent else known.setdefault(part, len(known)))
        return np.array([*codes, -1], np.int32), list(known)

    def _word(self, word: str) -> Array:
        codes, words = self._word_codes(word)
        return word_array(codes[self._names], words)

    def _nth(self) -> Array:
        codes, words = self._word_codes("tag")
        tags = codes[self._names]
        by_tag = np.argsort(tags.astype(np.min_scalar_type(-1 - len(words))), kind="stable")
        counts = np.bincount(tags + 1, minlength=1)
        firsts = np.cumsum(counts) - counts
        nth = np.empty(len(tags), np.int64)
        nth[by_tag] = np.arange(1, len(tags) + 1) - np.repeat(firsts, counts)
        return int_array(nth, INT64)

    def _pass(self) -> Array:
        """Return the innermost pass that each is or is in, those aside that only run others."""
        (tags, tag_words), (names, words) = map(self._word_codes, ("tag", "name"))
        is_pass = np.array([*(word == PASS_TAG for word in tag_words), False])[tags]
        is_pass &= np.array([*(not is_adaptor(word) for word in words), False])[names]
        passes = self._nesting.innermost(is_pass[self._stored_names])
        codes = np.append(names[self._stored_names], -1)[passes]
        return word_array(self._rows.ordered(codes), words)

    # --- operations ---

    @cached_property
    def _operations(self) -> Ints:
        return self._rows.ordered(self._rows.items.field("operation"))

    @cached_property
    def _found(self) -> Ints:
        return self._definitions.find(self._operations, np.arange(self._rows.count, dtype=PLACE))

    # --- outcomes ---

    @cached_property
    def _flags(self) -> Ints:
        return self._rows.ordered(self._rows.flags)

    def _changed(self) -> Array:
        return bool_array(self._flags & CHANGED > 0, self._flags & UNKNOWN_CHANGE > 0)

    def _fold(self) -> Array:
        return _of_codes((self._flags >> FOLD_SHIFT & FOLD_MASK).astype(np.int32) - 1, FOLDS)

    def _count(self, kind: str) -> Array:
        return int_array(self._changes.counts(kind), INT32)

    # --- times and events ---

    def _start(self) -> Array:
        return self._ints(self._rows.nanoseconds(self._rows.ticks), INT64, self._untimed)

    def _time(self, ticks: Ints) -> Array:
        absent = self._rows.unfinished | self._untimed
        return self._ints(self._rows.nanoseconds(ticks), INT64, absent)

    @cached_property
    def _untimed(self) -> Bools:
        """Whether the time of each is unknown, as in an import."""
        return np.full(self._rows.count, bool(self._rows.file.header.imported))

    @cached_property
    def _samples(self) -> ActionItems:
        return ActionItems(self._rows, SectionKind.SAMPLES)

    def _event(self, index: int) -> Array:
        counted = np.zeros(self._rows.count, np.int64)
        absent = np.ones(self._rows.count, np.bool_)
        ranks = self._samples.ranks
        if len(ranks):  # else no thread could count: the field "values" is missing
            counted[ranks] = self._samples.field("values")[:, index].astype(np.int64)
            absent[ranks] = False
        return int_array(counted, INT64, absent)


def _of_codes(codes: Ints, words: tuple[str, ...]) -> Array:
    return word_array(np.minimum(codes, len(words) - 1), words)


def column_of_event(name: str) -> str:
    """Return the column name of an event."""
    return name.replace("-", "_").replace(":", "_")


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
        return self.items.field(name)[self._sorted[0]]

    def resolved(self, name: str, strings: Strings) -> Ints:
        """Return a field of all items that names strings, as indices into these."""
        return self.items.resolve(name, strings.places)[self._sorted[0]]


class ChangeTable(ActionItems):
    """All changes, in order."""

    def __init__(self, rows: ActionRows, definitions: Definitions) -> None:
        super().__init__(rows, SectionKind.CHANGES)
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
                ("ordinal", INT64, lambda: int_array(self.ordinals, INT64)),
                # The position in the file, from 1: chronological within a thread.
                ("seq", INT64, lambda: int_array(self._sorted[0] + 1, INT64)),
                ("kind", WORD, lambda: word_array(self.kinds, CHANGE_KINDS)),
                ("operation", INT64, lambda: id_array(self.operations)),
                *self._definitions.columns(lambda: self._found),
                ("block", pa.bool_(), lambda: bool_array(self.blocks)),
                ("guess", pa.bool_(), lambda: bool_array(self._codes & GUESS > 0)),
                ("by", INT64, lambda: id_array(self._by)),
                ("by_result", INT32, self._by_result),
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
        return int_array(self.field("by_result"), INT32, self._by == 0)


class ReasonTable(ActionItems):
    """All reasons, in order."""

    def __init__(self, rows: ActionRows, strings: StringTables) -> None:
        super().__init__(rows, SectionKind.REASONS)
        self._strings = strings[Space.REASON]

    @cached_property
    def _codes(self) -> Ints:
        return self.resolved("reason", self._strings)

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
                ("ordinal", INT64, lambda: int_array(self.ordinals, INT64)),
                ("reason", WORD, lambda: word_array(self._codes, self._strings.words)),
            ]
        )


def finding_table(rows: ActionRows, strings: StringTables) -> LazyTable:
    """Return the rules that patterns broke, in order: of a recording with checks."""
    findings, texts = ActionItems(rows, SectionKind.FINDINGS), strings[Space.REASON]
    return LazyTable(
        [
            ("ordinal", INT64, lambda: int_array(findings.ordinals, INT64)),
            ("rule", WORD, lambda: word_array(findings.field("rule"), CHECKED_RULES)),
            ("operation", INT64, lambda: id_array(findings.field("operation"))),
            ("detail", WORD, lambda: word_array(findings.resolved("text", texts), texts.words)),
        ]
    )


def link_table(rows: ActionRows) -> LazyTable:
    """Return how operations were made from others, where no change reports it."""
    links = ActionItems(rows, SectionKind.LINKS)

    def sources() -> Array:
        return int_array(links.field("operation") + unzigzag(links.field("source")), INT64)

    return LazyTable(
        [
            ("ordinal", INT64, lambda: int_array(links.ordinals, INT64)),
            ("kind", WORD, lambda: word_array(links.field("kind"), LINK_KINDS)),
            ("operation", INT64, lambda: int_array(links.field("operation"), INT64)),
            ("source", INT64, sources),
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
                ("operation", INT64, lambda: int_array(self._numbers, INT64)),
                *self._definitions.columns(newest),
                ("location", pa.string(), lambda: self._definitions.location(newest())),
                ("created_by", INT64, self._created_by),
                ("erased_by", INT64, self._erased_by),
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
