"""Which dispatches a command works on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from actiondbg.errors import UsageError
from actiondbg.kernels.model.dispatch import Dispatch

# A comma that separates patterns: not within brackets of a regular expression.
_COMMA = re.compile(r",(?![^\[\](){}]*[\])}])")


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
