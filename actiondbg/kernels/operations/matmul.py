"""Matrix multiplication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

Layout = Literal["t", "n"]  # as in BLAS and CUTLASS: t is row-major, n is column-major


@dataclass(frozen=True)
class Matmul(Operation):
    """``result = lhs * rhs``, of m x k and k x n elements.

    Attributes:
        m: rows of the result.
        n: columns of the result.
        k: the length of a sum.
        lhs_type: of the left operand.
        rhs_type: of the right operand.
        result_type: of the result and the accumulator.
        lhs_layout: "t" for row-major; "n" for column-major, which is a transposed operand.
        rhs_layout: the same of the right operand.
    """

    kind: ClassVar[str] = "matmul"
    m: int
    n: int
    k: int
    lhs_type: ElementType = ElementType.F32
    rhs_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32
    lhs_layout: Layout = "t"
    rhs_layout: Layout = "t"

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.m}x{self.n}x{self.k}_{self.types}"

    @property
    def types(self) -> str:
        """Types and layouts, such as ``f32t_f32t_f32t``."""
        lhs = f"{self.lhs_type.value}{self.lhs_layout}"
        rhs = f"{self.rhs_type.value}{self.rhs_layout}"
        return f"{lhs}_{rhs}_{self.result_type.value}t"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        lhs = (self.m, self.k) if self.lhs_layout == "t" else (self.k, self.m)
        rhs = (self.k, self.n) if self.rhs_layout == "t" else (self.n, self.k)
        return (Tensor("lhs", lhs, self.lhs_type), Tensor("rhs", rhs, self.rhs_type))

    @property
    def result(self) -> Tensor:
        return Tensor("result", (self.m, self.n), self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return (Loop(self.m, "parallel"), Loop(self.n, "parallel"), Loop(self.k, "reduction"))

    @property
    def root(self) -> str:
        return "linalg.matmul"

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "batch_count": 1,
            "m": self.m,
            "n": self.n,
            "k": self.k,
            "lhs": f"{self.lhs_type.value}{self.lhs_layout}",
            "rhs": f"{self.rhs_type.value}{self.rhs_layout}",
            "result": f"{self.result_type.value}t",
        }

    def check(self) -> None:
        for name, size in (("m", self.m), ("n", self.n), ("k", self.k)):
            if size < 1:
                raise UsageError(f"The {name} of a {self.kind} must be at least 1, got {size}.")

    def body(self, destination: str, root_attributes: str) -> str:
        lhs, rhs = self.inputs
        result = self.result.mlir
        maps = self._indexing_maps()
        attributes = f" {{{root_attributes}}}" if root_attributes else ""
        return f"""
            %zero = arith.constant {self.result_type.zero}
            %fill = linalg.fill ins(%zero : {self.result_type.value}) outs({destination} : {result}) -> {result}
            %product = linalg.matmul{maps}{attributes} ins(%lhs, %rhs : {lhs.mlir}, {rhs.mlir}) outs(%fill : {result}) -> {result}
            return %product : {result}"""  # noqa: E501

    def _indexing_maps(self) -> str:
        if self.lhs_layout == self.rhs_layout == "t":
            return ""
        lhs = "d0, d2" if self.lhs_layout == "t" else "d2, d0"
        rhs = "d2, d1" if self.rhs_layout == "t" else "d1, d2"
        maps = ", ".join(f"affine_map<(d0, d1, d2) -> ({each})>" for each in (lhs, rhs, "d0, d1"))
        return f" indexing_maps = [{maps}]"

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        wide = numpy.float64 if self.result_type.is_float else numpy.int64
        lhs, rhs = (each.astype(wide) for each in inputs)
        lhs = lhs if self.lhs_layout == "t" else lhs.T
        rhs = rhs if self.rhs_layout == "t" else rhs.T
        return Reference(lhs @ rhs, numpy.abs(lhs) @ numpy.abs(rhs))
