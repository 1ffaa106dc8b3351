"""Python callbacks before and after the actions that match a SPEC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from actiondbg.process.stop import Stop

Callback = Callable[[Stop], object]


@dataclass(frozen=True, eq=False)
class Observer:
    """Callbacks for the actions that match a SPEC.

    Attributes:
        spec: which actions.
        before: called with the stop before each of them, or None.
        after: called with the stop after each of them, or None.
    """

    spec: str
    before: Callback | None = None
    after: Callback | None = None
