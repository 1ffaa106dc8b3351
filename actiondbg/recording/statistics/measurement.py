"""All that is told of one run: totals, or the statistics of a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.recording.statistics.events import USER_ONLY
from actiondbg.recording.statistics.samples import Samples, samples_of
from actiondbg.recording.statistics.statistics import Statistics, statistics_of
from actiondbg.recording.statistics.totals import (
    Total,
    sorted_totals,
    totals_by_name,
    totals_by_tag,
)

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


@dataclass(frozen=True)
class Selection:
    """What is asked for.

    Args:
        name: a glob; None: all names.
        buckets: of the statistics of a name.
        own: without what was measured in nested actions.
        skip_start: milliseconds; actions that began earlier are left out.
        sort: what the totals are sorted by, see ``check_key``.
    """

    name: str | None = None
    buckets: int = 16
    own: bool = False
    skip_start: float = 0.0
    sort: str = "duration"


@dataclass(frozen=True)
class Measured:
    """What a run cost.

    Args:
        argv: the tool's command line.
        count: how many actions there are, of all names.
        samples: of the actions that were asked for.
        tags: the total of each tag.
        names: the total of each tag and name.
        statistics: of one name, if one was asked for.
        own: whether they are without what was measured in nested actions.
        notes: sentences about what is missing, and how far the numbers hold.
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
        """Return it as ``--json`` prints it."""
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
    """Return what a recorded run cost.

    Raises:
        UsageError: the glob is not one.
        ActiondbgError: no action matches.
    """
    samples = samples_of(recording, selection.own).from_time(selection.skip_start)
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


def _notes(recording: Recording, samples: Samples) -> list[str]:
    notes = [recording.cut] if recording.cut else []
    if samples.unfinished:
        notes.append(f"Left out, since they did not end: {samples.unfinished:,}.")
    if samples.early:
        notes.append(f"Left out, since they began too early: {samples.early:,}.")
    return notes + (_event_notes(samples) if samples.events else ["No events were counted."])


def _event_notes(samples: Samples) -> list[str]:
    notes: list[str] = []
    uncounted = int(np.sum(~samples.counted))
    if uncounted:
        notes.append(
            f"Not counted: {uncounted:,} of {samples.size:,} actions, since their thread could "
            "not open the events (too few counters, or 'ulimit -n' too low)."
        )
    limited = [name for name in samples.events if name.endswith(USER_ONLY)]
    if limited:
        notes.append(f"Counted outside the kernel only: {', '.join(limited)}.")
    return notes
