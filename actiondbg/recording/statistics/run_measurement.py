"""The measurement of one run: totals, and the statistics of a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.errors import ActiondbgError
from actiondbg.recording.errors import RecordingError, lacks
from actiondbg.recording.query.filters import where_any
from actiondbg.recording.statistics.samples import Samples, samples_of
from actiondbg.recording.statistics.sort_keys import PER_CALL
from actiondbg.statistics.events import USER_ONLY
from actiondbg.statistics.quantities import (
    DURATION,
    Floats,
    Integers,
    Quantity,
    QuantityRelation,
    quantity_of,
    relation_of,
    sums_by_group,
)

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


@dataclass(frozen=True)
class MeasuredSelection:
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
    statistics: NameStatistics | None
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


def measure(recording: Recording, selection: MeasuredSelection) -> Measured:
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
        sorted_totals(_totals(samples, named=False), selection.sort),
        sorted_totals(_totals(samples, named=True), selection.sort),
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


@dataclass(frozen=True)
class NameStatistics:
    """The statistics of the actions whose name matches a glob; those of events by their names.

    ``uncounted`` is the number of actions left out because an event was not counted.
    """

    glob: str
    uncounted: int
    duration: Quantity
    events: dict[str, Quantity]
    relations: dict[str, QuantityRelation]

    @property
    def calls(self) -> int:
        """The number of actions."""
        return len(self.duration.values)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of ``--json``."""
        return {
            "glob": self.glob,
            "calls": self.calls,
            "uncounted": self.uncounted,
            "duration_ns": self.duration.as_json(),
            "events": {
                name: {**quantity.as_json(), **_relation_json(self.relations[name])}
                for name, quantity in self.events.items()
            },
        }


def statistics_of(samples: Samples, glob: str, buckets: int) -> NameStatistics:
    """Return the statistics of samples that a glob selected, in at least one quantile bucket.

    Raises:
        ActiondbgError: there is no action, or none with counted events.
    """
    if not samples.size:
        raise ActiondbgError(
            f"No action has a name that matches {glob!r}: without --name the totals list all names."
        )
    counted = samples.only(samples.counted)
    if not counted.size:
        raise ActiondbgError(
            f"The events were not counted in any action that matches {glob!r}: measure fewer "
            "events, or raise 'ulimit -n'."
        )
    duration = quantity_of(DURATION, counted.duration, buckets)
    events = {name: quantity_of(name, values, buckets) for name, values in counted.events.items()}
    relations = {name: relation_of(duration, event) for name, event in events.items()}
    return NameStatistics(glob, samples.size - counted.size, duration, events, relations)


def _relation_json(relation: QuantityRelation) -> dict[str, object]:
    """Return the dependence of an event and the duration as ``--json`` prints it."""
    return {
        "pearson": relation.pearson,
        "spearman": relation.spearman,
        "duration_given_event": relation.first_given_second.tolist(),
        "event_given_duration": relation.second_given_first.tolist(),
    }


@dataclass(frozen=True)
class EventTotal:
    """The total count of an event; ``calls`` is the number of actions that counted it."""

    total: float
    calls: int

    @property
    def per_call(self) -> float | None:
        """The mean; None if no action counted the event."""
        return self.total / self.calls if self.calls else None


@dataclass(frozen=True)
class Total:
    """The total cost of the actions of a tag, or of a tag and a name.

    The duration is in nanoseconds; the name is None for all names.
    """

    tag: str
    name: str | None
    calls: int
    duration: float
    events: dict[str, EventTotal]

    def as_json(self) -> dict[str, object]:
        """Return the total as ``--json`` prints it."""
        counts = {
            name: {"total": count.total, "per_call": count.per_call, "calls": count.calls}
            for name, count in self.events.items()
        }
        named = {} if self.name is None else {"name": self.name}
        sizes = {"calls": self.calls, "duration_ns": self.duration}
        return {"tag": self.tag, **named, **sizes, "events": counts}


def sorted_totals(totals: Sequence[Total], key: str) -> list[Total]:
    """Sort totals by a key that ``check_key`` accepts, largest first; names alphabetically."""
    if key == "name":
        return sorted(totals, key=lambda total: (total.tag, total.name or ""))
    return sorted(totals, key=lambda total: -_value(total, key))


def _value(total: Total, key: str) -> float:
    if key == "calls":
        return total.calls
    what = key.removesuffix(PER_CALL)
    count = EventTotal(total.duration, total.calls) if what == "duration" else total.events[what]
    return (count.per_call or 0.0) if key.endswith(PER_CALL) else count.total


def _totals(samples: Samples, named: bool) -> list[Total]:
    """Return one total per tag, or per tag and name."""
    codes = samples.tag.codes
    if named:
        codes = codes * len(samples.name.values) + samples.name.codes
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    calls = np.bincount(group, minlength=len(first))
    durations = sums_by_group(samples.duration, group, len(first))
    events = {name: _counts(values, group, len(first)) for name, values in samples.events.items()}
    return [
        Total(
            samples.tag.values[samples.tag.codes[row]],
            samples.name.values[samples.name.codes[row]] if named else None,
            int(calls[i]),
            float(durations[i]),
            {name: counts[i] for name, counts in events.items()},
        )
        for i, row in enumerate(first)
    ]


def _counts(values: Floats, group: Integers, size: int) -> list[EventTotal]:
    counted = ~np.isnan(values)
    sums = sums_by_group(values[counted], group[counted], size)
    calls = np.bincount(group[counted], minlength=size)
    return [
        EventTotal(float(total), int(number)) for total, number in zip(sums, calls, strict=True)
    ]
