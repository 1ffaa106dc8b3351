"""What a kernel computes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

IteratorType = Literal["parallel", "reduction"]
Argument = str | int

# The partial sums of products of random signs walk randomly: after i of k terms they are about
# sqrt(i) terms large, and each addition rounds by up to u of that. The errors add up randomly too,
# to some 0.4 u |A||B|, whatever k and the order of adding up are. The largest of a million elements
# is five times that; 3.9 was the most that was observed.
ROUNDING_FACTOR = 8


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
    """

    values: np.ndarray
    magnitude: np.ndarray
    exact: bool = True
    signed_zeros: bool = False


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
        """The name of the root operation, such as ``linalg.matmul``; it occurs once."""

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
