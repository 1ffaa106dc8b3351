"""Operations of one kind, grouped by whether they became another kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache

from actiondbg.errors import UsageError
from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.questions.kinds import COMMON_KINDS, kinds_by_source
from actiondbg.lineage.questions.parting import Parting, Signs, ways_part
from actiondbg.lineage.questions.reasons import Reasons
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.support.globs import check_glob, glob_matches


@dataclass(frozen=True)
class Fate:
    """What some operations became instead of the kind asked for.

    Args:
        kinds: the kinds, sorted; empty if they became nothing.
        why: for operations that became nothing, why, such as ``folded``; empty if unknown.
        operations: those that did.
        parting: where their ways leave those that became the kind; None if nothing differs.
    """

    kinds: tuple[str, ...]
    why: str
    operations: tuple[Operation, ...]
    parting: Parting | None


@dataclass(frozen=True)
class Groups:
    """Operations grouped by whether they became a kind.

    Args:
        kind: the glob of their names.
        wanted: the glob of the names that they became, or not.
        became: those that did.
        fates: the others, by what they became instead; the largest group first.
    """

    kind: str
    wanted: str
    became: tuple[Operation, ...]
    fates: tuple[Fate, ...]

    @property
    def others(self) -> list[Operation]:
        """The operations that did not become the kind, in the order of the text."""
        found = [operation for fate in self.fates for operation in fate.operations]
        return sorted(found, key=lambda one: one.index)


def operations_of_kind(stage: Stage, glob: str) -> list[Operation]:
    """Return the operations whose names match a glob.

    Raises:
        UsageError: no operation matches, or the glob is invalid.
    """
    check_glob(glob, glob, 0)
    found = [operation for operation in stage if name_matches(operation.name, glob)]
    if not found:
        raise UsageError(
            f"No operation of {stage.title} matches {glob!r}: its most frequent are "
            f"{_frequent_kinds(stage)}."
        )
    return found


def name_matches(name: str, glob: str) -> bool:
    """Whether the name of an operation matches a glob."""
    return name == glob or glob_matches(glob, name)


def _frequent_kinds(stage: Stage) -> str:
    counts = Counter(stage.names).most_common(5)
    return ", ".join(f"{name} ({count})" for name, count in counts) or "none"


def groups(
    lineage: Lineage,
    kind: str,
    wanted: str,
    *,
    exact: bool = False,
    level: Level = "operation",
) -> Groups:
    """Group the operations of a kind in the input by whether they became another kind.

    An operation counts as having become a kind if it was that kind at any time: the output may
    be lowered further. At other levels than that of operations the units that answer for it in
    the output count, too.

    Args:
        lineage: the operations.
        kind: a glob of names, such as ``tosa.conv2d``.
        wanted: a glob of names, such as ``linalg.matmul``.
        exact: leave out what only locations show.
        level: of the units that answer for operations.

    Raises:
        UsageError: no operation matches ``kind``, or a glob is invalid.
    """
    check_glob(wanted, wanted, 0)
    operations = operations_of_kind(lineage.stages[0], kind)
    first, last = lineage.stages[0], lineage.stages[-1]
    signs = Signs(lineage, exact=exact)
    reasons = Reasons(lineage, exact=exact)
    dialect, dot, _ = wanted.partition(".")

    @cache
    def in_output() -> Mapping[int, set[str]]:
        return kinds_by_source(lineage, first, last, exact=exact, level=level)

    def instead(operation: Operation, ever: Set[str]) -> tuple[tuple[str, ...], str]:
        """Return the kinds that tell what an operation became, or why it became nothing.

        They are those of the dialect of the wanted kind at any time, or else those of the output.
        """
        kin = {name for name in ever if dot and name.startswith(f"{dialect}.")}
        final = in_output().get(operation.index, set())
        kinds = kin - COMMON_KINDS or final - COMMON_KINDS or final
        if kinds:
            return tuple(sorted(kinds)), ""
        return (), reasons.of_sources([operation], last)[operation.index].why

    became: list[Operation] = []
    others: dict[tuple[tuple[str, ...], str], list[Operation]] = {}
    for operation in operations:
        ever = signs.kinds(operation)
        if level != "operation":
            ever |= in_output().get(operation.index, set())
        if any(name_matches(name, wanted) for name in ever):
            became.append(operation)
        else:
            others.setdefault(instead(operation, ever), []).append(operation)
    fates = [
        Fate(kinds, why, tuple(those), ways_part(lineage, became, those, signs, wanted=wanted))
        for (kinds, why), those in sorted(others.items(), key=lambda item: -len(item[1]))
    ]
    return Groups(kind, wanted, tuple(became), tuple(fates))
