"""What an index keeps of one recording: counts of its actions by name and outcome."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.file import Ending, read_ending, read_file
from actiondbg.recording.format.header import Header
from actiondbg.recording.format.items import Items, StringTables
from actiondbg.recording.format.layout import CHANGED, OUTCOMES, ROLLED_BACK
from actiondbg.recording.format.structs import Kind, Space
from actiondbg.recording.tables.definitions import Definitions, taken
from actiondbg.recording.tables.rows import ActionRows

_FLAGS = CHANGED | ROLLED_BACK
Row: TypeAlias = dict[str, Any]  # of a table of the index, by column
_Words: TypeAlias = tuple[str, str, str]  # tag, name and full name


@dataclass
class Summary:
    """A recording, summed up.

    Args:
        header: the recorded run.
        ending: how it ended.
        count: the number of actions.
        ended: when its last chunk was written, in ns of CLOCK_MONOTONIC.
        cut: why it may be incomplete; None if it is complete.
        attempts: the rows of the table of attempts, without the run.
        reasons: likewise, of the table of reasons.
        pattern_sets: the hashes of the sets of patterns that the run froze.
    """

    header: Header
    ending: Ending
    count: int
    ended: int
    cut: str | None
    attempts: list[Row] = field(default_factory=list[Row])
    reasons: list[Row] = field(default_factory=list[Row])
    pattern_sets: list[str] = field(default_factory=list[str])


def summarize(path: str | os.PathLike[str]) -> Summary:
    """Sum a recording up; a damaged one up to the damage.

    Raises:
        RecordingError: the file cannot be read.
    """
    file = read_file(path, partial=True)
    rows = ActionRows(file)
    ended = max((chunk.flushed[1] for chunk in file.chunks), default=0)
    ending = read_ending(file, lambda thread, row: None)
    summary = Summary(file.header, ending, rows.count, ended, file.cut)
    strings = StringTables(file, rows.threads)
    summary.pattern_sets = [
        f"{int(number):x}"
        for _, section in file.sections(Kind.PATTERN_SETS)
        for number in np.frombuffer(file.mapped, "<u8", section.count, section.offset)
    ]
    if rows.count:
        actions = _Actions(rows, strings)
        summary.attempts = list(actions.attempts())
        summary.reasons = list(actions.reasons())
    return summary


def _words(text: str) -> _Words:
    tag, name, full_name, *_ = [*text.split("\0"), "", ""]
    return tag, name, full_name


class _Actions:
    """The actions of a recording, in the order in which they are stored."""

    def __init__(self, rows: ActionRows, strings: StringTables) -> None:
        self._rows = rows
        self._reasons = strings[Space.REASON]
        self._names = [_words(text) for text in strings[Space.ACTION].texts]
        self._ops = strings[Space.OPERATION].texts
        names = rows.items.resolve("name", strings[Space.ACTION].places)
        # The name and the operation name of each, as one number.
        self._subjects = names.astype(np.int64) * self._span + self._operations(strings) + 1

    @property
    def _span(self) -> int:
        return len(self._ops) + 1

    def _operations(self, strings: StringTables) -> Ints:
        """Return the operation name of each action, as an index; -1 for none."""
        definitions = Definitions(self._rows, strings)
        if not len(definitions.operations):
            return np.full(self._rows.count, -1, np.int64)
        ranks = self._rows.ranks_of(np.arange(self._rows.count))
        found = definitions.find(self._rows.items.field("operation"), ranks)
        return taken(definitions.names, found).astype(np.int64)

    def _subject(self, number: int) -> tuple[_Words, str | None]:
        op = number % self._span - 1
        return self._names[number // self._span], None if op < 0 else self._ops[op]

    def attempts(self) -> Iterator[Row]:
        """Yield the actions of one name on operations of one name with the same outcome."""
        rows = self._rows
        flags = rows.flags.astype(np.int64) & _FLAGS
        codes = self._subjects << 8 | rows.outcomes.astype(np.int64) << 4 | flags
        found, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
        durations = np.bincount(places, rows.nanoseconds(rows.duration_ticks))
        kinds: list[int] = found.tolist()
        for code, times, duration in zip(kinds, counts, durations, strict=True):
            if code < 0:
                continue  # the name is in a chunk that is missing
            (tag, name, full_name), op = self._subject(code >> 8)
            yield {
                "tag": tag,
                "name": name,
                "full_name": full_name,
                "op": op,
                "outcome": OUTCOMES[min(code >> 4 & 15, len(OUTCOMES) - 1)],
                "changed": bool(code & CHANGED),
                "rolled_back": bool(code & ROLLED_BACK),
                "times": int(times),
                "duration_ns": int(duration),
            }

    def reasons(self) -> Iterator[Row]:
        """Yield the reasons of failures of the actions of one name on operations of one name."""
        items = Items(self._rows.file, Kind.REASONS, self._rows.threads)
        if not items.count:
            return
        places = self._rows.places(items, items.field("row"))
        reasons = items.resolve("reason", self._reasons.places).astype(np.int64)
        is_known = (places >= 0) & (reasons >= 0)
        span = len(self._reasons.texts)
        codes = self._subjects[places[is_known]] * span + reasons[is_known]
        found, counts = np.unique(codes, return_counts=True)
        kinds: list[int] = found.tolist()
        same = Counter[tuple[str, str, str | None, str]]()  # full names may differ
        for code, times in zip(kinds, counts.tolist(), strict=True):
            if code >= 0:
                (tag, name, _), op = self._subject(code // span)
                same[tag, name, op, self._reasons.texts[code % span]] += times
        for (tag, name, op, reason), times in same.items():
            yield {"tag": tag, "name": name, "op": op, "reason": reason, "times": times}


def recording_of(runs: Path, key: str) -> Path:
    """Return the path of the recording of a process."""
    return runs / f"{key}.adbrec"
