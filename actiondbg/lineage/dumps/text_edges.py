"""The same operations in two successive dumps, where locations do not show which.

Compilers print constants that they hoist, merge or copy without a location. From one pass to the
next, the text of such an operation tells it from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actiondbg.lineage.dumps.operation_texts import CONSTANTS, OperationTexts, is_distinctive

Overlap = Callable[[int, int], bool]


class TextPair(NamedTuple):
    """An operation, and the same one in the stage after or before.

    Args:
        at: the other.
        by_location: whether their source ranges overlap too.
    """

    at: int
    by_location: bool


class TextEdges:
    """Compares the operations of two stages, one kind after the other, when they are asked for.

    Args:
        source: the earlier stage.
        target: the later stage.
        overlap: whether the source ranges of two operations overlap.
    """

    def __init__(self, source: OperationTexts, target: OperationTexts, overlap: Overlap) -> None:
        self._source, self._target = source, target
        self._overlap = overlap
        self._heirs: dict[int, list[TextPair]] = {}
        self._origins: dict[int, list[TextPair]] = {}
        self._known: set[str] = set()

    def heirs(self, index: int) -> Sequence[TextPair]:
        """Return the operations of the later stage that are an operation of the earlier one."""
        self._compare(self._source.kinds(index))
        return self._heirs.get(index, ())

    def origins(self, index: int) -> Sequence[TextPair]:
        """Return the operations of the earlier stage that an operation of the later one was."""
        self._compare(self._target.kinds(index))
        return self._origins.get(index, ())

    def _compare(self, kinds: Iterable[str]) -> None:
        for kind in kinds:
            if kind in self._known:
                continue
            self._known.add(kind)
            news = self._target.groups(kind)
            for key, olds in self._source.groups(kind).items():
                if key in news:
                    self._match(kind, key, olds, news[key])

    def _match(self, kind: str, key: str, olds: list[int], news: list[int]) -> None:
        """Relate operations of the same text, from the surest evidence to the least sure."""
        olds, news = self._in_order(olds, news, lambda one, at: (one.path(at), _where(one, at)))
        olds, news = self._in_order(olds, news, _where, located=True)
        if 1 in (len(olds), len(news)):  # copied or merged
            olds, news = self._each(olds, news, self._overlap)
        olds, news = self._in_order(olds, news, lambda one, at: one.path(at), lost=True)
        is_alone = len(olds) == len(news) == 1
        if kind == CONSTANTS:
            if is_alone or (1 in (len(olds), len(news)) and is_distinctive(key)):
                self._each(olds, news, self._is_lost)
        elif is_alone and self._is_lost(olds[0], news[0]):
            self._each(olds, news, self._have_related_parents)

    def _have_related_parents(self, one: int, other: int) -> bool:
        parents = self._source.stage.parents[one], self._target.stage.parents[other]
        return min(parents) >= 0 and self._overlap(*parents)

    def _in_order(
        self,
        olds: list[int],
        news: list[int],
        place: Callable[[OperationTexts, int], object],
        *,
        located: bool = False,
        lost: bool = False,
    ) -> tuple[list[int], list[int]]:
        """Relate the operations at the same place in order, if there are as many.

        Args:
            olds: operations of the earlier stage.
            news: operations of the later stage.
            place: what has to be the same.
            located: only operations whose location is known.
            lost: only pairs of which one has lost its location.

        Returns:
            The operations that are left.
        """
        if not olds or not news:
            return olds, news
        there: dict[object, list[int]] = {}
        for at in news:
            there.setdefault(place(self._target, at), []).append(at)
        here: dict[object, list[int]] = {}
        for at in olds:
            here.setdefault(place(self._source, at), []).append(at)
        done: set[int] = set()
        reached: set[int] = set()
        for where, some in here.items():
            others = there.get(where, ())
            if len(some) != len(others):
                continue
            for one, other in zip(some, others, strict=True):
                if located and self._source.is_unlocated(one):
                    continue
                if lost and not self._is_lost(one, other):
                    continue
                self._relate(one, other)
                done.add(one)
                reached.add(other)
        return [one for one in olds if one not in done], [one for one in news if one not in reached]

    def _each(
        self, olds: list[int], news: list[int], is_same: Overlap
    ) -> tuple[list[int], list[int]]:
        """Relate the pairs for which ``is_same`` holds; return the operations without a pair."""
        pairs = [(one, other) for one in olds for other in news if is_same(one, other)]
        for one, other in pairs:
            self._relate(one, other)
        done, reached = {one for one, _ in pairs}, {other for _, other in pairs}
        return [one for one in olds if one not in done], [one for one in news if one not in reached]

    def _is_lost(self, one: int, other: int) -> bool:
        return self._source.is_unlocated(one) or self._target.is_unlocated(other)

    def _relate(self, one: int, other: int) -> None:
        by_location = self._overlap(one, other)
        self._heirs.setdefault(one, []).append(TextPair(other, by_location))
        self._origins.setdefault(other, []).append(TextPair(one, by_location))


def _where(texts: OperationTexts, index: int) -> str:
    return texts.stage.locations[index].text
