"""NumPy and MLIR's Python bindings, which are optional: imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["func", "ir", "linalg", "np"]


class _LazyModule:
    """A module that is imported when a name of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        found: object = getattr(import_module(self._name), name)
        setattr(self, name, found)  # which is asked first, so that this runs once for a name
        return found


if TYPE_CHECKING:
    import numpy as np
    from mlir import ir  # pyright: ignore[reportMissingTypeStubs]
else:
    np, ir = _LazyModule("numpy"), _LazyModule("mlir.ir")
func: Any = _LazyModule("mlir.dialects.func")
linalg: Any = _LazyModule("mlir.dialects.linalg")
