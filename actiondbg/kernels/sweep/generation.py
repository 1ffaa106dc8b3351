"""Dispatches planned from operations, and their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.generated.manifest import add_to_manifest
from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.provider import Provider
from actiondbg.support.atomic_write import write_whole

_FOLDER = re.compile(r"[\w-][\w.-]{0,199}", re.ASCII)


@dataclass(frozen=True)
class PlannedDispatches:
    """The dispatches of some operations.

    Attributes:
        obstacles: a sentence for each configuration that does not fit its operation.
        left_out: those of operations that a provider cannot compile in any way.
    """

    dispatches: list[Dispatch]
    obstacles: list[str]
    left_out: list[str]


def plan_dispatches(
    operations: Iterable[Operation],
    providers: Sequence[Provider],
    *,
    own: Sequence[Configuration] = (),
    default: bool = False,
    split_k: Sequence[int] = (),
) -> PlannedDispatches:
    """Plan the dispatches of operations.

    Args:
        own: configurations of the user's, which replace the predefined ones.
        default: add the configuration that leaves the decisions to the compiler; it is added in
            any case where nothing else fits, and of a baseline.
        split_k: slices of the sums, for each of which a configuration is repeated, beside whole
            sums.

    Raises:
        UsageError: the shapes of an operation do not fit its kind, or the name of a configuration
            is not one of a folder, or is there twice.
    """
    _check_names(own)
    dispatches: list[Dispatch] = []
    obstacles: list[str] = []
    left_out: list[str] = []
    for operation in operations:
        operation.check()
        for provider in providers:
            fitting: list[Dispatch] = []
            for each in _candidates(operation, provider, own, split_k):
                obstacle = provider.obstacle(each)
                if obstacle is None:
                    fitting.append(each)
                else:
                    obstacles.append(f"{each.name}: {obstacle}")
            if default or provider.is_baseline or not (fitting or own):
                whole = Dispatch(operation, provider.default(operation))
                obstacle = provider.obstacle(whole)
                if obstacle is None:
                    fitting.insert(0, whole)
                else:
                    left_out.append(f"{whole.name}: {obstacle}")
            dispatches += fitting
    return PlannedDispatches(dispatches, obstacles, left_out)


def _check_names(configurations: Sequence[Configuration]) -> None:
    """Check that names are those of folders, each of its own."""
    seen: set[str] = set()
    for each in configurations:
        if not _FOLDER.fullmatch(each.name):
            raise UsageError(
                f"The name '{each.name}' of a configuration must be a folder's: letters, digits, "
                "'_', '-' and '.', at most 200, not '.' first."
            )
        if each.name in seen:
            raise UsageError(f"Two configurations have the name '{each.name}'.")
        seen.add(each.name)


def _candidates(
    operation: Operation,
    provider: Provider,
    own: Sequence[Configuration],
    split_k: Sequence[int],
) -> Iterator[Dispatch]:
    mine = [each for each in own if each.provider == provider.name]
    for configuration in mine if own else provider.configurations(operation):
        for slices in dict.fromkeys((1, *split_k)):
            yield Dispatch(operation, _split(configuration, slices))


def _split(configuration: Configuration, slices: int) -> Configuration:
    if slices == 1:
        return configuration
    return replace(
        configuration,
        name=f"{configuration.name}_split_k_{slices}",
        parameters={**configuration.parameters, "split_k_slices": slices},
    )


def write_dispatches(
    folder: GeneratedFolder, providers: Mapping[str, Provider], dispatches: Sequence[Dispatch]
) -> None:
    """Write operations, configured MLIR and the manifest; leave files that are the same.

    Raises:
        OSError: a file cannot be written.
    """
    for operation in {each.operation: None for each in dispatches}:
        _write(folder.source(operation), operation.function())
    for each in dispatches:
        _write(folder.configured(each), providers[each.configuration.provider].source(each))
    add_to_manifest(folder.manifest, dispatches)


def _write(path: Path, text: str) -> None:
    """Write a file, unless it has this text: its time stays."""
    content = text.encode()
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
