"""Operations whose locations say less than their lineage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Literal, NamedTuple

from actiondbg.lineage.lineage import Lineage, LineageStep, Node, action_place
from actiondbg.lineage.locations import Location, SourceRange
from actiondbg.lineage.stage import symbol_around

_EXAMPLES = 3  # of an action
LossKind = Literal["dropped", "blurred"]


class LocationLoss(NamedTuple):
    """An operation with a location that says less than those of its origins.

    Args:
        kind: ``dropped``: its location is unknown. ``blurred``: it lacks a source range of an
            origin.
        node: the operation, with the location that it has in the output, if it is there.
        origins: those from which it was made; of an operation of the input itself, as it was.
        ordinal: the action that made it, or changed it last; None if no action is known.
    """

    kind: LossKind
    node: Node
    origins: tuple[Node, ...]
    ordinal: int | None


class LossRow(NamedTuple):
    """The operations of a pattern or pass: it made them, or changed their locations.

    Args:
        where: the pass, such as ``pass:canonicalize``; empty if there is none.
        action: the action, such as ``pattern:FuseX``; empty if none is known.
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


def location_losses(lineage: Lineage) -> list[LossRow]:
    """Return the actions that made operations, by the number of locations that they lose.

    What only locations show is left out: a location cannot be checked by itself.
    """
    made: Counter[tuple[str, str]] = Counter()
    losses: dict[tuple[str, str], list[LocationLoss]] = defaultdict(list)
    place_of = cache(partial(action_place, lineage))
    last = _LastLocations(lineage)

    def compare(ordinal: int | None, before: Node, origins: list[Node]) -> None:
        known = [origin for origin in origins if _ranges(origin.location)]
        if not known:
            return
        node = last.of(before)
        kind = _compared(node, known)
        if kind is not None and _compared(before, known) is None:  # lost later
            events = lineage.events(node.number)
            ordinal = events[-1].ordinal if events else None
        place = ("", "") if ordinal is None else place_of(ordinal)
        made[place] += 1
        if kind is not None:
            losses[place].append(LocationLoss(kind, node, tuple(known), ordinal))

    for ordinal, node, origins in _made(lineage.steps(exact=True), lineage):
        compare(ordinal, node, origins)
    for node in last.changed():
        compare(None, node, [node])
    rows = [
        LossRow(
            *place,
            count,
            sum(loss.kind == "dropped" for loss in losses[place]),
            sum(loss.kind == "blurred" for loss in losses[place]),
            tuple(losses[place][:_EXAMPLES]),
        )
        for place, count in made.items()
    ]
    return sorted(rows, key=lambda row: (-row.dropped, -row.blurred, -row.made, row.action))


class _LastLocations:
    """The locations of operations in the output: drivers change those of constants in place."""

    def __init__(self, lineage: Lineage) -> None:
        self._first, self._last = lineage.stages[0], lineage.stages[-1]

    def of(self, node: Node) -> Node:
        """Return an operation with its location in the output, if it is there."""
        found = None if self._last.is_listing else self._last.of_node(node.number)
        return node if found is None else node._replace(location=found.location.text)

    def changed(self) -> Iterator[Node]:
        """Iterate over the operations of the input whose location is another one in the output."""
        for one in self._first:
            node = Node(one.node, one.name, one.location.text, symbol_around(one))
            if self.of(node).location != node.location:
                yield node


def _made(steps: Iterable[LineageStep], lineage: Lineage) -> Iterable[tuple[int, Node, list[Node]]]:
    """Yield the operations that actions made, with their origins."""
    known = set(lineage.stages[0].nodes)
    origins: dict[int, list[int]] = {}
    when: dict[int, int] = {}
    for step in steps:
        if step.source == step.target:
            continue
        known.add(step.source)
        if step.ordinal is None or not step.evidence.makes:
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
