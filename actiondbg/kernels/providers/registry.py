"""The providers by their names."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg.errors import UsageError
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.providers.settings import ProviderSettings

_DEFAULT = ProviderSettings()
_PROVIDERS: dict[str, Callable[[ProviderSettings], Provider]] = {}


def register(name: str, make: Callable[[ProviderSettings], Provider]) -> None:
    """Add a provider; ``make`` makes it when a command names it."""
    _PROVIDERS[name] = make


def provider_names() -> list[str]:
    """Return the names of the providers."""
    return list(_PROVIDERS)


def make_provider(name: str, settings: ProviderSettings = _DEFAULT) -> Provider:
    """Make the provider of a name.

    Raises:
        UsageError: there is no such provider.
    """
    if name not in _PROVIDERS:
        raise UsageError(f"Unknown provider '{name}'; there are {', '.join(_PROVIDERS)}.")
    return _PROVIDERS[name](settings)


def _mlir(settings: ProviderSettings) -> Provider:
    """Make the provider ``mlir``, which needs none of the settings."""
    from actiondbg.kernels.providers.mlir.provider import MlirProvider

    return MlirProvider()


register("mlir", _mlir)


def _iree(settings: ProviderSettings) -> Provider:
    """Make the provider of IREE; its modules are imported when it is used."""
    from actiondbg.kernels.providers.iree.provider import IreeProvider

    return IreeProvider(settings)


register("iree", _iree)


def _c(settings: ProviderSettings) -> Provider:
    """Make the provider ``c``, which needs none of the settings."""
    from actiondbg.kernels.providers.c.provider import CProvider

    return CProvider()


register("c", _c)
