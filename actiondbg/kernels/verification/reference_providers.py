"""Where references come from: NumPy, or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Operation, Reference
from actiondbg.kernels.packages import np

ComputeReference = Callable[[Operation, Sequence["np.ndarray"]], Reference]
NUMPY = "numpy"


def _numpy(operation: Operation, operands: Sequence[np.ndarray]) -> Reference:
    return operation.reference(operands)


_PROVIDERS: dict[str, ComputeReference] = {NUMPY: _numpy}


def register(name: str, compute: ComputeReference) -> None:
    """Add a provider of references, for ``--verification-providers``."""
    _PROVIDERS[name] = compute


def find_reference_provider(name: str) -> ComputeReference:
    """Return the provider of a name.

    Raises:
        UsageError: there is no such provider.
    """
    if name not in _PROVIDERS:
        raise UsageError(
            f"Unknown verification provider '{name}'; there are {', '.join(_PROVIDERS)}."
        )
    return _PROVIDERS[name]
