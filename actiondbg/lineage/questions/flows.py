"""How many operations of each kind became operations of which kinds, stage by stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from actiondbg.errors import UsageError
from actiondbg.lineage.graph import Span
from actiondbg.lineage.lineage import Lineage, Loss
from actiondbg.lineage.questions.groups import name_matches, operations_of_kind
from actiondbg.lineage.questions.kinds import COMMON_KINDS
from actiondbg.lineage.questions.reasons import Reasons, Ways, reason_text
from actiondbg.lineage.stage import Stage, chosen_stage
from actiondbg.lineage.units import outermost
from actiondbg.support.globs import check_glob

MOST_KINDS = 14  # a column
_END = 1 << 62  # after all ordinals


class FlowKind(NamedTuple):
    """A kind of operation in a column.

    Args:
        column: the index of the column.
        name: the kind; or why operations became nothing.
        value: the number of operations of the input in it; fractions of those that became
            several kinds.
        is_lost: whether the name is a reason.
    """

    column: int
    name: str
    value: float
    is_lost: bool = False


class Flow(NamedTuple):
    """The operations of one kind that became another.

    Args:
        source: the index of the earlier kind.
        target: the index of the later kind.
        value: the number of operations of the input in it.
    """

    source: int
    target: int
    value: float


@dataclass(frozen=True)
class Flows:
    """Kinds in columns, and the flows between neighbouring columns.

    Args:
        columns: the names of the stages.
        kinds: by column, then by value.
        flows: between them.
    """

    columns: tuple[str, ...]
    kinds: tuple[FlowKind, ...]
    flows: tuple[Flow, ...]


_Key = tuple[str, bool]  # the name of a kind, or of a reason; whether it is a reason
_Level = dict[_Key, float]
_Link = dict[tuple[_Key, _Key], float]
_Losses = Callable[[], Mapping[int, Loss]]  # takes long


def flows(
    lineage: Lineage,
    glob: str = "*",
    *,
    after: Sequence[str] = (),
    exact: bool = False,
    most: int = MOST_KINDS,
) -> Flows:
    """Return the flows from the kinds of the input to those of the output.

    Each operation of the input counts as one. Where it became several operations, it is divided
    evenly among their kinds, and among the operations of each kind; those inside others of them,
    and constants and the like, count only if there is nothing else.

    Args:
        lineage: the operations.
        glob: of the kinds of the input.
        after: globs of passes, such as ``tosa-to-linalg``, or of dumps and imports the stages as
            ``chosen_stage`` takes them, in the order of time; each makes a column.
        exact: leave out what only locations show.
        most: the most kinds of a column; the others are added up.

    Raises:
        UsageError: nothing matches a glob, or it is none.
    """
    operations = operations_of_kind(lineage.stages[0], glob)
    reasons = Reasons(lineage, exact=exact)
    losses = cache(lambda: reasons.losses(operations, lineage.stages[-1]))
    hops = _hops(lineage, reasons, losses, after, exact)
    masses = {one.node: 1.0 for one in operations}

    @cache
    def name_of(node: int) -> str:
        return lineage.node(node).name

    # What is missing in the output of a run was erased.
    unknown = "erased" if lineage.is_recorded else "no trace"
    levels: list[_Level] = [defaultdict(float)]
    for node, mass in masses.items():
        levels[0][name_of(node), False] += mass
    links: list[_Link] = []
    for hop in hops:
        link: _Link = defaultdict(float)
        following: dict[int, float] = defaultdict(float)
        for node, mass in masses.items():
            start = (name_of(node), False)
            kinds: dict[str, list[int]] = defaultdict(list)
            for target in hop.reached(node):
                kinds[name_of(target)].append(target)
            kinds = {kind: kinds[kind] for kind in kinds.keys() - COMMON_KINDS} or kinds
            if not kinds:
                why = reasons.forward(node, losses()).why
                link[start, (reason_text(why) if why else unknown, True)] += mass
            for kind, targets in kinds.items():
                link[start, (kind, False)] += mass / len(kinds)
                for target in targets:
                    following[target] += mass / len(kinds) / len(targets)
        links.append(link)
        level: _Level = defaultdict(float)
        for (_, end), value in link.items():
            level[end] += value
        levels.append(level)
        masses = following
    titles = (lineage.stages[0].name, *(hop.title for hop in hops))
    return _collected(titles, levels, links, most)


class _StageHop:
    """The way from one stage to a later one."""

    def __init__(self, lineage: Lineage, source: Stage, target: Stage, exact: bool) -> None:
        self._lineage = lineage
        self._source = source
        self._target = target
        self._exact = exact
        self.title = target.name

    def reached(self, node: int) -> Sequence[int]:
        """Return what an operation of the earlier column became in the later one."""
        return self._related.get(node, ())

    @cached_property
    def _related(self) -> dict[int, list[int]]:
        relation = self._lineage.relate(self._source, self._target, exact=self._exact)
        numbers = self._target.nodes
        return {
            self._source.nodes[source]: [numbers[target] for target in outer]
            for source, targets in relation.by_source().items()
            if (outer := outermost(self._target, targets))
        }


class _PassHop:
    """The way to the end of a pass, or from there to the output, by the steps in between."""

    def __init__(
        self,
        ways: Ways,
        losses: _Losses,
        title: str,
        span: Span,
        ends: tuple[Stage, Stage],
    ) -> None:
        self._ways = ways
        self._losses = losses
        self._source, self._target = ends
        self._span = span
        self.title = title

    def reached(self, node: int) -> Sequence[int]:
        """Return what an operation of the earlier column became in the later one."""
        alive = self._alive(node)
        if self._span[1] == _END:
            found = (self._target.of_node(one) for one in alive)
            inner = outermost(self._target, [one.index for one in found if one is not None])
            return [self._target.nodes[index] for index in inner]
        return [one for one in alive if not self._is_lost(self._losses().get(one))]

    def _alive(self, node: int) -> list[int]:
        """Return what an operation is at the end: of the input, with those in its regions."""
        source = self._source
        operation = source.of_node(node) if not self._span[0] else None
        asked = range(0) if operation is None else source.asked(operation.index, None)
        nodes = [source.nodes[index] for index in asked] or [node]
        alive = [one for each in nodes for one in self._ways.alive(each, self._span)]
        # Those of the input that are inside others of them are not named.
        found = {one.index for each in alive if (one := source.of_node(each)) is not None}
        outer = {source.nodes[index] for index in outermost(source, found)}
        return [one for one in dict.fromkeys(alive) if one in outer or source.of_node(one) is None]

    def _is_lost(self, loss: Loss | None) -> bool:
        return loss is not None and loss.ordinal is not None and loss.ordinal <= self._span[1]


def _hops(
    lineage: Lineage,
    reasons: Reasons,
    losses: _Losses,
    after: Sequence[str],
    exact: bool,
) -> Sequence[_StageHop | _PassHop]:
    """Return the ways between the columns.

    Raises:
        UsageError: a word matches no stage and no pass.
    """
    first, *between, last = lineage.stages
    if not after:
        return [_StageHop(lineage, first, last, exact)]
    if not lineage.is_recorded:
        if not between:
            raise UsageError(
                f"There is no stage between {first.title} and {last.title} for {after[0]!r}: give "
                "one more dump."
            )
        chosen = [first, *(chosen_stage(between, word) for word in after), last]
        return [_StageHop(lineage, one, other, exact) for one, other in pairwise(chosen)]
    hop = partial(_PassHop, reasons.ways, losses, ends=(first, last))
    ends = [0, *(_end_of(word, lineage, reasons.ways) for word in after), _END]
    titles = [*(f"after {word}" for word in after), last.name]
    return [hop(title, span) for title, span in zip(titles, pairwise(ends), strict=True)]


def _end_of(word: str, lineage: Lineage, ways: Ways) -> int:
    """Return the last action of the last pass that matches a glob."""
    glob = word.removeprefix("pass:")
    check_glob(glob, word, len(word) - len(glob))
    passes: dict[str, None] = {}
    found = 0
    for ordinal in map(int, np.unique(ways.ordinals)):
        around = lineage.pass_of(ordinal) if ordinal else None
        if around is None:
            continue
        name = lineage.action(around).removeprefix("pass:")
        passes[name] = None
        if name_matches(name, glob):
            found = ordinal
    if found:
        return found
    names = ", ".join(passes) or "none"
    raise UsageError(f"No pass that changed an operation matches {word!r}: there are {names}.")


def _collected(
    titles: Sequence[str], levels: Sequence[_Level], links: Sequence[_Link], most: int
) -> Flows:
    """Return the flows with the small kinds of each column added up."""
    kinds: list[FlowKind] = []
    places: list[dict[_Key, int]] = []
    for column, level in enumerate(levels):
        named = sorted((key for key in level if not key[1]), key=lambda key: (-level[key], key))
        lost = sorted((key for key in level if key[1]), key=lambda key: (-level[key], key))
        shown, rest = (named, []) if len(named) <= most else (named[: most - 1], named[most - 1 :])
        place: dict[_Key, int] = {}
        for key in shown:
            place[key] = len(kinds)
            kinds.append(FlowKind(column, key[0], level[key]))
        if rest:
            place |= dict.fromkeys(rest, len(kinds))
            kinds.append(
                FlowKind(column, f"{len(rest)} other kinds", sum(level[one] for one in rest))
            )
        for key in lost:
            place[key] = len(kinds)
            kinds.append(FlowKind(column, key[0], level[key], is_lost=True))
        places.append(place)
    totals: dict[tuple[int, int], float] = defaultdict(float)
    for column, link in enumerate(links):
        for (start, end), value in link.items():
            totals[places[column][start], places[column + 1][end]] += value
    found = (Flow(start, end, value) for (start, end), value in sorted(totals.items()))
    return Flows(tuple(titles), tuple(kinds), tuple(found))
