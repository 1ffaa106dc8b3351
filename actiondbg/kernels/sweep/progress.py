"""The progress of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        stage: what it does: "compile and verify", "profile" or "bisect".
        done: how many dispatches are done in this stage.
        total: how many there are.
        name: of the dispatch that is done.
        failed: how many of them failed.
    """

    stage: str
    done: int
    total: int
    name: str = ""
    failed: int = 0


Report = Callable[[SweepProgress], None]
