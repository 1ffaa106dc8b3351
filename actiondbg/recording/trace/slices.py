"""The slices of a recording: times, labels and arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actiondbg.recording.format.arrow import pa
from actiondbg.recording.format.file import Header
from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.byte_columns import (
    NONE,
    Argument,
    Mask,
    Numbers,
    Pieces,
    TextColumn,
    decimal,
    joined,
    string_array,
    tallies,
    texts_of,
)
from actiondbg.recording.trace.chosen_slices import ChosenSlices, choose_slices, count_undecided
from actiondbg.recording.trace.options import SliceSelection
from actiondbg.recording.trace.slice_nesting import give_times, nesting_of
from actiondbg.recording.trace.trace_rows import TraceRows, numbers_of, ranges


@dataclass(frozen=True)
class Span:
    """The slices of one thread, from ``first`` up to but excluding ``last``."""

    thread: int
    first: int
    last: int


@dataclass(frozen=True)
class Shown:
    """The slices that show the actions.

    Args:
        ordinals: the ordinals of all actions, ascending.
        slices: for each action its slice, or NONE.
        begins: for each action the begin of its slice in ns, even of a later part's; or NONE.
    """

    ordinals: Numbers
    slices: Numbers
    begins: Numbers


@dataclass(frozen=True)
class Slices:
    """Slices in the order of threads, then of begin.

    Args:
        categories: the tags, or FOLDED.
        start: ns since the first action.
        end: ns since the first action; all times of a thread are distinct (``give_times``).
        durations: as recorded, without the time that it took to record the IR, which lies between
            ``start`` and ``end``; of a run those of its first attempt, of an unfinished action the
            difference of these.
        ordinals: the ordinals of the actions; the first of a run.
        arguments: in display order.
        shown: the slice of each action.
    """

    spans: Sequence[Span]
    names: TextColumn
    categories: TextColumn
    start: Numbers
    end: Numbers
    durations: Numbers
    ordinals: Numbers
    places: SliceLocations
    arguments: Sequence[Argument]
    shown: Shown


class SliceMaker:
    """Makes the slices of a recording, as a whole or, for one thread, part by part."""

    def __init__(self, selection: SliceSelection) -> None:
        self._selection = selection
        self._floors: dict[int, int] = {}  # by thread
        self.undecided = 1  # the ordinal of the first action that no part has handled
        self._last = 0  # the ordinal of the last action read
        self._open: dict[int, Earlier] = {}  # by ordinal: actions to show when they end

    @property
    def kept(self) -> list[int]:
        """The ordinals of actions of this part that the next part must include."""
        return sorted({*self._open, *range(self.undecided, self._last + 1)})

    def make(self, recording: Recording, *, last: bool = True) -> Slices:
        """Make the slices of a part.

        Args:
            recording: the part, with the ``kept`` actions of earlier parts.
            last: whether it is the last part, in which unfinished actions remain so.
        """
        rows = TraceRows(recording)
        undecided = 0
        if not last and self._selection.failed == "fold":
            undecided = count_undecided(rows)
        live = (rows.ordinal >= self.undecided) | np.isin(rows.ordinal, list(self._open))
        live[rows.count - undecided :] = False
        chosen = choose_slices(rows, self._selection, live)
        # An action has ended if its thread continues outside it, even without a recorded end.
        waits = chosen.open & (rows.nested_end[chosen.rows] == rows.count) & (not last)
        chosen = self._timed(rows, chosen, waits)
        ended = chosen.only(~waits)
        labels = SliceLabels(rows, ended, self._open)
        places = find_locations(rows, ended)
        slices = Slices(
            spans=_spans(rows, ended),
            names=labels.names(),
            categories=labels.categories(),
            start=ended.start,
            end=ended.end,
            durations=_durations(rows, ended),
            ordinals=rows.ordinal[ended.rows],
            places=places,
            arguments=labels.arguments(places),
            shown=_shown(rows, chosen, waits),
        )
        self._open = labels.earlier(chosen.only(waits))
        self._last = int(rows.ordinal[-1]) if rows.count else 0
        self.undecided = self._last - undecided + 1
        return slices

    def _timed(self, rows: TraceRows, chosen: ChosenSlices, waits: Mask) -> ChosenSlices:
        """Adjust the times of all begins, and of the ends that do not wait."""
        start, end = chosen.start.copy(), chosen.end.copy()
        ordinals = rows.ordinal[chosen.rows]
        given = np.isin(ordinals, list(self._open))
        start[given] = [self._open[ordinal].begin for ordinal in ordinals[given].tolist()]
        for span in _spans(rows, chosen):
            part = slice(span.first, span.last)
            nesting = nesting_of(rows.nested_end, chosen.rows[part])
            times = start[part], end[part], given[part], waits[part]
            floor = self._floors.get(span.thread, NONE)
            self._floors[span.thread] = give_times(nesting, *times, floor)
        return replace(chosen, start=start, end=end)


def _durations(rows: TraceRows, chosen: ChosenSlices) -> Numbers:
    recorded = rows.numbers("duration_ns")[chosen.rows]
    return np.where(recorded == NONE, chosen.end - chosen.start, recorded)


def _spans(rows: TraceRows, chosen: ChosenSlices) -> list[Span]:
    threads = rows.thread[chosen.rows]
    bounds = [0, *(np.flatnonzero(np.diff(threads)) + 1).tolist(), len(threads)]
    return [
        Span(int(threads[first]), first, last) for first, last in pairwise(bounds) if first < last
    ]


def _shown(rows: TraceRows, chosen: ChosenSlices, waits: Mask) -> Shown:
    """Return the slice of each action; ``chosen`` includes slices that wait for their end."""
    slices = np.full(rows.count, NONE)
    begins = np.full(rows.count, NONE)
    slices[chosen.rows] = np.where(waits, NONE, np.cumsum(~waits) - 1)
    begins[chosen.rows] = chosen.start
    runs = chosen.runs
    members = runs.members()[1]
    for column in (slices, begins):
        column[members] = np.repeat(column[runs.first], runs.length)
    order = np.argsort(rows.ordinal)
    return Shown(rows.ordinal[order], slices[order], begins[order])


FOLDED = "failed-attempts"  # the category of a slice for several actions
_FOLD = "fold"


@dataclass(frozen=True)
class SliceLocations:
    """The first place in the location of each slice's operation, by the code of the slice; or NONE.

    ``files``, ``lines`` and ``columns`` have each distinct place once.
    """

    codes: Numbers
    files: TextColumn
    lines: Numbers
    columns: Numbers

    def texts(self, *, columns: bool = True) -> TextColumn:
        """Format the places as ``FILE:LINE:COL``, or as ``FILE:LINE``."""
        files = self.files.values.take(self.files.codes)
        parts: list[Pieces | bytes] = [files, b":", decimal(self.lines)]
        if columns:
            parts += [b":", decimal(self.columns)]
        return TextColumn(self.codes, joined(*parts).cast(pa.large_string()))


def find_locations(rows: TraceRows, chosen: ChosenSlices) -> SliceLocations:
    """Return the source locations of slices."""
    files = rows.texts("file", chosen.rows)
    lines, columns = (rows.numbers(name)[chosen.rows] for name in ("line", "col"))
    known = files.codes != NONE
    pairs = _paired(_paired(files.codes[known], lines[known]), columns[known])
    distinct, codes = np.unique(pairs, return_inverse=True)
    example = np.empty(len(distinct), np.int64)
    example[codes] = np.flatnonzero(known)
    of_all = np.full(len(known), NONE)
    of_all[known] = codes
    return SliceLocations(
        of_all, TextColumn(files.codes[example], files.values), lines[example], columns[example]
    )


def _paired(codes: Numbers, numbers: Numbers) -> Numbers:
    """Return a small number for each distinct pair, so that a third column can be paired."""
    width = int(numbers.max(initial=NONE)) - NONE + 1
    _, paired = np.unique(codes * width + numbers - NONE, return_inverse=True)
    return paired


@dataclass(frozen=True)
class Earlier:
    """The state of an unfinished action from an earlier part of the recording.

    Args:
        begin: the begin of its slice, in ns.
        changes: its number of changes so far, by kind.
        reason: the reason of its failure, or None.
    """

    begin: int
    changes: Mapping[str, int] = field(default_factory=dict[str, int])
    reason: str | None = None


class SliceLabels:
    """Builds the labels of slices; ``earlier`` are the unfinished actions of earlier parts."""

    def __init__(
        self, rows: TraceRows, chosen: ChosenSlices, earlier: Mapping[int, Earlier]
    ) -> None:
        self._rows, self._chosen, self._earlier = rows, chosen, earlier

    def names(self) -> TextColumn:
        """Return the names of slices."""
        rows, chosen = self._rows, self._chosen
        names = _names(rows, chosen.rows)
        # The name of a fold is the operation name.
        folds = rows.is_text("tag", _FOLD)[chosen.rows]
        of_folds = names.take(folds)
        prefixed = joined(f"{_FOLD} ".encode(), of_folds.values).cast(pa.large_string())
        names = names.changed(folds, TextColumn(of_folds.codes, prefixed))
        return names.changed(chosen.is_run, self._names_of_runs())

    def categories(self) -> TextColumn:
        """Return the categories of slices: the tags of their actions."""
        chosen = self._chosen
        runs = _same(FOLDED, len(chosen.runs.first))
        return self._rows.texts("tag", chosen.rows).changed(chosen.is_run, runs)

    def arguments(self, places: SliceLocations) -> list[Argument]:
        """Return the arguments of slices, apart from the ordinal, in display order."""
        rows, chosen = self._rows, self._chosen
        arguments = [
            *self._of_runs(),
            Argument("operation", rows.texts("op", chosen.rows)),
            Argument("operation_id", rows.numbers("operation")[chosen.rows]),
            Argument("location", places.texts()),
            Argument("function", rows.texts("function", chosen.rows)),
            Argument("outcome", rows.texts("outcome", chosen.rows)),
            *self._of_singles(),
            Argument("fold", rows.texts("fold", chosen.rows)),
            Argument("rolled_back", rows.mask("rolled_back")[chosen.rows]),
            Argument("unfinished", chosen.open),
        ]
        return [argument for argument in arguments if argument.is_used]

    def earlier(self, waiting: ChosenSlices) -> dict[int, Earlier]:
        """Return the state of the unfinished actions, for the next part."""
        rows = self._rows
        counts = {kind: rows.numbers(kind)[waiting.rows].tolist() for kind in CHANGE_KINDS}
        why = reasons(rows, waiting.rows)
        words = [*why.values.to_pylist(), None]
        known: dict[int, Earlier] = {}
        for index, ordinal in enumerate(rows.ordinal[waiting.rows].tolist()):
            before = self._earlier.get(ordinal, Earlier(NONE))
            changes = {
                name: counts[name][index] + before.changes.get(name, 0) for name in CHANGE_KINDS
            }
            reason = words[int(why.codes[index])] or before.reason
            known[ordinal] = Earlier(int(waiting.start[index]), changes, reason)
        return known

    # --- slices of one action -----------------------------------------------------

    def _of_singles(self) -> Iterator[Argument]:
        rows, chosen = self._rows, self._chosen
        why = reasons(rows, chosen.rows)
        why = TextColumn(np.where(chosen.is_run, NONE, why.codes), why.values)
        known = self._known()
        for index, before in known.items():
            if before.reason is not None and why.codes[index] == NONE:
                only = np.arange(len(chosen.rows)) == index
                why = why.changed(only, _same(before.reason, 1))
        yield Argument("reason", why)
        for name in CHANGE_KINDS:
            counts = rows.numbers(name)[chosen.rows]
            for index, before in known.items():
                counts[index] += before.changes.get(name, 0)
            yield Argument(name, np.where(counts > 0, counts, NONE))

    def _known(self) -> dict[int, Earlier]:
        """Return the earlier states of slices, by index."""
        ordinals = self._rows.ordinal[self._chosen.rows]
        index = np.flatnonzero(np.isin(ordinals, list(self._earlier)))
        return {int(each): self._earlier[int(ordinals[each])] for each in index}

    # --- slices of several attempts -----------------------------------------------

    def _names_of_runs(self) -> TextColumn:
        runs = self._chosen.runs
        operations = self._rows.texts("op", runs.first)
        words = operations.values.to_pylist()
        kinds = len(words) + 1  # plus one for no name

        def name(key: int) -> str:
            length, code = divmod(key, kinds)
            on = f" on {words[code - 1]}" if code else ""
            return f"{length} attempts failed{on}"

        return texts_of(runs.length * kinds + operations.codes + 1, name)

    def _of_runs(self) -> Iterator[Argument]:
        rows, chosen = self._rows, self._chosen
        runs = chosen.runs
        if not len(runs.first):
            return
        lasts = rows.ordinal[runs.last]
        for name, numbers in (("last_ordinal", lasts), ("attempts", runs.length)):
            of_all = np.full(len(chosen.rows), NONE)
            of_all[chosen.is_run] = numbers
            yield Argument(name, of_all)
        none = TextColumn(np.full(len(chosen.rows), NONE), string_array(()))
        yield Argument("patterns", none.changed(chosen.is_run, self._patterns()))

    def _patterns(self) -> TextColumn:
        """Return the attempts of each run, with the reasons of their failures."""
        offsets, members = self._chosen.runs.members()
        names = _names(self._rows, members)
        is_fold = self._rows.is_text("tag", _FOLD)[members]
        names = names.changed(is_fold, _same(_FOLD, int(is_fold.sum())))
        why = reasons(self._rows, members)
        tried, failed = names.values.to_pylist(), why.values.to_pylist()
        kinds = len(failed) + 1  # plus one for no reason

        def word(key: int) -> str:
            name, reason = divmod(key, kinds)
            return f"{tried[name]} ({failed[reason - 1]})" if reason else tried[name]

        return tallies(offsets, names.codes * kinds + why.codes + 1, word)


def reasons(rows: TraceRows, of: Numbers) -> TextColumn:
    """Return why the actions of some rows failed; several reasons of an action become one text."""
    first = rows.texts("reason", of)
    stored, texts = rows.recording.arrays("reasons", "ordinal", "reason")
    ordinals = numbers_of(stored)  # ascending
    begins = np.flatnonzero(np.diff(ordinals, prepend=NONE))
    counts = np.diff(begins, append=len(ordinals))
    several = counts > 1
    if not several.any():
        return first
    every = TextColumn.of(texts)
    offsets, members = ranges(begins[several], counts[several])
    joint = tallies(offsets, every.codes[members], every.values.to_pylist().__getitem__)
    group = np.full(int(ordinals[-1]) + 1, NONE)
    group[ordinals[begins[several]]] = np.arange(len(offsets) - 1)
    groups = group[np.minimum(rows.ordinal[of], len(group) - 1)]
    groups[rows.ordinal[of] >= len(group)] = NONE
    return first.changed(groups != NONE, joint.take(groups[groups != NONE]))


def _names(rows: TraceRows, of: Numbers) -> TextColumn:
    """Return the names of actions; the tag for an action without a name."""
    names = rows.texts("name", of)
    nameless = names.codes == names.code_of("")
    return names.changed(nameless, rows.texts("tag", of[nameless]))


def _same(text: str, count: int) -> TextColumn:
    return TextColumn(np.zeros(count, np.int64), string_array([text]))


class TracedProgram(NamedTuple):
    """The recorded run of a tool."""

    header: Header

    @property
    def pid(self) -> int:
        """The process; 1 if unknown."""
        return self.header.pid or 1

    @property
    def name(self) -> str:
        """The tool's name."""
        return Path(self.header.argv[0]).name if self.header.argv else "tool"

    def thread_id(self, thread: int) -> int:
        """Return a thread id: the real one for the main thread, made up for the others."""
        return self.pid + thread

    def thread_name(self, thread: int) -> str:
        """Return the name of a thread: 0 made the context, the others are its workers."""
        return "main" if thread == 0 else f"worker {thread}"
