"""A provider with a space to search, and an evaluator that gives its kernels known times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from actiondbg.kernels.model import Configuration, Dispatch, Operation, Parameter
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.kernels.results.entry import Profile
from actiondbg.kernels.search.search import Evaluator, SearchTrial

TILES: tuple[Parameter, ...] = (4, 8, 16, 32, 64, 128)
UNROLLS: tuple[Parameter, ...] = (1, 2, 3, 4, 8)
ORDERS: tuple[Parameter, ...] = ("ijk", "ikj", "jik")
FASTEST = {"tile": 32, "unroll": 4, "order": "ikj"}


class TunedProvider(Provider):
    """A provider whose fastest kernel is ``FASTEST``; kernels that unroll 3 times are wrong.

    Args:
        version: a part of the identity.
    """

    name = "tuned"

    def __init__(self, version: str = "1") -> None:
        self.version = version

    def identity(self) -> str:
        return f"tuned {self.version}"

    def default(self, operation: Operation) -> Configuration:
        return Configuration("tuned", "tuned_default")

    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        return [self.configured(operation, {"tile": 8, "unroll": 1, "order": "ijk"})]

    def obstacle(self, dispatch: Dispatch) -> str | None:
        parameters = dispatch.configuration.parameters
        return "The tile is too large." if parameters.get("tile") == 128 else None

    def source(self, dispatch: Dispatch) -> str:
        return dispatch.operation.function()

    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        raise AssertionError("The evaluator of the search gives times without a compilation.")

    def space(self, operation: Operation) -> Mapping[str, Sequence[Parameter]]:
        return {"tile": TILES, "unroll": UNROLLS, "order": ORDERS}

    def configured(self, operation: Operation, choice: Mapping[str, Parameter]) -> Configuration:
        name = "_".join(f"{key}_{value}" for key, value in choice.items())
        return Configuration("tuned", f"tuned_{name}", dict(choice))


class KnownTimes(Evaluator):
    """An evaluator of ``TunedProvider``.

    Args:
        interrupted_at: raises KeyboardInterrupt at this evaluation, from 1; 0 for never.
        jobs: how many are evaluated at a time.

    Attributes:
        evaluated: the names of the configurations, in order.
        confirmed: those of the confirmation run.
    """

    def __init__(self, interrupted_at: int = 0, jobs: int = 1) -> None:
        self.jobs = jobs
        self.evaluated: list[str] = []
        self.confirmed: list[str] = []
        self._interrupted_at = interrupted_at

    def evaluate(self, dispatches: Sequence[Dispatch]) -> list[SearchTrial]:
        """Return the trials of dispatches."""
        return [self.trial(each) for each in dispatches]

    def trial(self, dispatch: Dispatch) -> SearchTrial:
        """Return the known time; kernels that unroll 3 times are fast and wrong."""
        configuration = dispatch.configuration
        self.evaluated.append(configuration.name)
        if len(self.evaluated) == self._interrupted_at:
            raise KeyboardInterrupt
        if configuration.parameters.get("unroll") == 3:
            return SearchTrial(configuration, "FAILED", 1e-6, "64 of 64 elements are wrong")
        return SearchTrial(configuration, "SUCCESS", seconds_of(configuration))

    def confirm(self, dispatches: Sequence[Dispatch]) -> list[Profile]:
        """Return the known times, with a little noise."""
        self.confirmed = [each.configuration.name for each in dispatches]
        times = [seconds_of(each.configuration) for each in dispatches]
        return [Profile((each * 1.02, each, each * 1.01)) for each in times]


def seconds_of(configuration: Configuration) -> float:
    """Return the known time of a configuration."""
    parameters = configuration.parameters
    if not parameters:
        return 0.09
    distance = 0.0
    for name, choices in (("tile", TILES), ("unroll", UNROLLS), ("order", ORDERS)):
        positions = [choices.index(each[name]) for each in (parameters, FASTEST)]
        distance += abs(positions[0] - positions[1])
    return 0.01 * (1 + distance)
