"""The kinds of operations by their names.

A kind of a user's is a frozen dataclass of plain fields, a subclass of Operation with a name
(``kind``) of its own; ``register(MyKind)`` adds it to generate, the manifest and problem files.
"""

from __future__ import annotations

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu, MatmulSoftmax
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling
from actiondbg.kernels.programs.model_operation import ModelOperation

# The dispatch profiler's names. Split-K is a configuration of a matmul, not a kind.
SPLIT_K_ALIASES = ("splitk_matmul", "matmul_splitk")
_ALIASES = {**dict.fromkeys(SPLIT_K_ALIASES, "matmul"), "conv2d": "conv_2d"}
_KINDS: dict[str, type[Operation]] = {}


def register(kind: type[Operation]) -> None:
    """Add a kind of operation: generate, the manifest and problem files then accept it."""
    _KINDS[kind.kind] = kind


def kind_names() -> list[str]:
    """Return the names of the kinds, in the order of registration."""
    return list(_KINDS)


def find_kind(name: str) -> type[Operation]:
    """Return the class of a kind, by its name or the dispatch profiler's.

    Raises:
        UsageError: there is no such kind.
    """
    kind = _KINDS.get(_ALIASES.get(name, name))
    if kind is None:
        raise UsageError(f"Unknown kind of operation '{name}'; there are {', '.join(_KINDS)}.")
    return kind


for _kind in (
    Matmul,
    BatchMatmul,
    Conv2d,
    DepthwiseConv2d,
    Pooling,
    MatmulBiasRelu,
    MatmulSoftmax,
    Reduction,
    Elementwise,
    ModelOperation,
):
    register(_kind)
