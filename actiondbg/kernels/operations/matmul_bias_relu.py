"""Matrix multiplication with bias and ReLU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import arithmetic
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.matmul_layouts import Layout
from actiondbg.kernels.operations.wide_arrays import widen

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class MatmulBiasRelu(Operation):
    """``result = max(lhs * rhs + bias, 0)``, with a bias for each column.

    Attributes:
        m: rows of the result.
        n: columns of the result, and the length of the bias.
        k: the length of a sum.
        lhs_type: of the left operand.
        rhs_type: of the right operand.
        result_type: of the result, the bias and the accumulator.
        lhs_layout: "t" for row-major; "n" for column-major, which is a transposed operand.
        rhs_layout: the same of the right operand.
    """

    kind: ClassVar[str] = "matmul_bias_relu"
    m: int
    n: int
    k: int
    lhs_type: ElementType = ElementType.F32
    rhs_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32
    lhs_layout: Layout = "t"
    rhs_layout: Layout = "t"

    @property
    def matmul(self) -> Matmul:
        """The root operation alone."""
        types = (self.lhs_type, self.rhs_type, self.result_type)
        return Matmul(self.m, self.n, self.k, *types, self.lhs_layout, self.rhs_layout)

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.m}x{self.n}x{self.k}_{self.matmul.types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (*self.matmul.inputs, Tensor("bias", (self.n,), self.result_type))

    @property
    def result(self) -> Tensor:
        return self.matmul.result

    @property
    def loops(self) -> tuple[Loop, ...]:
        return self.matmul.loops

    @property
    def root(self) -> str:
        return self.matmul.root

    @property
    def flops(self) -> int:
        return self.matmul.flops + 2 * self.m * self.n

    @property
    def selects(self) -> bool:
        return True

    def arguments(self) -> Mapping[str, Argument]:
        return self.matmul.arguments()

    def check(self) -> None:
        self.matmul.check()

    def body(self, destination: str, root_attributes: str) -> str:
        element, result = self.result_type, self.result.mlir
        bias = self.inputs[2].mlir
        return f"""
            {self.matmul.product_lines(destination, root_attributes).strip()}
            %activated = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}} ins(%bias : {bias}) outs(%product : {result}) {{
            ^bb0(%addend: {element.value}, %sum: {element.value}):
              %biased = {arithmetic("add", element)} %sum, %addend : {element.value}
              %positive = {arithmetic("max", element)} %biased, %zero : {element.value}
              linalg.yield %positive : {element.value}
            }} -> {result}
            return %activated : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        product = self.matmul.reference(inputs[:2])
        bias = widen(inputs[2])
        # The absolute sums bound the result before max, too, which is what is rounded.
        values = numpy.maximum(product.values + bias, 0)
        return Reference(values, product.magnitude + numpy.abs(bias))
