"""The types of values in a program that is interpreted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

INDEX_WIDTH = 64  # bits


@dataclass(frozen=True, slots=True)
class IntegerType:
    """An integer of some bits; ``index`` has ``INDEX_WIDTH`` bits."""

    width: int
    is_index: bool = False
    sign: str = ""  # ``s`` or ``u`` of a type that is not signless

    def __str__(self) -> str:
        return "index" if self.is_index else f"{self.sign}i{self.width}"


@dataclass(frozen=True, slots=True)
class FloatType:
    """A type of floating-point numbers, by MLIR's name: ``f32``, ``bf16``, ``f8E4M3FN``."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ComplexType:
    """A complex number of two elements."""

    element: IntegerType | FloatType

    def __str__(self) -> str:
        return f"complex<{self.element}>"


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """Any other type, as MLIR prints it."""

    text: str

    def __str__(self) -> str:
        return self.text


ScalarType = IntegerType | FloatType | ComplexType


@dataclass(frozen=True, slots=True)
class ShapedType:
    """A vector, a ranked tensor or a ranked memref."""

    kind: Literal["vector", "tensor", "memref"]
    shape: tuple[int | None, ...]  # the sizes; None for a dynamic size
    # The type of an element; an opaque one may be interpreted by nobody.
    element: ScalarType | OpaqueType
    # Of a memref, None for dynamic ones; empty for vectors and tensors.
    strides: tuple[int | None, ...] = ()
    offset: int | None = 0  # of a memref, in elements; None if dynamic
    text: str = ""  # as MLIR prints it
    space: str = ""  # the memory space of a memref, as MLIR prints it; empty for the default one

    def __str__(self) -> str:
        return self.text


Type = ScalarType | ShapedType | OpaqueType

INDEX = IntegerType(INDEX_WIDTH, is_index=True)
BOOL = IntegerType(1)


def signed(value: int, width: int) -> int:
    """Return the signed number with the bits of an unsigned one."""
    if not width:  # of i0
        return 0
    return value - (1 << width) if value >> (width - 1) & 1 else value
