"""The attempts of a pattern in a recording, which may be very many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from actiondbg.analysis.attempts import Attempt, Group

if TYPE_CHECKING:
    from actiondbg.recording.format.arrow import Ints
    from actiondbg.recording.session.telling import Telling


class RecordedAttempts:
    """The attempts of a pattern; see ``actiondbg.analysis.attempts.Attempts``.

    Args:
        name: of the pattern.
        places: of the attempts, sorted.
        telling: tells of them.
    """

    def __init__(self, name: str, places: Ints, telling: Telling) -> None:
        self.name = name
        self.attempts: Sequence[Attempt] = _Described(places, telling)
        self._places = places
        self._telling = telling

    def grouped(self) -> list[Group]:
        """Group the attempts by result and reason, the most frequent first."""
        keys = self._telling.outcome_keys(self._places)
        _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
        order = np.lexsort((firsts, -counts))
        return [self._group(int(firsts[at]), int(counts[at])) for at in order]

    def _group(self, first: int, count: int) -> Group:
        attempt = self.attempts[first]
        outcome = attempt.outcome
        return Group(
            result=outcome.result, reason="; ".join(outcome.reasons), count=count, first=attempt
        )


class _Described(Sequence[Attempt]):
    """Attempts, each described when it is asked for."""

    def __init__(self, places: Ints, telling: Telling) -> None:
        self._places = places
        self._telling = telling

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Attempt: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Attempt]: ...
    def __getitem__(self, index: int | slice) -> Attempt | Sequence[Attempt]:
        if isinstance(index, slice):
            return _Described(self._places[index], self._telling)
        return self._telling.attempt(int(self._places[index]))
