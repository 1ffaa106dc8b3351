"""The attempts of one pattern, with their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from actiondbg import protocol


class Attempt(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """An action that applied the pattern."""

    id: int | None  # the id of its operation, or None
    outcome: protocol.Outcome  # of the action
    change_count: int  # the number of its changes


class Group(msgspec.Struct, kw_only=True, frozen=True):
    """Attempts with the same result, for the same reason."""

    result: protocol.Result  # "succeeded", "unchanged", "failed" or "skipped"
    reason: str  # the reasons of a failure, joined with semicolons; empty if there are none
    count: int  # the number of attempts
    first: Attempt  # the first attempt


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


class AttemptedPlace(msgspec.Struct, kw_only=True, frozen=True):
    """The attempts on operations of one name at one location."""

    count: int  # the number of attempts
    first: Attempt  # the first attempt


def attempted_places(
    attempts: Iterable[Attempt], path: str = "", line: int | None = None
) -> list[AttemptedPlace]:
    """Group the attempts of a pattern by the place of the operation.

    Returns:
        The places in a file first, given by the last components of its path, the nearest to the
        line first; otherwise in the order of the attempts.
    """
    places: dict[tuple[str | None, str | None], list[Attempt]] = {}
    for one in attempts:
        places.setdefault((one.location, one.op), []).append(one)

    def distance(place: tuple[str | None, str | None]) -> tuple[bool, int]:
        file, _, rest = (place[0] or "").partition(":")
        at = rest.partition(":")[0]
        is_near = line is not None and at.isdigit() and f"/{file}".endswith(f"/{path}")
        return not is_near, abs(int(at) - line) if is_near and line is not None else 0

    return [
        AttemptedPlace(count=len(places[place]), first=places[place][0])
        for place in sorted(places, key=distance)
    ]


def attempts_of(name: str, lines: Iterable[protocol.Stopped], op_id: int | None = None) -> Attempts:
    """Read the attempts of a pattern, on one operation or any, from a log of finished actions."""
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
