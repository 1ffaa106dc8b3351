"""The attempts of one pattern, with their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from actiondbg import protocol


class Attempt(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """An action that applied the pattern.

    Attributes:
        id: the id of its operation, or None.
        outcome: of the action.
        change_count: the number of its changes.
    """

    id: int | None
    outcome: protocol.Outcome
    change_count: int


class Group(msgspec.Struct, kw_only=True, frozen=True):
    """Attempts with the same result, for the same reason.

    Attributes:
        result: "succeeded", "unchanged", "failed" or "skipped".
        reason: the reasons of a failure, joined with semicolons; empty if there are none.
        count: the number of attempts.
        first: the first attempt.
    """

    result: protocol.Result
    reason: str
    count: int
    first: Attempt


class PatternAttempts(Protocol):
    """The attempts of one pattern, in their order."""

    @property
    def name(self) -> str:
        """The pattern."""
        ...

    @property
    def attempts(self) -> Sequence[Attempt]:
        """The attempts."""
        ...

    @property
    def selected(self) -> bool:
        """Whether they are only those of some operations."""
        ...

    def grouped(self) -> list[Group]:
        """Group the attempts by result and reason, the most frequent first."""
        ...


class Attempts(msgspec.Struct, kw_only=True, frozen=True):
    """The attempts of the pattern ``name``, in their order.

    ``selected`` is whether they are only those of some operations.
    """

    name: str
    attempts: list[Attempt]
    selected: bool = False

    def grouped(self) -> list[Group]:
        """Group the attempts by result and reason, the most frequent first."""
        groups: dict[tuple[protocol.Result, str], list[Attempt]] = {}
        for one in self.attempts:
            key = one.outcome.result, "; ".join(one.outcome.reasons)
            groups.setdefault(key, []).append(one)
        ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
        return [
            Group(result=result, reason=reason, count=len(members), first=members[0])
            for (result, reason), members in ordered
        ]


def attempts_of(name: str, lines: Iterable[protocol.Stopped], op_id: int | None = None) -> Attempts:
    """Read the attempts from a log.

    Args:
        name: of the pattern.
        lines: of finished actions.
        op_id: the operation of the attempts; None for any.
    """
    attempts = [
        Attempt(
            id=line.id,
            outcome=line.outcome,
            change_count=line.change_count,
            **protocol.ref_fields(line),
        )
        for line in lines
        if line.outcome is not None and (op_id is None or line.id == op_id)
    ]
    return Attempts(name=name, attempts=attempts)
