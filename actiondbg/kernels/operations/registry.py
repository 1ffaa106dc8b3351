"""The kinds of operations by their names."""

from __future__ import annotations

from actiondbg.errors import UsageError
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.operations.matmul import Matmul

_KINDS: dict[str, type[Operation]] = {}


def register(kind: type[Operation]) -> None:
    """Add a kind of operation: generate, the manifest and the problem files then know it."""
    _KINDS[kind.kind] = kind


def kind_names() -> list[str]:
    """Return the names of the kinds, in the order of registration."""
    return list(_KINDS)


def find_kind(name: str) -> type[Operation]:
    """Return the class of a kind.

    Raises:
        UsageError: there is no such kind.
    """
    if name not in _KINDS:
        raise UsageError(f"Unknown kind of operation '{name}'; there are {', '.join(_KINDS)}.")
    return _KINDS[name]


for _kind in (Matmul,):
    register(_kind)
