"""The measurement of one run: totals, or the statistics of a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.recording.errors import RecordingError, lacks
from actiondbg.recording.query.filters import where_any
from actiondbg.recording.statistics.name_statistics import Statistics, statistics_of
from actiondbg.recording.statistics.samples import Samples, samples_of
from actiondbg.recording.statistics.totals import (
    Total,
    sorted_totals,
    totals_by_name,
    totals_by_tag,
)
from actiondbg.statistics.events import USER_ONLY

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


@dataclass(frozen=True)
class Selection:
    """The actions to measure, and how.

    Args:
        name: a glob; None for all names.
        buckets: the number of buckets of the statistics of a name.
        own: exclude the costs of nested actions.
        skip_start: leave out actions that began earlier, in milliseconds.
        sort: the sort key of the totals, see ``check_key``.
        filters: SPECs, each with ``if EXPR`` or without, of which an action matches any; none for
            all actions.
    """

    name: str | None = None
    buckets: int = 16
    own: bool = False
    skip_start: float = 0.0
    sort: str = "duration"
    filters: Sequence[str] = ()


@dataclass(frozen=True)
class Measured:
    """The cost of a run: of the selected actions, of each tag, and of each tag and name.

    Args:
        count: the number of actions of all names.
        statistics: of the selected name; None without a name.
        own: whether the costs of nested actions are excluded.
        notes: sentences about missing actions and events.
    """

    argv: list[str]
    count: int
    samples: Samples
    tags: list[Total]
    names: list[Total]
    statistics: Statistics | None
    own: bool
    notes: list[str]

    def as_json(self) -> dict[str, object]:
        """Return the measurement as ``--json`` prints it."""
        return {
            "argv": self.argv,
            "actions": self.count,
            "measured": self.samples.size,
            "events": list(self.samples.events),
            "self": self.own,
            "tags": [total.as_json() for total in self.tags],
            "names": [total.as_json() for total in self.names],
            "statistics": self.statistics.as_json() if self.statistics else None,
            "notes": self.notes,
        }


def measure(recording: Recording, selection: Selection) -> Measured:
    """Measure a recorded run.

    Raises:
        UsageError: the name is not a valid glob, or a filter has a syntax error.
        ActiondbgError: no action matches, or the recording is an import.
    """
    if recording.header.imported:
        raise RecordingError(lacks(recording.path, recording.header.imported, "times"))
    samples = samples_of(recording, selection.own).from_time(selection.skip_start)
    samples = _filtered(recording, samples, selection.filters)
    notes = _notes(recording, samples)
    statistics = None
    if selection.name is not None:
        samples = samples.named(selection.name)
        statistics = statistics_of(samples, selection.name, selection.buckets)
    return Measured(
        list(recording.header.argv),
        recording.count,
        samples,
        sorted_totals(totals_by_tag(samples), selection.sort),
        sorted_totals(totals_by_name(samples), selection.sort),
        statistics,
        selection.own,
        notes,
    )


def _filtered(recording: Recording, samples: Samples, filters: Sequence[str]) -> Samples:
    where = where_any(filters)
    if where is None:
        return samples
    from actiondbg.recording.query.database import ordinals_where

    return samples.only(np.isin(samples.ordinal, ordinals_where(recording, where)))


def _notes(recording: Recording, samples: Samples) -> list[str]:
    notes = [recording.cut] if recording.cut else []
    if samples.unfinished:
        notes.append(f"Unfinished actions, left out: {samples.unfinished:,}.")
    if samples.early:
        notes.append(f"Actions within --skip-start, left out: {samples.early:,}.")
    return notes + (_event_notes(samples) if samples.events else ["No events were counted."])


def _event_notes(samples: Samples) -> list[str]:
    notes: list[str] = []
    uncounted = int(np.sum(~samples.counted))
    if uncounted:
        notes.append(
            f"Not counted: {uncounted:,} of {samples.size:,} actions, because their thread could "
            "not open the events (too few counters, or 'ulimit -n' too low)."
        )
    limited = [name for name in samples.events if name.endswith(USER_ONLY)]
    if limited:
        notes.append(f"Counted outside the kernel only: {', '.join(limited)}.")
    return notes
