"""Statistics of the actions of a name: durations, events and their correlation."""

from __future__ import annotations

from dataclasses import dataclass

from actiondbg.errors import ActiondbgError
from actiondbg.recording.statistics.samples import Samples
from actiondbg.statistics.quantities import DURATION, Quantity, Relation, quantity_of, relation_of


@dataclass(frozen=True)
class Statistics:
    """The statistics of the actions whose name matches a glob; those of events by their names.

    ``uncounted`` is the number of actions left out because an event was not counted.
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
                name: {**quantity.as_json(), **_relation_json(self.relations[name])}
                for name, quantity in self.events.items()
            },
        }


def statistics_of(samples: Samples, glob: str, buckets: int) -> Statistics:
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
    return Statistics(glob, samples.size - counted.size, duration, events, relations)


def _relation_json(relation: Relation) -> dict[str, object]:
    """Return the dependence of an event and the duration as ``--json`` prints it."""
    return {
        "pearson": relation.pearson,
        "spearman": relation.spearman,
        "duration_given_event": relation.first_given_second.tolist(),
        "event_given_duration": relation.second_given_first.tolist(),
    }
