"""The providers by their names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from inspect import signature

from actiondbg.errors import UsageError
from actiondbg.kernels.providers.provider import Provider, ProviderSettings

_Make = Callable[[ProviderSettings], Provider]
_DEFAULT = ProviderSettings()


def _own(module: str, name: str) -> _Make:
    """Return what makes a provider of actiondbg, whose module is imported then."""

    def make(settings: ProviderSettings) -> Provider:
        found = import_module(f"actiondbg.kernels.providers.{module}")
        return _maker(getattr(found, name))(settings)

    return make


_PROVIDERS: dict[str, _Make] = {
    "mlir": _own("mlir.provider", "MlirProvider"),
    "iree": _own("iree.provider", "IreeProvider"),
    "c": _own("c", "CProvider"),
}


def register(name: str, make: _Make) -> None:
    """Add a provider; ``make`` makes it when a command names it."""
    _PROVIDERS[name] = make


def provider_name(text: str) -> str:
    """Return the name of a provider, which is added first if the text is ``module:Class``.

    The module may be in the working directory. The class is made with the settings if it takes an
    argument.

    Raises:
        UsageError: there is no such module or class, or it is no provider.
    """
    module, colon, name = text.partition(":")
    if not colon:
        return text
    if "" not in sys.path:
        sys.path.insert(0, "")  # as python -m has it; processes of kernels get it, too
    try:
        found: object = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"The provider '{text}' cannot be imported: {error}.") from error
    if not (isinstance(found, type) and issubclass(found, Provider)):
        raise UsageError(f"'{text}' is not a subclass of actiondbg's Provider.")
    register(found.name, _maker(found))
    return found.name


def _maker(kind: Callable[..., Provider]) -> _Make:
    return kind if signature(kind).parameters else lambda _: kind()


def make_provider(name: str, settings: ProviderSettings = _DEFAULT) -> Provider:
    """Make the provider of a name.

    Raises:
        UsageError: there is no such provider.
    """
    if name not in _PROVIDERS:
        raise UsageError(
            f"Unknown provider '{name}'; there are {', '.join(_PROVIDERS)}, and yours as "
            "module:Class."
        )
    return _PROVIDERS[name](settings)
