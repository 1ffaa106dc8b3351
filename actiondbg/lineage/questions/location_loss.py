"""Operations whose locations say less than their lineage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.lineage import Lineage, Node, Step
from actiondbg.lineage.locations.location import Location
from actiondbg.lineage.locations.source_range import SourceRange

LossKind = Literal["dropped", "blurred"]
# How an operation is made; a merged operation was there before, and a symbol is no origin.
_MADE = frozenset(
    (
        Evidence.REPLACED,
        Evidence.CREATED,
        Evidence.CLONED,
        Evidence.FOLDED,
        Evidence.REWRITTEN,
    )
)


class LocationLoss(NamedTuple):
    """An operation made with a location that says less than those of its origins.

    Args:
        kind: ``dropped``: its location is unknown. ``blurred``: it lacks a source range of an
            origin.
        node: the operation.
        origins: those from which it was made.
        ordinal: the action that made it.
    """

    kind: LossKind
    node: Node
    origins: tuple[Node, ...]
    ordinal: int


class LossRow(NamedTuple):
    """The operations that one pattern or pass made.

    Args:
        where: the pass, such as ``pass:canonicalize``; empty if there is none.
        action: the action, such as ``pattern:FuseX``.
        made: the operations made from others whose locations are known.
        dropped: those of them whose location is unknown.
        blurred: those of them whose location lacks a source range of an origin.
        examples: some of them.
    """

    where: str
    action: str
    made: int
    dropped: int
    blurred: int
    examples: tuple[LocationLoss, ...]


def location_losses(lineage: Lineage, *, exact: bool = True, examples: int = 3) -> list[LossRow]:
    """Return the actions that made operations, those that lose most locations first.

    Args:
        lineage: the operations.
        exact: leave out what only locations show; a location cannot be checked by itself.
        examples: the number of examples for each.
    """
    made: Counter[tuple[str, str]] = Counter()
    losses: dict[tuple[str, str], list[LocationLoss]] = defaultdict(list)
    places = _Places(lineage)
    for ordinal, node, origins in _made(lineage.steps(exact=exact), lineage):
        known = [origin for origin in origins if _ranges(origin.location)]
        if not known:
            continue
        place = places.of(ordinal)
        made[place] += 1
        kind = _compared(node, known)
        if kind is not None:
            losses[place].append(LocationLoss(kind, node, tuple(known), ordinal))
    rows = [
        LossRow(
            *place,
            count,
            sum(loss.kind == "dropped" for loss in losses[place]),
            sum(loss.kind == "blurred" for loss in losses[place]),
            tuple(losses[place][:examples]),
        )
        for place, count in made.items()
    ]
    return sorted(rows, key=lambda row: (-row.dropped, -row.blurred, -row.made, row.action))


def _made(steps: Iterable[Step], lineage: Lineage) -> Iterable[tuple[int, Node, list[Node]]]:
    """Yield the operations that actions made, with their origins."""
    known = set(lineage.stages[0].nodes)
    origins: dict[int, list[int]] = {}
    when: dict[int, int] = {}
    for step in steps:
        if step.source == step.target:
            continue
        known.add(step.source)
        if step.ordinal is None or step.evidence not in _MADE:
            continue
        if step.target in known and when.get(step.target) != step.ordinal:
            continue
        known.add(step.target)
        when[step.target] = step.ordinal
        origins.setdefault(step.target, []).append(step.source)
    for node, sources in origins.items():
        described = [lineage.node(source) for source in dict.fromkeys(sources)]
        yield when[node], lineage.node(node), described


def _compared(node: Node, origins: list[Node]) -> LossKind | None:
    ranges = _ranges(node.location)
    if not ranges:
        return "dropped"
    wanted = frozenset[SourceRange]().union(*(_ranges(origin.location) for origin in origins))
    return None if all(_is_covered(one, ranges) for one in wanted) else "blurred"


def _is_covered(wanted: SourceRange, ranges: frozenset[SourceRange]) -> bool:
    """Whether a range is inside one of some others."""
    return wanted in ranges or any(
        one.file == wanted.file and one.start <= wanted.start and wanted.end <= one.end
        for one in ranges
    )


@cache
def _ranges(text: str) -> frozenset[SourceRange]:
    """Return the known source ranges in the text of a location."""
    return frozenset(one for one in Location(text).ranges if one.is_known)


class _Places:
    """The pass and the action of ordinals, looked up once."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._places: dict[int, tuple[str, str]] = {}

    def of(self, ordinal: int) -> tuple[str, str]:
        if ordinal not in self._places:
            around = self._lineage.pass_of(ordinal)
            where = self._lineage.action(around) if around is not None else ""
            self._places[ordinal] = where, self._lineage.action(ordinal)
        return self._places[ordinal]
