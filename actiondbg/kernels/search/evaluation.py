"""The evaluation of configurations: compiled, verified and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.results.row import Profile, Row
from actiondbg.kernels.search.trial import SearchTrial
from actiondbg.kernels.sweep.generation import Generation
from actiondbg.kernels.sweep.sweep import DispatchProfiler, Stages, Sweep


class Evaluator(Protocol):
    """Compiles, verifies and measures kernels.

    Attributes:
        jobs: how many it compiles and verifies at a time.
    """

    jobs: int

    def evaluate(self, dispatches: Sequence[Dispatch]) -> list[SearchTrial]:
        """Compile and verify dispatches at a time, then measure them in turn.

        A fault of a kernel is a verdict, no error.
        """
        ...

    def confirm(self, dispatches: Sequence[Dispatch]) -> list[Profile]:
        """Measure right kernels again, in turn, such that all see the same machine.

        Args:
            dispatches: were evaluated, and are right.

        Raises:
            KernelError: one of them fails now.
        """
        ...


class SweepEvaluator:
    """Evaluates by sweeps, in the folder of generated kernels.

    Nothing is compiled while a kernel is measured: that would disturb its times.

    Args:
        generation: writes the files of a dispatch.
        stages: compile, verify and profile.
        providers: of the configurations, by their names; the first is searched.
        confirmation: profiles the finalists.
        jobs: how many dispatches are compiled and verified at a time.
    """

    def __init__(
        self,
        generation: Generation,
        stages: Stages,
        providers: Mapping[str, Provider],
        confirmation: DispatchProfiler,
        jobs: int,
    ) -> None:
        self.jobs = jobs
        self._generation = generation
        self._stages = stages
        self._providers = providers
        self._confirmation = confirmation

    def evaluate(self, dispatches: Sequence[Dispatch]) -> list[SearchTrial]:
        """Compile, verify and measure dispatches; see ``Evaluator``."""
        for name in {each.configuration.provider for each in dispatches}.difference(
            self._providers
        ):
            raise UsageError(
                f"The provider {next(iter(self._providers))} made a configuration of the provider "
                f"{name}: its 'configured' must name its own."
            )
        self._generation.write(dispatches)
        return [
            _trial(row) for row in Sweep(self._stages, self._providers, self.jobs).run(dispatches)
        ]

    def confirm(self, dispatches: Sequence[Dispatch]) -> list[Profile]:
        """Measure right kernels again; see ``Evaluator``."""
        self._generation.write(dispatches)  # of a log whose folder was removed
        stages = Stages(self._stages.compiler, profiler=self._confirmation)
        profiles: list[Profile] = []
        for row in Sweep(stages, self._providers, self.jobs).run(dispatches):
            if row.profile is None:
                reason = row.verification.detail if row.verification else "it has no time"
                raise KernelError(f"{row.dispatch.name} cannot be measured again: {reason}")
            profiles.append(row.profile)
        return profiles


def _trial(row: Row) -> SearchTrial:
    configuration = row.dispatch.configuration
    verification = row.verification
    if verification is None:
        return SearchTrial(configuration, "Not verified", detail="it was not verified.")
    detail = verification.detail
    if verification.wrong:
        detail = f"{verification.wrong:,} of {verification.total:,} elements are wrong"
    seconds = min(row.profile.seconds) if row.profile else None
    return SearchTrial(configuration, verification.verdict, seconds, detail)
