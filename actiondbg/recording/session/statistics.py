"""Counts of the outcomes of actions, by tag and name."""

from __future__ import annotations

from functools import cached_property
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from actiondbg.protocol import Result, Statistic
from actiondbg.recording.format.arrow import Bools, Ints, pa
from actiondbg.recording.session.columns import ActionColumns

ITERATION = "GreedyPatternRewriteIteration"  # one row for all, without a name
_RESULTS: tuple[Result, ...] = get_args(Result)


class ActionStatistics:
    """Counts actions by tag and name.

    Args:
        actions: the recorded actions.
    """

    def __init__(self, actions: ActionColumns) -> None:
        self._actions = actions

    def of(self, counted: Bools) -> list[Statistic]:
        """Count some actions.

        Args:
            counted: which actions.
        """
        places = np.flatnonzero(counted)
        results = self._results(places)
        changes = self._sum(places, self._actions.change_counts)
        nanoseconds = self._sum(places, self._actions.numbers("duration_ns"))
        return [
            self._row(kind, results[kind], changes[kind], nanoseconds[kind])
            for kind in np.flatnonzero(results.any(axis=1)).tolist()
        ]

    def _row(self, kind: int, results: Ints, changes: float, nanoseconds: float) -> Statistic:
        counts = dict(zip(_RESULTS, results.tolist(), strict=True))
        counts["succeeded"] += counts["unchanged"]
        tag, name = self._kinds[kind]
        return Statistic(
            tag=tag,
            name=name,
            attempts=counts["succeeded"] + counts["failed"] + counts["skipped"],
            changes=int(changes),
            seconds=float(nanoseconds) / 1e9,
            **counts,
        )

    def _results(self, places: Ints) -> Ints:
        """Return the number of actions of each kind with each result."""
        outcomes = self._actions.words("outcome")
        size = len(outcomes.values) + 1
        keys = self._groups[places] * size + outcomes.codes[places]
        counted = np.bincount(keys, minlength=len(self._kinds) * size)
        columns = [outcomes.code(result) for result in _RESULTS]
        return counted.reshape(len(self._kinds), size)[:, columns]

    def _sum(self, places: Ints, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum of values of each kind."""
        groups = self._groups[places]
        return np.bincount(groups, weights=values[places], minlength=len(self._kinds))

    # --- kinds ---

    @cached_property
    def _keyed(self) -> Any:
        """The tag and name of each action as one key, dictionary-encoded."""
        tags, names = self._actions.words("tag"), self._actions.words("name")
        is_named = tags.codes != tags.code(ITERATION)
        codes = np.where(is_named, names.codes, len(names.values))
        keys = tags.codes.astype(np.int64) * (len(names.values) + 1) + codes
        return pa.array(keys).dictionary_encode()

    @cached_property
    def _groups(self) -> Ints:
        """The kind of each action."""
        return self._keyed.indices.to_numpy().astype(np.int64)

    @cached_property
    def _kinds(self) -> list[tuple[str, str]]:
        """The tag and the name of each kind."""
        tags, names = self._actions.words("tag"), self._actions.words("name")
        keys = self._keyed.dictionary.to_pylist()
        pairs = [divmod(key, len(names.values) + 1) for key in keys]
        return [(tags.values[tag], [*names.values, ""][name]) for tag, name in pairs]
