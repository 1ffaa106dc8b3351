"""Chains of operations that stay the same from dump to dump, though their location is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actiondbg.lineage.dumps.operation_texts import OperationTexts
from actiondbg.lineage.dumps.text_edges import TextEdges
from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.lineage import Step
from actiondbg.lineage.locations.source_files import same_file
from actiondbg.lineage.stage import Stage


class _Link(NamedTuple):
    """An operation of a stage, and how a chain came to it.

    Args:
        at: the operation.
        before: the operation of the stage before it in the chain.
        evidence: what shows that they are the same.
        is_by_text: whether the text alone shows any part of the chain.
    """

    at: int
    before: _Link | None = None
    evidence: Evidence = Evidence.LOCATION
    is_by_text: bool = False


class TextChains:
    """Follows operations from stage to stage.

    Args:
        stages: in the order of time.
        file_name: the name that replaces a source file's.
    """

    def __init__(self, stages: Sequence[Stage], file_name: Callable[[str], str]) -> None:
        self._stages = stages
        self._file_name = file_name
        self._texts: dict[int, OperationTexts] = {}
        self._edges: dict[int, TextEdges] = {}

    def is_among(self, index: int, place: int, others: Iterable[int], there: int) -> bool:
        """Whether one of the operations of another stage has the same text as an operation.

        Args:
            index: the operation.
            place: the number of its stage.
            others: operations that its location leads to.
            there: the number of their stage.
        """
        one, other = self._texts_of(place), self._texts_of(there)
        for kind in one.kinds(index):
            key = one.key(kind, index)
            if any(kind in other.kinds(at) and other.key(kind, at) == key for at in others):
                return True
        return False

    def follow(self, index: int, place: int, to: int) -> dict[int, tuple[Step, ...]]:
        """Follow an operation to another stage, forward or back.

        Args:
            index: the operation.
            place: the number of its stage.
            to: the number of the other stage.

        Returns:
            The operations that only their texts lead to, and the steps to each.
        """
        back = to < place
        links = [_Link(index)]
        for at in range(place, to, -1 if back else 1):
            edges = self._between(at - 1 if back else at)
            beside = edges.origins if back else edges.heirs
            following: dict[int, _Link] = {}
            for link in links:
                for pair in beside(link.at):
                    known = following.get(pair.at)
                    if known is None or (known.is_by_text and pair.by_location):
                        following[pair.at] = _Link(
                            pair.at,
                            link,
                            Evidence.LOCATION if pair.by_location else Evidence.TEXT,
                            link.is_by_text or not pair.by_location,
                        )
            links = list(following.values())
        return {link.at: self._steps(link, to, back) for link in links if link.is_by_text}

    def _steps(self, link: _Link, place: int, back: bool) -> tuple[Step, ...]:
        """Return the steps of a chain; those of the same evidence as one."""
        steps: list[Step] = []
        end, at = self._stages[place].nodes[link.at], place
        while link.before is not None:
            evidence = link.evidence
            while link.before is not None and link.evidence is evidence:
                link = link.before
                at += 1 if back else -1
            node = self._stages[at].nodes[link.at]
            steps.append(Step(evidence, end, node) if back else Step(evidence, node, end))
            end = node
        return tuple(steps if back else reversed(steps))

    def _between(self, place: int) -> TextEdges:
        """Return the comparison of a stage with the next one."""
        found = self._edges.get(place)
        if found is None:
            found = self._edges[place] = TextEdges(
                self._texts_of(place),
                self._texts_of(place + 1),
                lambda one, other: self._overlap(place, one, other),
            )
        return found

    def _texts_of(self, place: int) -> OperationTexts:
        found = self._texts.get(place)
        if found is None:
            found = self._texts[place] = OperationTexts(self._stages[place])
        return found

    def _overlap(self, place: int, one: int, other: int) -> bool:
        ranges = self._texts_of(place).ranges(one)
        others = self._texts_of(place + 1).ranges(other)
        return any(
            a.meets(b) and same_file(self._file_name(a.file), self._file_name(b.file))
            for a in ranges
            for b in others
        )
