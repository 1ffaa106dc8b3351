"""Dispatches planned from operations, their files, and which of them a command works on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.kernels.generated import GeneratedFolder, add_to_manifest
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.providers.provider import Provider
from actiondbg.support.atomic_write import write_whole

_FOLDER = re.compile(r"[\w-][\w.-]{0,199}", re.ASCII)
# A comma that separates patterns: not within brackets of a regular expression.
_COMMA = re.compile(r",(?![^\[\](){}]*[\])}])")


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
            if slices == 1:
                yield Dispatch(operation, configuration)
                continue
            name = f"{configuration.name}_split_k_{slices}"
            parameters = {**configuration.parameters, "split_k_slices": slices}
            split = replace(configuration, name=name, parameters=parameters)
            yield Dispatch(operation, split)


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


class DispatchFilter:
    """Selects dispatches by kind, provider and name.

    Args:
        kinds: of operations; none for all.
        providers: their names; none for all.
        names: globs or regular expressions, separated by commas; each matches the whole name of a
            dispatch, or that of its operation. "" for all.

    Raises:
        UsageError: a pattern is neither a glob nor a regular expression.
    """

    def __init__(
        self, kinds: Sequence[str] = (), providers: Sequence[str] = (), names: str = ""
    ) -> None:
        self._kinds = frozenset(kinds)
        self._providers = frozenset(providers)
        self._text = names
        self._patterns = [_matcher(each) for each in _COMMA.split(names) if each]

    def __call__(self, dispatch: Dispatch) -> bool:
        if self._kinds and dispatch.operation.kind not in self._kinds:
            return False
        if self._providers and dispatch.configuration.provider not in self._providers:
            return False
        names = (dispatch.name, dispatch.operation.name)
        return not self._patterns or any(
            matches(name) for matches in self._patterns for name in names
        )

    def select(self, dispatches: Iterable[Dispatch]) -> list[Dispatch]:
        """Return the selected dispatches.

        Raises:
            UsageError: none is selected; names some that there are.
        """
        every = list(dispatches)
        selected = [each for each in every if self(each)]
        if selected:
            return selected
        if not every:
            raise UsageError("No dispatch is generated: run 'actiondbg kernels generate' first.")
        some = ", ".join(each.name for each in every[:3])
        filters = f" '{self._text}'" if self._text else ""
        raise UsageError(f"No dispatch matches{filters}; there are {len(every)}, such as {some}.")


def _matcher(text: str) -> Callable[[str], bool]:
    """Return whether names match a glob, or a regular expression: what matches as either."""
    try:
        expression = re.compile(text)
    except re.error as error:
        if not set(text) & set("*?["):
            raise UsageError(
                f"--dispatches: {text!r} is neither a glob nor a regular expression: {error}."
            ) from error
        return lambda name: fnmatchcase(name, text)
    return lambda name: fnmatchcase(name, text) or expression.fullmatch(name) is not None
