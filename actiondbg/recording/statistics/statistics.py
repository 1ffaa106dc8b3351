"""Statistics of the actions of a name: durations, events and their correlation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from actiondbg.errors import ActiondbgError
from actiondbg.recording.statistics.buckets import Buckets, conditional, pearson, ranks, split
from actiondbg.recording.statistics.samples import Floats, Samples

DURATION = "duration"


@dataclass(frozen=True)
class Quantity:
    """A measured quantity, the duration in nanoseconds or an event: values and buckets."""

    name: str
    values: Floats
    buckets: Buckets

    @cached_property
    def ranks(self) -> Floats:
        """The rank of each value, from 1."""
        return ranks(self.values)

    @property
    def mean(self) -> float:
        """The mean over all actions."""
        return float(np.mean(self.values))

    @property
    def is_constant(self) -> bool:
        """Whether all actions have the same value."""
        return bool(np.ptp(self.values) == 0)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of ``--json``."""
        total = float(np.sum(self.values))
        return {"mean": self.mean, "total": total, "buckets": self.buckets.as_json()}


@dataclass(frozen=True)
class Relation:
    """The dependence between the duration and an event.

    Args:
        event: the name of the event.
        pearson: the correlation; None if one of the two is constant.
        spearman: the correlation of the ranks; None likewise.
        duration_given_event: shape (buckets of the event, buckets of the duration).
        event_given_duration: shape (buckets of the duration, buckets of the event).
    """

    event: str
    pearson: float | None
    spearman: float | None
    duration_given_event: Floats
    event_given_duration: Floats

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of ``--json``."""
        return {
            "pearson": self.pearson,
            "spearman": self.spearman,
            "duration_given_event": self.duration_given_event.tolist(),
            "event_given_duration": self.event_given_duration.tolist(),
        }


@dataclass(frozen=True)
class Statistics:
    """The statistics of the actions whose name matches a glob.

    Args:
        glob: the glob.
        uncounted: the number of matching actions left out because an event was not counted.
        duration: the durations of the actions.
        events: the counts of the same actions, by event name.
        relations: the dependence between the duration and each event, by event name.
    """

    glob: str
    uncounted: int
    duration: Quantity
    events: dict[str, Quantity]
    relations: dict[str, Relation]

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
                name: {**quantity.as_json(), **self.relations[name].as_json()}
                for name, quantity in self.events.items()
            },
        }


def statistics_of(samples: Samples, glob: str, buckets: int) -> Statistics:
    """Return the statistics of the actions whose name matches.

    Args:
        samples: the samples of these actions.
        glob: the glob that selected them.
        buckets: the number of quantile buckets, at least 1.

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
    duration = _quantity(DURATION, counted.duration, buckets)
    events = {name: _quantity(name, values, buckets) for name, values in counted.events.items()}
    relations = {name: _relation(duration, event) for name, event in events.items()}
    return Statistics(glob, samples.size - counted.size, duration, events, relations)


def _quantity(name: str, values: Floats, buckets: int) -> Quantity:
    return Quantity(name, values, split(values, buckets))


def _relation(duration: Quantity, event: Quantity) -> Relation:
    return Relation(
        event.name,
        pearson(event.values, duration.values),
        pearson(event.ranks, duration.ranks),
        conditional(event.buckets, duration.buckets),
        conditional(duration.buckets, event.buckets),
    )
