"""The types of elements of operands and results."""

from __future__ import annotations

from enum import Enum
from importlib.util import find_spec
from typing import TYPE_CHECKING

from actiondbg.errors import ActiondbgError

if TYPE_CHECKING:
    import numpy as np

# Bits of the significand with the implicit one: integers up to 2 to this power are exact.
_PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "i32": "int32",
}


class ElementType(Enum):
    """An element type, by its name in MLIR."""

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"
    I1 = "i1"  # of operands and results of programs only
    I8 = "i8"
    I32 = "i32"

    @property
    def is_float(self) -> bool:
        return self.value in _PRECISION

    @property
    def bits(self) -> int:
        """The size of an element in bits."""
        return int(self.value.lstrip("bfi"))

    @property
    def size(self) -> int:
        """The size of an element in bytes; one of i1 is a byte."""
        return max(1, self.bits // 8)

    @property
    def precision(self) -> int:
        """The bits of the significand of a float, or the value bits of an integer."""
        return _PRECISION.get(self.value, max(1, self.bits - 1))

    @property
    def unit_roundoff(self) -> float:
        """Half of the distance from 1 to the next larger number; 0 for integers."""
        return 2.0**-self.precision if self.is_float else 0.0

    @property
    def zero(self) -> str:
        """The attribute of the constant zero, such as ``0.0 : f32``."""
        return f"{'0.0' if self.is_float else '0'} : {self.value}"

    @property
    def dtype(self) -> np.dtype:
        """The NumPy type.

        Raises:
            ActiondbgError: the type is bf16, and the package ml_dtypes is not installed.
        """
        import numpy

        if self is not ElementType.BF16:
            return numpy.dtype(_NUMPY[self.value])
        if find_spec("ml_dtypes") is None:
            raise ActiondbgError(
                "bf16 needs the package ml_dtypes: pip install 'actiondbg[kernels]'."
            )
        import ml_dtypes

        return numpy.dtype(ml_dtypes.bfloat16)
