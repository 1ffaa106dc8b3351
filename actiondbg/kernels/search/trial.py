"""One trial of a search: a configuration, its verdict and its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.results.row import Verdict


@dataclass(frozen=True)
class SearchTrial:
    """A configuration that was compiled, verified and measured.

    Attributes:
        configuration: that was tried.
        verdict: of its verification; only one that is SUCCESS can win.
        seconds: the least time of one call; None if the kernel is not right.
        detail: one sentence on what is not right, or "".
        choice: of the space's parameters that gave the configuration; None for the default and
            predefined ones.
    """

    configuration: Configuration
    verdict: Verdict
    seconds: float | None = None
    detail: str = ""
    choice: Mapping[str, Parameter] | None = None

    @property
    def is_right(self) -> bool:
        """Whether the kernel is right, and its time is known."""
        return self.verdict == "SUCCESS" and self.seconds is not None

    @property
    def cost(self) -> float:
        """The time of one call; infinite if the kernel is not right."""
        return self.seconds if self.is_right and self.seconds is not None else float("inf")
