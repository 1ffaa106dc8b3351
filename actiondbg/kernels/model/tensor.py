"""Operands and results of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from actiondbg.kernels.model.element_type import ElementType


@dataclass(frozen=True)
class Tensor:
    """An operand or the result of a kernel.

    Attributes:
        name: as in the source, such as ``lhs``.
        shape: the sizes of the dimensions, as in memory: those of a transposed operand are swapped.
    """

    name: str
    shape: tuple[int, ...]
    type: ElementType

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * self.type.size

    @property
    def mlir(self) -> str:
        """The type in MLIR, such as ``tensor<4x8xf32>``."""
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.type.value}>"
