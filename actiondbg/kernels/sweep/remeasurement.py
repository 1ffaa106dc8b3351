"""Times of two builds, measured again in turn: two runs may differ by the machine alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from actiondbg.kernels.generated import GeneratedFolder, StoredKernel, read_manifest, stored_kernel
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.profiling.profiler import Profiler, StartKernel
from actiondbg.kernels.results.entry import Entry, Profile

_REPETITIONS = 15


@dataclass(frozen=True)
class RemeasuredReports:
    """Two reports with times that were measured again.

    Attributes:
        measured: how many dispatches were measured again.
        identical: how many have the same binary in both, and so the same time.
    """

    old: list[Entry]
    new: list[Entry]
    measured: int
    identical: int


def remeasure(
    folders: tuple[GeneratedFolder, GeneratedFolder],
    old: Sequence[Entry],
    new: Sequence[Entry],
    names: Collection[str],
    start: StartKernel,
) -> RemeasuredReports:
    """Measure dispatches again whose binaries are there, in turn; the others keep their times.

    Raises:
        ActiondbgError: a manifest is damaged.
    """
    times: dict[str, tuple[Profile, Profile]] = {}
    identical = 0
    stored = [_stored_kernels(folder, names) for folder in folders]
    before = {each.dispatch: each for each in old}
    for name in names:
        if any(name not in each for each in stored):
            continue
        (_, first), (dispatch, second) = stored[0][name], stored[1][name]
        if first.checksums[1] == second.checksums[1]:
            profile = Profile(before[name].seconds, before[name].switches)
            times[name] = (profile, profile)
            identical += 1
        elif (measured := _measured(dispatch, first, second, start)) is not None:
            times[name] = measured
    return RemeasuredReports(
        [_with_time(each, times, 0) for each in old],
        [_with_time(each, times, 1) for each in new],
        len(times) - identical,
        identical,
    )


def _stored_kernels(
    folder: GeneratedFolder, names: Collection[str]
) -> dict[str, tuple[Dispatch, StoredKernel]]:
    """Return the dispatches of these names whose binaries are there."""
    dispatches = (each for each in read_manifest(folder.manifest) if each.name in names)
    found = ((each, stored_kernel(folder.of_dispatch(each))) for each in dispatches)
    return {each.name: (each, stored) for each, stored in found if stored is not None}


def _measured(
    dispatch: Dispatch, old: StoredKernel, new: StoredKernel, start: StartKernel
) -> tuple[Profile, Profile] | None:
    """Measure two binaries of a dispatch; None if one of them fails now."""
    operation, given = dispatch.operation, dispatch.configuration
    kernels = [
        (Dispatch(operation, replace(given, name=f"{given.name}_{suffix}")), each.kernel)
        for suffix, each in (("old", old), ("new", new))
    ]
    profiles = Profiler(start, repetitions=_REPETITIONS).profile(kernels, candidates=())
    first, second = (profiles[each.name] for each, _ in kernels)
    if isinstance(first, Profile) and isinstance(second, Profile):
        return first, second
    return None


def _with_time(entry: Entry, times: dict[str, tuple[Profile, Profile]], at: int) -> Entry:
    if entry.dispatch not in times:
        return entry
    profile = times[entry.dispatch][at]
    return replace(entry, seconds=profile.seconds, switches=profile.switches)
