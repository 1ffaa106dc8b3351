"""Times of two builds, measured again in turn: two runs may differ by the machine alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from actiondbg.kernels.generated.compiled_state import StoredKernel, stored_kernel
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.generated.manifest import read_manifest
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.profiling.profiler import Profiler
from actiondbg.kernels.profiling.timed_kernel import StartKernel
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.row import Profile

_REPETITIONS = 15


@dataclass(frozen=True)
class RemeasuredReports:
    """Two reports with times that were measured again.

    Attributes:
        old: the entries of the first report.
        new: the entries of the second one.
        measured: how many dispatches were measured again.
        identical: how many have the same binary in both, and so the same time.
    """

    old: list[Entry]
    new: list[Entry]
    measured: int
    identical: int


class Remeasurement:
    """Measures dispatches of two folders of generated kernels again, in turn.

    Args:
        old: the folder of the first report.
        new: the folder of the second one.
        start: starts a kernel in a process of its own.

    Raises:
        ActiondbgError: a manifest is damaged.
    """

    def __init__(self, old: GeneratedFolder, new: GeneratedFolder, start: StartKernel) -> None:
        self._folders = (old, new)
        self._dispatches = tuple(
            {each.name: each for each in read_manifest(folder.manifest)} for folder in (old, new)
        )
        self._start = start

    def measure(
        self, old: Sequence[Entry], new: Sequence[Entry], names: Collection[str]
    ) -> RemeasuredReports:
        """Measure dispatches again whose binaries are there; the others keep their times.

        Args:
            old: the first report.
            new: the second report.
            names: of the dispatches.
        """
        times: dict[str, tuple[Profile, Profile]] = {}
        identical = 0
        before = {each.dispatch: each for each in old}
        for name in names:
            pair = [self._stored(at, name) for at in (0, 1)]
            first, second = pair
            if first is None or second is None:
                continue
            if first.checksum == second.checksum:
                profile = Profile(before[name].seconds, before[name].switches)
                times[name] = (profile, profile)
                identical += 1
            elif (measured := self._measured(name, first, second)) is not None:
                times[name] = measured
        return RemeasuredReports(
            [_with_time(each, times, 0) for each in old],
            [_with_time(each, times, 1) for each in new],
            len(times) - identical,
            identical,
        )

    def _stored(self, at: int, name: str) -> StoredKernel | None:
        dispatch = self._dispatches[at].get(name)
        return None if dispatch is None else stored_kernel(self._folders[at].of_dispatch(dispatch))

    def _measured(
        self, name: str, old: StoredKernel, new: StoredKernel
    ) -> tuple[Profile, Profile] | None:
        """Measure two binaries of a dispatch; None if one of them fails now."""
        dispatch = self._dispatches[1][name]
        kernels = [
            (_named(dispatch, suffix), each.kernel) for suffix, each in (("old", old), ("new", new))
        ]
        profiles = Profiler(self._start, repetitions=_REPETITIONS).profile(kernels, candidates=())
        first, second = (profiles[each.name] for each, _ in kernels)
        if isinstance(first, Profile) and isinstance(second, Profile):
            return first, second
        return None


def _named(dispatch: Dispatch, suffix: str) -> Dispatch:
    configuration = dispatch.configuration
    return replace(
        dispatch, configuration=replace(configuration, name=f"{configuration.name}_{suffix}")
    )


def _with_time(entry: Entry, times: dict[str, tuple[Profile, Profile]], at: int) -> Entry:
    if entry.dispatch not in times:
        return entry
    profile = times[entry.dispatch][at]
    return replace(entry, seconds=profile.seconds, switches=profile.switches)
