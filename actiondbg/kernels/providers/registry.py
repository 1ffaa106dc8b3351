"""The providers by their names."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg.errors import UsageError
from actiondbg.kernels.providers.provider import Provider

_PROVIDERS: dict[str, Callable[[], Provider]] = {}


def register(name: str, make: Callable[[], Provider]) -> None:
    """Add a provider; ``make`` is called when it is used first."""
    _PROVIDERS[name] = make


def provider_names() -> list[str]:
    """Return the names of the providers."""
    return list(_PROVIDERS)


def make_provider(name: str) -> Provider:
    """Make the provider of a name.

    Raises:
        UsageError: there is no such provider.
    """
    if name not in _PROVIDERS:
        raise UsageError(f"Unknown provider '{name}'; there are {', '.join(_PROVIDERS)}.")
    return _PROVIDERS[name]()
