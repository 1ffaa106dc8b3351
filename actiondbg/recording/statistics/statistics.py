"""How long the actions of a name take, and how that depends on what was counted."""

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
    """The duration in nanoseconds, or an event: of each action, and in buckets."""

    name: str
    values: Floats
    buckets: Buckets

    @cached_property
    def ranks(self) -> Floats:
        """The rank of each value, from 1."""
        return ranks(self.values)

    @property
    def mean(self) -> float:
        """The mean of all actions."""
        return float(np.mean(self.values))

    @property
    def is_constant(self) -> bool:
        """Whether all actions have the same value."""
        return bool(np.ptp(self.values) == 0)

    def as_json(self) -> dict[str, object]:
        """Return it as ``--json`` prints it."""
        total = float(np.sum(self.values))
        return {"mean": self.mean, "total": total, "buckets": self.buckets.as_json()}


@dataclass(frozen=True)
class Relation:
    """How the duration and an event go together.

    Args:
        event: its name.
        pearson: None where one of the two is constant.
        spearman: the same of the ranks.
        duration_given_event: shape (buckets of the event, buckets of the duration).
        event_given_duration: shape (buckets of the duration, buckets of the event).
    """

    event: str
    pearson: float | None
    spearman: float | None
    duration_given_event: Floats
    event_given_duration: Floats

    def as_json(self) -> dict[str, object]:
        """Return it as ``--json`` prints it."""
        return {
            "pearson": self.pearson,
            "spearman": self.spearman,
            "duration_given_event": self.duration_given_event.tolist(),
            "event_given_duration": self.event_given_duration.tolist(),
        }


@dataclass(frozen=True)
class Statistics:
    """What is known of the actions whose name matches a glob.

    Args:
        glob: the glob.
        uncounted: how many actions match and were left out, since an event was not counted.
        duration: of the actions.
        events: of the same actions, by the event's name.
        relations: of the duration and each event, by the event's name.
    """

    glob: str
    uncounted: int
    duration: Quantity
    events: dict[str, Quantity]
    relations: dict[str, Relation]

    @property
    def calls(self) -> int:
        """How many actions there are."""
        return len(self.duration.values)

    def as_json(self) -> dict[str, object]:
        """Return it as ``--json`` prints it."""
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
        samples: of these actions.
        glob: that they match.
        buckets: how many quantile buckets, from 1.

    Raises:
        ActiondbgError: there is no action, or none of which the events were counted.
    """
    if not samples.size:
        raise ActiondbgError(
            f"No action has a name that {glob!r} matches: without --name the totals list all names."
        )
    counted = samples.only(samples.counted)
    if not counted.size:
        raise ActiondbgError(
            f"Of no action that {glob!r} matches the events were counted: measure without some of "
            "the events, or raise 'ulimit -n'."
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
