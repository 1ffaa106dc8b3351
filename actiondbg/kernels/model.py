"""What a kernel is: element types, tensors, operations, configurations and dispatches: plain data.

May import: actiondbg.errors, and NumPy when an array is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib.util import find_spec
from math import inf, prod, sqrt
from typing import ClassVar, Literal

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.packages import np

# Bits of the significand with the implicit one: integers up to 2 to this power are exact.
_PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_LARGEST_FINITE = {
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
    "f32": 3.4028234663852886e38,
    "f64": 1.7976931348623157e308,
}
_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "i32": "int32",
}
IteratorType = Literal["parallel", "reduction"]
Argument = str | int  # of an operation
Parameter = int | str | bool | Sequence[int | str]  # of a configuration

# The partial sums of products of random signs walk randomly: after i of k terms they are about
# sqrt(i) terms large, and each addition rounds by up to u of that. The errors add up randomly too,
# to some 0.4 u |A||B|, whatever k and the order of adding up are. The largest of a million elements
# is five times that; 3.9 was the most that was observed.
ROUNDING_FACTOR = 8


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
    def largest(self) -> float:
        """The largest finite float; infinity for integers, which wrap around."""
        return _LARGEST_FINITE.get(self.value, inf)

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
        if self is not ElementType.BF16:
            return np.dtype(_NUMPY[self.value])
        if find_spec("ml_dtypes") is None:
            raise ActiondbgError(
                "bf16 needs the package ml_dtypes: pip install 'actiondbg[kernels]'."
            )
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)


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


@dataclass(frozen=True)
class Loop:
    """A loop of the root operation, in the order of its iteration space."""

    size: int
    type: IteratorType


@dataclass(frozen=True)
class Reference:
    """What a kernel has to compute.

    Attributes:
        values: the expected result, in float64 or int64, of the shape of the result.
        magnitude: the same sums over absolute values, ``|A| |B|``: as long as they are below 2 to
            the precision of the accumulator, a result of integers is exact; else it bounds the
            rounding error, which is at most ROUNDING_FACTOR roundoffs of it. A sum of terms of one
            sign has ``one_sign_growth`` times as much. 0 dimensions where one bound holds for all.
        signed_zeros: whether zeros of the expected result have the sign that is expected.
        exact: False if the operation rounds whatever its operands are, such as an exponential.
        overflows: whether a number on the way to the result is too large for its type: compilers
            that round less, or multiply and add at once, then differ by more than rounding.
        errors: bounds the rounding error instead of ``magnitude``, without the last rounding, to
            the type of the result; None if it is not known apart.
    """

    values: np.ndarray
    magnitude: np.ndarray
    exact: bool = True
    signed_zeros: bool = False
    overflows: bool = False
    errors: np.ndarray | None = None


def one_sign_growth(terms: int) -> float:
    """Return how much more a sum errs if its terms have one sign.

    Partial sums then grow with i, not with its root, and the errors by the root of k more.
    """
    return 1 + sqrt(terms) / ROUNDING_FACTOR


@dataclass(frozen=True)
class Operation(ABC):
    """What a kernel computes: kind, shape, types and layout.

    A subclass is a frozen dataclass of plain fields (int, bool, str, ElementType, tuples of them):
    the manifest stores and restores them.
    """

    kind: ClassVar[str]

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        """Return operations of the kind that take milliseconds, for the set ``small``."""
        return ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The unique name, such as ``matmul_512x512x512_f32t_f32t_f32t``: letters, digits, _."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Tensor, ...]:
        """The operands, in the order of the function's arguments."""

    @property
    @abstractmethod
    def result(self) -> Tensor:
        """The result."""

    @property
    def accumulator(self) -> ElementType:
        """The type in which the kernel adds up: that of the result, unless a subclass differs."""
        return self.result.type

    @property
    @abstractmethod
    def loops(self) -> tuple[Loop, ...]:
        """The iteration space of the root operation."""

    @property
    @abstractmethod
    def root(self) -> str:
        """The name of the root operation, such as ``linalg.matmul``; others may have it, too."""

    @property
    @abstractmethod
    def flops(self) -> int:
        """The arithmetic operations of one call."""

    @property
    def bytes(self) -> int:
        """The bytes that one call has to read and write at least."""
        return sum(tensor.bytes for tensor in self.inputs) + self.result.bytes

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        """What the operation selects from its only operand, if it is a maximum or minimum."""
        return None

    @property
    def reduced_axes(self) -> tuple[int, ...]:
        """The dimensions of the first operand that are reduced; () if windows may overlap."""
        return ()

    @property
    def index_limits(self) -> tuple[int, ...]:
        """Of each operand, the size below which its elements are indices, or 0; () for none."""
        return ()

    @property
    def selects(self) -> bool:
        """Whether a maximum or a comparison hides operands from some elements of the result."""
        return False

    @property
    def defines_edges(self) -> bool:
        """Whether results of NaN and infinities are defined: compilers approximate functions."""
        return True

    @property
    def own_runs(self) -> int:
        """The number of runs with ``own_operands`` that verification needs."""
        return 0

    def own_operands(self, index: int, numbers: np.random.Generator) -> list[np.ndarray]:
        """Return operands that show what random ones hide; of ``own_runs`` runs.

        Args:
            index: of the run.
            numbers: random numbers, the same for a run each time.

        Raises:
            IndexError: there are not so many runs.
        """
        raise IndexError(index)

    @abstractmethod
    def arguments(self) -> Mapping[str, Argument]:
        """Return the columns of a report, such as m, n, k, lhs, rhs and result."""

    @abstractmethod
    def body(self, destination: str, root_attributes: str) -> str:
        """Return the lines of the function's body.

        Args:
            destination: the SSA name of a tensor of the result's type, whose content is undefined.
            root_attributes: the content of an attribute dictionary for the root operation, or "".

        Returns:
            The lines, which use the inputs as ``%NAME`` and end with ``return``.
        """

    @abstractmethod
    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        """Compute what the kernel has to, with NumPy.

        Args:
            inputs: arrays of the shapes and types of ``inputs``.
        """

    def check(self) -> None:
        """Check that the shapes fit the kind.

        Raises:
            UsageError: they do not; the message names the value.
        """
        return

    def function(self, *, destination: bool = False, root_attributes: str = "") -> str:
        """Return the MLIR of the function, named as the operation.

        Args:
            destination: the result's memory is the last argument, ``%out``, instead of allocated.
            root_attributes: see ``body``.
        """
        result = self.result.mlir
        arguments = [f"%{each.name}: {each.mlir}" for each in self.inputs]
        lines: list[str] = []
        if destination:
            arguments.append(f"%out: {result} {{bufferization.writable = true}}")
        else:
            lines.append(f"%out = tensor.empty() : {result}")
        lines += self.body("%out", root_attributes).strip().splitlines()
        text = "".join(f"  {line.strip()}\n" if line else "\n" for line in lines)
        return f"func.func @{self.name}({', '.join(arguments)}) -> {result} {{\n{text}}}\n"


@dataclass(frozen=True)
class Configuration:
    """Tiling, vector sizes, pipeline and flags, as plain data.

    Attributes:
        provider: the name of the provider that understands the parameters.
        name: unique for an operation, over all providers, and a valid name of a folder, such as
            ``mlir_tile_64x64x512_vector_4x16``.
        parameters: what the provider needs, as plain data; columns of a report.
    """

    provider: str
    name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])


@dataclass(frozen=True)
class Dispatch:
    """An operation with a configuration."""

    operation: Operation
    configuration: Configuration

    @property
    def name(self) -> str:
        """The operation's name and the configuration's."""
        return f"{self.operation.name}_{self.configuration.name}"
