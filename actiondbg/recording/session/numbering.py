"""Which ordinal the action at each place of the line has."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from actiondbg.recording.format.arrow import Bools, Ints


class Numbering:
    """Translates between ordinals, rows of the table, and places of the line.

    Args:
        ordinals: of each row, from 1, rising; some may be missing.
        places: of each row; None where they are the same.
    """

    def __init__(self, ordinals: Ints, places: Ints | None) -> None:
        self._ordinals = ordinals
        self._is_whole = not len(ordinals) or int(ordinals[-1]) == len(ordinals)
        self._places = places
        self._rows = None if places is None else np.argsort(places)

    @property
    def last(self) -> int:
        """The last ordinal; 0 if there is none."""
        return int(self._ordinals[-1]) if len(self._ordinals) else 0

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Put values, one for each row, into the order of the places."""
        return values if self._rows is None else values[self._rows]

    def ordinals(self, places: Ints) -> Ints:
        """Return the ordinals of the actions at some places."""
        rows = places if self._rows is None else self._rows[places]
        return rows + 1 if self._is_whole else self._ordinals[rows]

    def places(self, ordinals: Ints) -> Ints:
        """Return the places of actions that there are."""
        rows = ordinals - 1 if self._is_whole else np.searchsorted(self._ordinals, ordinals)
        return rows if self._places is None else self._places[rows]

    def marked(self, ordinals: Ints) -> Bools:
        """Tell of each place whether its action is one of some."""
        marks = np.zeros(len(self._ordinals), dtype=np.bool_)
        marks[self.places(ordinals)] = True
        return marks

    def holds(self, ordinal: int) -> bool:
        """Tell whether there is an action of an ordinal."""
        at = int(np.searchsorted(self._ordinals, ordinal))
        return at < len(self._ordinals) and int(self._ordinals[at]) == ordinal
