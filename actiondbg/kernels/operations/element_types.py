"""What kinds of operations have in common: checks, extensions and identities of element types."""

from __future__ import annotations

from typing import Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType

_LOWEST = {
    ElementType.F16: "0xFC00",
    ElementType.BF16: "0xFF80",
    ElementType.F32: "0xFF800000",
    ElementType.F64: "0xFFF0000000000000",
}
_HIGHEST = {
    ElementType.F16: "0x7C00",
    ElementType.BF16: "0x7F80",
    ElementType.F32: "0x7F800000",
    ElementType.F64: "0x7FF0000000000000",
}


def check_sizes(kind: str, sizes: dict[str, int]) -> None:
    """Check that sizes, strides and dilations are at least 1.

    Raises:
        UsageError: one is not.
    """
    for name, size in sizes.items():
        if size < 1:
            raise UsageError(f"The {name} of a {kind} must be at least 1, got {size}.")


def check_types(kind: str, operands: tuple[ElementType, ...], result: ElementType) -> None:
    """Check that the operands can be extended to the type of the result.

    Raises:
        UsageError: an operand cannot.
    """
    for operand in operands:
        if ElementType.I1 in (operand, result):
            raise UsageError(f"A {kind} has no operands or results of i1.")
        if operand is result:
            continue
        if operand.is_float == result.is_float and operand.bits < result.bits:
            continue
        raise UsageError(
            f"A {kind} cannot have an operand of {operand.value} and a result of {result.value}: "
            "the result must have the type of the operands, or a wider one, integer or float as "
            "they are."
        )


def extension(operand: ElementType, result: ElementType) -> str:
    """Return the operation that extends an operand, such as ``arith.extf``, or ""."""
    if operand is result:
        return ""
    return "arith.extf" if result.is_float else "arith.extsi"


def identity(combiner: Literal["sum", "max", "min"], element: ElementType) -> str:
    """Return the attribute with which a sum, a maximum or a minimum begins."""
    if combiner == "sum":
        return element.zero
    limit = 2 ** (element.bits - 1)
    if combiner == "max":
        return f"{_LOWEST.get(element) or -limit} : {element.value}"
    return f"{_HIGHEST.get(element) or limit - 1} : {element.value}"


def arithmetic(name: str, element: ElementType) -> str:
    """Return the operation for add, sub, mul, max or min, such as ``arith.addf``."""
    if name in ("max", "min"):
        return f"arith.{name}{'imumf' if element.is_float else 'si'}"
    return f"arith.{name}{'f' if element.is_float else 'i'}"
