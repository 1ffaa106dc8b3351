"""Total costs per tag and per name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.statistics.samples import Samples
from actiondbg.recording.statistics.sort_keys import PER_CALL
from actiondbg.statistics.buckets import Floats, Integers, sums_by_group


@dataclass(frozen=True)
class Count:
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
    events: dict[str, Count]

    def as_json(self) -> dict[str, object]:
        """Return the total as ``--json`` prints it."""
        counts = {
            name: {"total": count.total, "per_call": count.per_call, "calls": count.calls}
            for name, count in self.events.items()
        }
        named = {} if self.name is None else {"name": self.name}
        sizes = {"calls": self.calls, "duration_ns": self.duration}
        return {"tag": self.tag, **named, **sizes, "events": counts}


def totals_by_tag(samples: Samples) -> list[Total]:
    """Return one total per tag."""
    return _totals(samples, samples.tag.codes, named=False)


def totals_by_name(samples: Samples) -> list[Total]:
    """Return one total per tag and name."""
    codes = samples.tag.codes * len(samples.name.values) + samples.name.codes
    return _totals(samples, codes, named=True)


def sorted_totals(totals: Sequence[Total], key: str) -> list[Total]:
    """Sort totals by a key that ``check_key`` accepts, largest first; names alphabetically."""
    if key == "name":
        return sorted(totals, key=lambda total: (total.tag, total.name or ""))
    return sorted(totals, key=lambda total: -_value(total, key))


def _value(total: Total, key: str) -> float:
    if key == "calls":
        return total.calls
    what = key.removesuffix(PER_CALL)
    count = Count(total.duration, total.calls) if what == "duration" else total.events[what]
    return (count.per_call or 0.0) if key.endswith(PER_CALL) else count.total


def _totals(samples: Samples, codes: Ints, named: bool) -> list[Total]:
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


def _counts(values: Floats, group: Integers, size: int) -> list[Count]:
    counted = ~np.isnan(values)
    sums = sums_by_group(values[counted], group[counted], size)
    calls = np.bincount(group[counted], minlength=size)
    return [Count(float(total), int(number)) for total, number in zip(sums, calls, strict=True)]
