"""What the operations of each kind became."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.questions.reasons import Reasons
from actiondbg.lineage.stage import Stage
from actiondbg.lineage.units import outermost, roll_up
from actiondbg.support.globs import glob_matches

# What many operations become beside the operation that does the work.
COMMON_KINDS = frozenset(
    (
        "arith.constant",
        "linalg.fill",
        "linalg.index",
        "linalg.yield",
        "llvm.mlir.constant",
        "tensor.empty",
        "tensor.yield",
    )
)


@dataclass(frozen=True)
class KindRow:
    """What the operations of one kind became.

    Args:
        kind: their name.
        count: their number.
        became: by kind, how many of them became one or more operations of it; the most first.
        lost: by reason, how many of them became nothing; an empty reason is unknown.
    """

    kind: str
    count: int
    became: dict[str, int]
    lost: dict[str, int]


def kind_rows(
    lineage: Lineage,
    glob: str = "*",
    *,
    exact: bool = False,
    level: Level = "operation",
    reasons: Reasons | None = None,
) -> list[KindRow]:
    """Return what the operations of each kind of the input became, the most frequent kinds first.

    Operations inside others that the same operation became are left out.

    Args:
        lineage: the operations.
        glob: of the kinds.
        exact: leave out what only locations show.
        level: of the units whose kinds are counted; see ``roll_up``.
        reasons: why operations became nothing, if they were computed before.
    """
    source, target = lineage.stages[0], lineage.stages[-1]
    reasons = reasons or Reasons(lineage, exact=exact)
    became = kinds_by_source(lineage, source, target, exact=exact, level=level)
    chosen = {kind for kind in set(source.names) if kind == glob or glob_matches(glob, kind)}
    indices = [index for index, name in enumerate(source.names) if name in chosen]
    lost = [source[index] for index in indices if index not in became]
    why = reasons.of_sources(lost, target)
    kinds: dict[str, Counter[str]] = {}
    losses: dict[str, Counter[str]] = {}
    for index in indices:
        if index in became:
            kinds.setdefault(source.names[index], Counter()).update(became[index])
        else:
            losses.setdefault(source.names[index], Counter())[why[index].why] += 1
    counts = Counter(source.names[index] for index in indices)
    return [
        KindRow(
            kind,
            count,
            _most_first(kinds.get(kind, {})),
            _most_first(losses.get(kind, {})),
        )
        for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def kinds_by_source(
    lineage: Lineage,
    source: Stage,
    target: Stage,
    *,
    exact: bool = False,
    nested: bool = False,
    level: Level = "operation",
) -> dict[int, set[str]]:
    """By index in a stage, return the kinds that each operation has become in a later stage.

    Args:
        lineage: the operations.
        source: the earlier stage.
        target: the later stage.
        exact: leave out what only locations show.
        nested: count operations inside others that the same operation became, too.
        level: of the units that answer for operations.
    """

    def counted(those: list[int]) -> Iterable[int]:
        if level != "operation":
            return (one.index for one in roll_up([target[each] for each in those], level))
        return those if nested else outermost(target, those)

    return {
        index: {target.names[one] for one in counted(those)}
        for index, those in lineage.relate(source, target, exact=exact).by_source().items()
    }
