"""What kinds of operations share: element types in MLIR, and exact arrays of references."""

from __future__ import annotations

from typing import Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model import ElementType
from actiondbg.kernels.packages import np

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
_EXACT = 2**53  # float64 holds all integers up to this


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


def widen(array: np.ndarray) -> np.ndarray:
    """Return an array of float64, or int64 for integers."""
    return array.astype(np.float64 if _is_float(array) else np.int64)


def wrapped(array: np.ndarray, element: ElementType) -> np.ndarray:
    """Return a wide array whose integers are as their type holds them: they wrap around."""
    return array if element.is_float else array.astype(element.dtype).astype(np.int64)


def maximum(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the larger elements, as arith.maximumf: NaN propagates, and -0.0 is below 0.0."""
    if not _is_float(lhs):
        return np.maximum(lhs, rhs)
    signs = np.maximum(np.copysign(1.0, lhs), np.copysign(1.0, rhs))
    are_zeros = (lhs == 0) & (rhs == 0)
    return np.where(are_zeros, np.copysign(0.0, signs), np.maximum(lhs, rhs))


def minimum(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the smaller elements, as arith.minimumf."""
    return -maximum(-lhs, -rhs)


def absolute_product(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    return product(np.abs(lhs), np.abs(rhs))


def product(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return ``lhs @ rhs`` of wide arrays.

    Integers are multiplied in float64 where that is exact: NumPy's product of integers is slow.
    """
    if _is_float(lhs) or not lhs.size or not rhs.size:
        return lhs @ rhs
    bound = lhs.shape[-1] * int(np.abs(lhs).max()) * int(np.abs(rhs).max())
    if bound >= _EXACT:
        return lhs @ rhs
    return (lhs.astype(np.float64) @ rhs.astype(np.float64)).astype(np.int64)


def _is_float(array: np.ndarray) -> bool:
    return array.dtype.kind not in "iub"  # bf16 of ml_dtypes is of kind V
