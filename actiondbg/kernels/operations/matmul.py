"""Matrix multiplication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_sizes, check_types
from actiondbg.kernels.operations.matmul_layouts import Layout, OperandLayouts
from actiondbg.kernels.operations.wide_arrays import absolute_product, product, widen

if TYPE_CHECKING:
    import numpy as np


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
        lhs, rhs = self._layouts.shapes(self.m, self.n, self.k)
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
        check_sizes(self.kind, {"m": self.m, "n": self.n, "k": self.k})
        check_types(self.kind, (self.lhs_type, self.rhs_type), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        lines = self.product_lines(destination, root_attributes)
        return f"{lines}\nreturn %product : {self.result.mlir}"

    def product_lines(self, destination: str, root_attributes: str) -> str:
        """Return the lines that compute ``%product``, for a kind that continues with it.

        Args:
            destination: as in ``body``.
            root_attributes: as in ``body``.
        """
        result = self.result
        lhs, rhs = self.inputs
        maps = "" if self._layouts.row_major else f" {self._layouts.indexing_maps()}"
        attributes = f" {{{root_attributes}}}" if root_attributes else ""
        return f"""
            %zero = arith.constant {result.type.zero}
            %fill = linalg.fill ins(%zero : {result.type.value}) outs({destination} : {result.mlir}) -> {result.mlir}
            %product = linalg.matmul{maps}{attributes} ins(%lhs, %rhs : {lhs.mlir}, {rhs.mlir}) outs(%fill : {result.mlir}) -> {result.mlir}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        lhs, rhs = (widen(each) for each in inputs)
        lhs = lhs if self.lhs_layout == "t" else lhs.T
        rhs = rhs if self.rhs_layout == "t" else rhs.T
        return Reference(product(lhs, rhs), absolute_product(lhs, rhs))

    @property
    def _layouts(self) -> OperandLayouts:
        return OperandLayouts(self.lhs_layout, self.rhs_layout)
