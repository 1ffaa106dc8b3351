"""The answer to why a conversion failed, or why it left operations."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from actiondbg.analysis.legalization.cause import (
    Cause,
    CauseKind,
    blockers,
    cause_of,
    cause_of_failure,
)
from actiondbg.analysis.legalization.tree import Conversion, Legalization
from actiondbg.protocol import Culprit, Unit
from actiondbg.protocol.legalizations import OperationsLeft

_TELLS_LITTLE: dict[CauseKind, int] = {"no reason": 1, "no pattern": 2}


class LeftGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of one name that one conversion left, for the same cause.

    Attributes:
        conversion: the conversion.
        cause: why.
        first: the first of the operations.
        count: the number of operations.
    """

    conversion: Conversion
    cause: Cause
    first: Legalization
    count: int


class OtherFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The first failure of a run in which no dialect conversion failed.

    Attributes:
        kind: "verifier" if that refused the IR, "pass" if a pass failed, "crash" of the tool.
        message: what was reported first; of the verifier with the operation on which it failed; of
            a crash a sentence.
        culprit: the pass; of the verifier the last pass that had ended, None for the input and for
            a crash.
        unit: the operation that the error of a pass is about, if that is known.
    """

    kind: Literal["verifier", "pass", "crash"]
    message: str
    culprit: Culprit | None = None
    unit: Unit | None = None


class Explanation(msgspec.Struct, kw_only=True):
    """What the dialect conversions of a run tried in vain, up to now.

    Attributes:
        target: the operations that were asked for, such as "@12" or "op:memref.*"; None for the
            conversion that failed.
        conversions: those that failed, and with a target those that left some of its operations,
            in their order; where the verifier failed, those of the pass before it that left any.
        other: the first other failure, if no conversion failed, or one that its pass ignored; None
            without one.
        status: the exit status of a tool that failed for another reason; 0 of all others.
        is_recorded: whether the answer is from a recording, which does not hold failures of the
            verifier.
    """

    target: str | None
    conversions: list[Conversion]
    other: OtherFailure | None = None
    status: int = 0
    is_recorded: bool = False

    @property
    def failed(self) -> Conversion | None:
        """Return the newest conversion that failed, or that did not end; None if the run failed
        otherwise.
        """
        newest = (each for each in reversed(self.conversions) if each.failed is not False)
        return None if self.other is not None else next(newest, None)

    def take_other(self, other: OtherFailure | None) -> None:
        """Keep another failure, unless a conversion failed in its pass or later, or did not end."""
        culprit, failed = None if other is None else other.culprit, self.failed
        is_later = failed is not None and culprit is not None and culprit.ordinal > failed.ordinal
        if failed is None or (failed.failed and is_later):
            self.other = other

    @property
    def cause(self) -> Cause | None:
        """Return why ``failed`` failed."""
        return None if self.failed is None else cause_of_failure(self.failed)

    @property
    def blockers(self) -> list[Legalization]:
        """Return the operations around that at which ``failed`` failed, which it left as well."""
        return [] if self.failed is None else blockers(self.failed)

    def groups(self) -> list[LeftGroup]:
        """Group the operations of the target, or without one all, that conversions did not legalize
        by conversion, name and cause.

        First come those for which a pattern lacked something, then those without a reason, then
        those without a pattern, each in the order of conversions.
        """
        groups: list[LeftGroup] = []
        for conversion in self.conversions:
            found: dict[tuple[str, str], list[tuple[Legalization, Cause]]] = {}
            for one in self._wanted(conversion):
                cause = cause_of(one)
                found.setdefault((one.op, cause.text), []).append((one, cause))
            groups += [
                LeftGroup(
                    conversion=conversion,
                    cause=members[0][1],
                    first=members[0][0],
                    count=len(members),
                )
                for members in found.values()
            ]
        return sorted(groups, key=_order)

    def _wanted(self, conversion: Conversion) -> list[Legalization]:
        """Return the operations of the target; that at which a conversion failed comes twice.

        Without a target, return those of conversions that succeeded for which patterns were tried.
        """
        if self.target is None:
            return [
                one
                for one in conversion.legalizations
                if one.tried and not one.legalized and not conversion.failed
            ]
        kind, _, glob = (self.target or "").rpartition(":")
        found: list[Legalization] = []
        seen: set[int] = set()
        for one in conversion.legalizations:
            is_wanted = fnmatchcase(one.op, glob) if kind else f"@{one.id}" == self.target
            if is_wanted and one.id not in seen:
                found.append(one)
                seen |= {one.id} if one.id is not None else set()
        return found

    def never_tried(self) -> list[tuple[Conversion, OperationsLeft]]:
        """Return the names of operations that a conversion left without trying any pattern.

        The newest casts come first: later conversions replace casts of earlier conversions.
        """
        found = [
            (conversion, left)
            for conversion in self.conversions
            for left in conversion.left
            if not _tried(conversion.legalizations, left.name)
        ]
        return sorted(found, key=lambda each: -each[0].ordinal if each[1].casts else 0)


def _order(group: LeftGroup) -> int:
    is_reached = len(group.cause.way) > 1  # by a pattern that matched
    return 0 if is_reached else _TELLS_LITTLE.get(group.cause.kind, 0)


def _tried(legalizations: Sequence[Legalization], name: str) -> bool:
    return any(each.op == name for each in legalizations)
