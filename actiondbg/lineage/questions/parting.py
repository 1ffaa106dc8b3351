"""Where the ways of two groups of operations part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from typing import NamedTuple

from actiondbg.lineage.lineage import Lineage, LineageStep, action_place
from actiondbg.lineage.questions.kinds import kinds_by_source
from actiondbg.lineage.questions.reasons import Ways
from actiondbg.lineage.stage import Operation
from actiondbg.support.globs import glob_matches

_NEARLY = 0.95  # of the best difference: an earlier sign is preferred

_EXAMPLES = 3  # of a parting


class Sign(NamedTuple):
    """Something that happened on the way of an operation.

    Args:
        where: the pass, such as ``pass:canonicalize``, or the name of a stage; empty if the
            action was in no pass.
        action: the action, such as ``pattern:FuseX``; empty for a stage.
        kind: the kind of operation that it made; empty for any.
    """

    where: str
    action: str
    kind: str = ""


class SignExample(NamedTuple):
    """An operation of the group with the sign, and the step that shows the sign.

    Args:
        operation: of the input.
        step: None if the sign is a stage.
    """

    operation: Operation
    step: LineageStep | None


class Parting(NamedTuple):
    """The first difference between the ways of two groups.

    Args:
        sign: what happened to one group, and not to the other.
        ordinal: the first action of the sign; None for a stage.
        pass_ordinal: the pass around it; None for a stage, or an action in no pass.
        count_a: the operations of the first group with the sign.
        size_a: the operations of the first group.
        count_b: those of the second group with the sign.
        size_b: the operations of the second group.
        examples: some operations with the sign.
    """

    sign: Sign
    ordinal: int | None
    pass_ordinal: int | None
    count_a: int
    size_a: int
    count_b: int
    size_b: int
    examples: tuple[SignExample, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the sign alone separates the two groups."""
        return abs(self.count_a * self.size_b - self.count_b * self.size_a) == (
            self.size_a * self.size_b
        )


class _Seen(NamedTuple):
    time: int
    step: LineageStep | None


class Signs:
    """The signs on the ways of operations of the input; computed once for each.

    Args:
        lineage: the operations. Without actions, the kinds at each stage are the signs.
        exact: leave out what only locations show.
    """

    def __init__(self, lineage: Lineage, *, exact: bool = False) -> None:
        self.lineage = lineage
        self._exact = exact
        self._place = cache(partial(action_place, lineage))
        self._name = cache(partial(_name, lineage))

    @cached_property
    def ways(self) -> Ways:
        """The steps of the lineage."""
        return Ways(self.lineage, exact=self._exact)

    @cached_property
    def _read(self) -> Callable[[Operation], tuple[dict[Sign, _Seen], frozenset[str]]]:
        # The steps between hundreds of dumps are not read only to find that none has an action.
        has_actions = self.lineage.is_recorded and self.ways.ordinals.any()
        return cache(self._from_steps if has_actions else self._from_stages)

    def of(self, operation: Operation) -> dict[Sign, _Seen]:
        """Return the signs of an operation of the input, each with its first occurrence."""
        return self._read(operation)[0]

    def kinds(self, operation: Operation) -> frozenset[str]:
        """Return the kinds that an operation of the input became at any time."""
        return self._read(operation)[1]

    def _from_steps(self, operation: Operation) -> tuple[dict[Sign, _Seen], frozenset[str]]:
        stage, output = operation.stage, self.lineage.stages[-1]
        asked = [stage.nodes[index] for index in stage.asked(operation.index, None)]
        signs: dict[Sign, _Seen] = {}
        kinds: set[str] = set()
        for way in map(self.ways.forward, asked):
            for step in way.steps:
                if step.ordinal is None:
                    continue
                where, action = self._place(step.ordinal)
                seen = _Seen(step.ordinal, step)
                for sign in (Sign(where, action), Sign(where, action, self._name(step.target))):
                    is_named = bool(sign.kind)
                    if not is_named or step.source != step.target:
                        known = signs.get(sign)
                        signs[sign] = seen if known is None or seen.time < known.time else known
            kinds |= {self._name(node) for node in way.nodes if node not in asked}
        final = (output.of_node(node) for node in asked)
        return signs, frozenset(kinds).union(one.name for one in final if one is not None)

    def _from_stages(self, operation: Operation) -> tuple[dict[Sign, _Seen], frozenset[str]]:
        signs: dict[Sign, _Seen] = {}
        every: set[str] = set()
        for time, kinds_of in enumerate(self._by_stage, start=1):
            kinds = kinds_of.get(operation.index, set())
            name = self.lineage.stages[time].name
            for kind in kinds or {""}:
                signs[Sign(name, "", kind or "nothing")] = _Seen(time, None)
            every |= kinds
        return signs, frozenset(every)

    @cached_property
    def _by_stage(self) -> list[dict[int, set[str]]]:
        """By stage, the kinds that each operation of the input has become there."""
        first, *later = self.lineage.stages
        return [
            kinds_by_source(self.lineage, first, stage, exact=self._exact, nested=True)
            for stage in later
        ]


def _name(lineage: Lineage, node: int) -> str:
    return lineage.node(node).name


def ways_part(
    lineage: Lineage,
    group_a: Sequence[Operation],
    group_b: Sequence[Operation],
    signs: Signs | None = None,
    *,
    wanted: str = "",
) -> Parting | None:
    """Find the pass or pattern at which the ways of two groups part.

    It is the sign that the shares of the groups with it differ most by; the earliest of those
    that differ nearly as much.

    Args:
        lineage: the operations.
        group_a: operations of the first stage.
        group_b: other operations of the first stage.
        signs: of the lineage, if they were computed before.
        wanted: a glob of kinds; of simultaneous signs, one that made such a kind is preferred.

    Returns:
        The difference; None if a group is empty, or nothing differs.
    """
    if not group_a or not group_b:
        return None
    signs = signs or Signs(lineage)
    counts_a, counts_b = (
        Counter(s for one in group for s in signs.of(one)) for group in (group_a, group_b)
    )
    first: dict[Sign, int] = {}
    for operation in (*group_a, *group_b):
        for sign, seen in signs.of(operation).items():
            first[sign] = min(seen.time, first.get(sign, seen.time))
    shares = {
        sign: abs(counts_a[sign] / len(group_a) - counts_b[sign] / len(group_b)) for sign in first
    }
    best = max(shares.values(), default=0.0)
    if best == 0:
        return None
    enough = [sign for sign, share in shares.items() if share >= _NEARLY * best]

    def order(one: Sign) -> tuple[int, bool, Sign]:
        is_wanted = bool(wanted and one.kind) and glob_matches(wanted, one.kind)
        return first[one], not is_wanted, one

    sign = min(enough, key=order)
    in_a = counts_a[sign] / len(group_a) > counts_b[sign] / len(group_b)
    having = [one for one in (group_a if in_a else group_b) if sign in signs.of(one)]
    is_stage = not sign.action
    ordinal = None if is_stage else first[sign]
    return Parting(
        sign,
        ordinal,
        None if ordinal is None else lineage.pass_of(ordinal),
        counts_a[sign],
        len(group_a),
        counts_b[sign],
        len(group_b),
        tuple(SignExample(one, signs.of(one)[sign].step) for one in having[:_EXAMPLES]),
    )
