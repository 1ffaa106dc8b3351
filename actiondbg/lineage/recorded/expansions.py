"""What passes put in the place of operations that they erase, without a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from actiondbg.recording.format.arrow import Ints


class OwnChange(NamedTuple):
    """A change that a pass or a step makes itself.

    Args:
        scope: the ordinal of the pass or step.
        operation: the operation.
        kind: ``inserted``, ``replaced`` or ``erased``.
    """

    scope: int
    operation: int
    kind: str


class Expansion(NamedTuple):
    """An operation that was replaced or erased, and what was put in its place.

    Args:
        scope: the pass or step that did it.
        old: the operation.
        news: the new ones, in the order of time.
        bodies: the operations that were erased after it, such as those in its regions.
    """

    scope: int
    old: int
    news: list[int]
    bodies: list[int]


class Expansions:
    """Finds the operations in whose place a pass put others.

    The pass inserts the new ones in front of the old one, and the old one is the next that it
    replaces or erases.

    Args:
        places: by number of a new operation, the old one in front of which it was inserted.
        locations: by number, as codes: a new operation has that of the old one, or of one in it.
    """

    def __init__(self, places: Mapping[int, int], locations: Ints) -> None:
        self._places = places
        self._locations = locations

    def of(self, changes: Iterable[OwnChange]) -> Iterator[Expansion]:
        """Iterate over the expansions that changes of passes show, in the order of time."""
        fresh: dict[int, set[int]] = {}  # by scope, what it inserted since the latest expansion
        made: dict[int, set[int]] = {}
        ending: dict[int, Expansion] = {}
        for scope, number, kind in changes:
            if kind == "inserted":
                if scope in ending:
                    yield from self._located(ending.pop(scope))
                fresh.setdefault(scope, set()).add(number)
                made.setdefault(scope, set()).add(number)
            elif number in made.get(scope, ()):
                continue
            elif scope in ending:
                ending[scope].bodies.append(number)
            elif waiting := fresh.pop(scope, None):
                news = sorted(one for one in waiting if self._places.get(one) == number)
                ending[scope] = Expansion(scope, number, news, [])
        for one in ending.values():
            yield from self._located(one)

    def _located(self, found: Expansion) -> Iterator[Expansion]:
        known = {int(self._locations[one]) for one in (found.old, *found.bodies)}
        news = [one for one in found.news if int(self._locations[one]) in known]
        if news:
            yield found._replace(news=news)
