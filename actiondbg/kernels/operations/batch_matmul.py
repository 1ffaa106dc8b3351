"""Matrix multiplication of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_sizes, check_types
from actiondbg.kernels.operations.matmul_layouts import Layout, OperandLayouts
from actiondbg.kernels.operations.wide_arrays import absolute_product, product, widen

if TYPE_CHECKING:
    import numpy as np

Broadcast = Literal["none", "lhs", "rhs"]


@dataclass(frozen=True)
class BatchMatmul(Operation):
    """``result[i] = lhs[i] * rhs[i]`` for each i of a batch.

    Attributes:
        batch: the number of products.
        m: rows of a result.
        n: columns of a result.
        k: the length of a sum.
        lhs_type: of the left operands.
        rhs_type: of the right operands.
        result_type: of the results and the accumulator.
        lhs_layout: "t" for row-major; "n" for column-major, which is a transposed operand.
        rhs_layout: the same of the right operands.
        broadcast: the operand that is one matrix for the whole batch.
    """

    kind: ClassVar[str] = "batch_matmul"
    batch: int
    m: int
    n: int
    k: int
    lhs_type: ElementType = ElementType.F32
    rhs_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32
    lhs_layout: Layout = "t"
    rhs_layout: Layout = "t"
    broadcast: Broadcast = "none"

    @property
    def name(self) -> str:
        lhs = f"{self.lhs_type.value}{self.lhs_layout}"
        rhs = f"{self.rhs_type.value}{self.rhs_layout}"
        types = f"{lhs}_{rhs}_{self.result_type.value}t"
        broadcast = "" if self.broadcast == "none" else f"_broadcast_{self.broadcast}"
        return f"{self.kind}_{self.batch}x{self.m}x{self.n}x{self.k}_{types}{broadcast}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        lhs, rhs = self._layouts.shapes(self.m, self.n, self.k)
        lhs_batch = () if self.broadcast == "lhs" else (self.batch,)
        rhs_batch = () if self.broadcast == "rhs" else (self.batch,)
        return (
            Tensor("lhs", lhs_batch + lhs, self.lhs_type),
            Tensor("rhs", rhs_batch + rhs, self.rhs_type),
        )

    @property
    def result(self) -> Tensor:
        return Tensor("result", (self.batch, self.m, self.n), self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        parallel = (Loop(size, "parallel") for size in (self.batch, self.m, self.n))
        return (*parallel, Loop(self.k, "reduction"))

    @property
    def root(self) -> str:
        return "linalg.batch_matmul"

    @property
    def flops(self) -> int:
        return 2 * self.batch * self.m * self.n * self.k

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "batch_count": self.batch,
            "m": self.m,
            "n": self.n,
            "k": self.k,
            "lhs": f"{self.lhs_type.value}{self.lhs_layout}",
            "rhs": f"{self.rhs_type.value}{self.rhs_layout}",
            "result": f"{self.result_type.value}t",
            "broadcast": self.broadcast,
        }

    def check(self) -> None:
        check_sizes(self.kind, {"batch": self.batch, "m": self.m, "n": self.n, "k": self.k})
        check_types(self.kind, (self.lhs_type, self.rhs_type), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        lhs, rhs = self.inputs
        result = self.result.mlir
        maps = ""
        if not self._layouts.row_major or self.broadcast != "none":
            batches = (self.broadcast != "lhs", self.broadcast != "rhs")
            maps = f" {self._layouts.indexing_maps(*batches)}"
        attributes = f" {{{root_attributes}}}" if root_attributes else ""
        return f"""
            %zero = arith.constant {self.result_type.zero}
            %fill = linalg.fill ins(%zero : {self.result_type.value}) outs({destination} : {result}) -> {result}
            %product = linalg.batch_matmul{maps}{attributes} ins(%lhs, %rhs : {lhs.mlir}, {rhs.mlir}) outs(%fill : {result}) -> {result}
            return %product : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        lhs, rhs = (widen(each) for each in inputs)
        lhs = lhs if self.lhs_layout == "t" else lhs.swapaxes(-1, -2)
        rhs = rhs if self.rhs_layout == "t" else rhs.swapaxes(-1, -2)
        return Reference(product(lhs, rhs), absolute_product(lhs, rhs))

    @property
    def _layouts(self) -> OperandLayouts:
        return OperandLayouts(self.lhs_layout, self.rhs_layout)
