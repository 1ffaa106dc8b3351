"""Kernels: generate, compile, verify, profile, count and bisect single dispatches.

May import: everything below the commands but actiondbg.lineage and actiondbg.whatif. Needs the
extra ``kernels``; the provider ``iree`` needs the extra ``iree``. The names below are imported when
they are first used: the package is cheap to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.kernels.kernels import Kernels
    from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Operation
    from actiondbg.kernels.operations.matmul import Matmul
    from actiondbg.kernels.providers.provider import CompiledKernel, Provider, ProviderSettings
    from actiondbg.kernels.results.entry import Row
    from actiondbg.kernels.sweep.settings import SweepSettings

__all__ = [
    "CompiledKernel",
    "Configuration",
    "Dispatch",
    "ElementType",
    "Kernels",
    "Matmul",
    "Operation",
    "Provider",
    "ProviderSettings",
    "Row",
    "SweepSettings",
]

_HOME = {
    "CompiledKernel": "providers.provider",
    "Configuration": "model",
    "Dispatch": "model",
    "ElementType": "model",
    "Kernels": "kernels",
    "Matmul": "operations.matmul",
    "Operation": "model",
    "Provider": "providers.provider",
    "ProviderSettings": "providers.provider",
    "Row": "results.entry",
    "SweepSettings": "sweep.settings",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'actiondbg.kernels' has no attribute {name!r}")
    return getattr(import_module(f"actiondbg.kernels.{_HOME[name]}"), name)
