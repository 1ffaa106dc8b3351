"""What an index keeps of one recording: counts of its actions by name and outcome."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np

from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.file import RecordingFile, read_file
from actiondbg.recording.format.header import Ending, Header, parse_ending
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.layout import CHANGED, OUTCOMES, ROLLED_BACK
from actiondbg.recording.format.strings import StringTables
from actiondbg.recording.format.structs import Kind, Space
from actiondbg.recording.tables.rows import ActionRows

_FLAGS = CHANGED | ROLLED_BACK
_Words: TypeAlias = tuple[str, str, str]  # tag, name and full name


@dataclass(frozen=True)
class Attempts:
    """The actions of one name with the same outcome.

    Args:
        tag: their tag.
        name: without the anonymous namespace.
        full_name: with it; of a pass its class.
        outcome: of ``layout.OUTCOMES``.
        changed: whether they changed the IR.
        rolled_back: whether the change was undone.
        times: their number.
        duration: in ns, nested actions included.
    """

    tag: str
    name: str
    full_name: str
    outcome: str
    changed: bool
    rolled_back: bool
    times: int
    duration: int


@dataclass
class Summary:
    """A recording, summed up.

    Args:
        header: the recorded run.
        ending: how it ended.
        count: the number of actions.
        ended: when its last chunk was written, in ns of CLOCK_MONOTONIC.
        cut: why it may be incomplete; None if it is complete.
        attempts: the actions.
        reasons: by tag, name and reason of failure, how often.
        pattern_sets: the hashes of the sets of patterns that the run froze.
    """

    header: Header
    ending: Ending
    count: int
    ended: int
    cut: str | None
    attempts: list[Attempts] = field(default_factory=list[Attempts])
    reasons: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    pattern_sets: list[str] = field(default_factory=list[str])


def summarize(path: str | os.PathLike[str]) -> Summary:
    """Sum a recording up; a damaged one up to the damage.

    Raises:
        RecordingError: the file cannot be read.
    """
    file = read_file(path, partial=True)
    rows = ActionRows(file)
    ended = max((chunk.flushed[1] for chunk in file.chunks), default=0)
    summary = Summary(file.header, _ending(file), rows.count, ended, file.cut)
    strings = StringTables(file, rows.threads)
    summary.pattern_sets = [
        f"{int(number):x}"
        for chunk in file.chunks
        for section in chunk.sections
        if section.kind == Kind.PATTERN_SETS
        for number in np.frombuffer(file.content, "<u8", section.count, section.offset)
    ]
    if rows.count:
        names = rows.items.resolve(rows.items.field("name"), strings[Space.ACTION].places)
        texts = [_words(text) for text in strings[Space.ACTION].texts]
        summary.attempts = _attempts(rows, names, texts)
        summary.reasons = _reasons(rows, names, texts, strings)
    return summary


def _words(text: str) -> _Words:
    tag, name, full_name, *_ = [*text.split("\0"), "", ""]
    return tag, name, full_name


def _ending(file: RecordingFile) -> Ending:
    for chunk in reversed(file.chunks):
        for section in chunk.sections:
            if section.kind == Kind.END:
                try:
                    return parse_ending(file.payload(section).tobytes(), lambda _: None)
                except (ValueError, TypeError) as error:
                    raise RecordingError(f"{file.path!r} is damaged ({error}).") from error
    return Ending("killed")


def _attempts(rows: ActionRows, names: Ints, texts: list[_Words]) -> list[Attempts]:
    flags = rows.flags.astype(np.int64) & _FLAGS
    codes = (names.astype(np.int64) << 8) | (rows.outcomes.astype(np.int64) << 4) | flags
    found, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    durations = np.bincount(places, rows.nanoseconds(rows.duration_ticks))
    kinds: list[int] = found.tolist()
    return [
        Attempts(
            *texts[code >> 8],
            OUTCOMES[min((code >> 4) & 15, len(OUTCOMES) - 1)],
            bool(code & CHANGED),
            bool(code & ROLLED_BACK),
            int(times),
            int(duration),
        )
        for code, times, duration in zip(kinds, counts, durations, strict=True)
        if code >= 0
    ]


def _reasons(
    rows: ActionRows, names: Ints, texts: list[_Words], strings: StringTables
) -> Counter[tuple[str, str, str]]:
    items = Items(rows.file, Kind.REASONS, rows.threads)
    result: Counter[tuple[str, str, str]] = Counter()
    if not items.count:
        return result
    places = rows.places(items, items.field("row"))
    reasons = items.resolve(items.field("reason"), strings[Space.REASON].places)
    is_known = (places >= 0) & (reasons >= 0)
    codes = (names[places[is_known]].astype(np.int64) << 32) | reasons[is_known].astype(np.int64)
    found, counts = np.unique(codes, return_counts=True)
    kinds: list[int] = found.tolist()
    for code, times in zip(kinds, counts.tolist(), strict=True):
        if code >= 0:
            tag, name, _ = texts[code >> 32]
            result[tag, name, strings[Space.REASON].texts[code & 0xFFFFFFFF]] += times
    return result


def recording_of(runs: Path, key: str) -> Path:
    """Return the path of the recording of a process."""
    return runs / f"{key}.adbrec"
