"""Matrix multiplication with a softmax of each row, as in attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Reference, one_sign_growth
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_types, identity

# The reference evaluates the types of all fields here.
from actiondbg.kernels.operations.matmul import Layout as Layout
from actiondbg.kernels.operations.matmul import MatrixProduct

if TYPE_CHECKING:
    import numpy as np

_ROWS = "affine_map<(m, n) -> (m)>"
_ALL = "affine_map<(m, n) -> (m, n)>"

_MANY_DIRECTIONS = 8  # dimensions in which random directions are far from each other
# Differences of scores, some of which are shortened, whose exponentials overflow.
_OVERFLOWS = {ElementType.F32: 500.0, ElementType.F64: 4000.0}


@dataclass(frozen=True)
class MatmulSoftmax(MatrixProduct):
    """``result = softmax(lhs * rhs / sqrt(k))`` of each row.

    Products and softmax are computed in f32, or in f64 for a result of f64.
    """

    kind: ClassVar[str] = "matmul_softmax"

    @property
    def accumulator(self) -> ElementType:
        return ElementType.F64 if self.result_type is ElementType.F64 else ElementType.F32

    @property
    def flops(self) -> int:
        # Of the softmax: scale, max, subtract, exponential, add, divide.
        return super().flops + 6 * self.m * self.n

    def check(self) -> None:
        if not self.result_type.is_float:
            raise UsageError(
                f"The result of a {self.kind} must be of a float type, got "
                f"{self.result_type.value}."
            )
        check_types(self.kind, (self.lhs_type, self.rhs_type), self.result_type)
        super().check()

    @property
    def own_runs(self) -> int:
        return 1 + self.n

    def own_operands(self, index: int, numbers: np.random.Generator) -> list[np.ndarray]:
        """Return operands with scores of which an exponential overflows, or is zero.

        First all scores are far below zero: with a maximum that begins with zero each exponential
        is zero. Then one score in each row is far above the others: without that score in the
        maximum the exponential overflows.
        """
        import numpy

        lhs, rhs = self.inputs
        directions = numbers.standard_normal((self.k, self.n))
        directions /= numpy.linalg.norm(directions, axis=0)
        if index == 0:
            rows, directions = self._far_below(directions, numbers)
        else:
            rows, directions = self._far_above(directions, index - 1, numbers)
        return [
            numpy.ascontiguousarray(rows if self.lhs_layout == "t" else rows.T).astype(
                lhs.type.dtype
            ),
            numpy.ascontiguousarray(directions if self.rhs_layout == "t" else directions.T).astype(
                rhs.type.dtype
            ),
        ]

    def _far_below(
        self, directions: np.ndarray, numbers: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows that are opposite to all columns, which have almost the same direction."""
        margin = _OVERFLOWS[self.accumulator]
        first = directions[:, :1]
        lengths = margin * sqrt(self.k) * (1 + numbers.random(self.m))
        return -first.T * lengths[:, None], first + directions / margin

    def _far_above(
        self, directions: np.ndarray, index: int, numbers: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows each of which is a column: another one in each row, or one long column.

        The former needs directions that are far enough from each other.
        """
        import numpy

        columns = (numpy.arange(self.m) + index // 2 * self.m) % self.n
        if self.k < _MANY_DIRECTIONS or index % 2:
            turn = index if self.k < _MANY_DIRECTIONS else index // 2
            column = turn // 2 if turn % 2 else -1 - turn // 2  # from both ends
            columns = numpy.full(self.m, column % self.n)
            directions[:, column] *= 2
        margin = _OVERFLOWS[self.accumulator]
        lengths = margin * sqrt(self.k) * (1 + numbers.random(self.m))
        rows = directions[:, columns].T * lengths[:, None]
        rows /= numpy.linalg.norm(directions[:, columns], axis=0)[:, None]
        return rows, directions

    def body(self, destination: str, root_attributes: str) -> str:
        wide = self.accumulator
        scores = self.product.mlir
        rows = Tensor("rows", (self.m,), wide).mlir
        narrow = self.result_type is not wide
        # The scores are in the destination already, unless that is narrower.
        own = "%scores" if narrow else destination
        allocation = f"%scores = tensor.empty() : {scores}" if narrow else ""
        target = destination if narrow else "%exponentials"
        last = self.result_type.value
        truncation = f"%rounded = arith.truncf %quotient : {wide.value} to {last}"
        rounded = "%rounded" if narrow else "%quotient"
        parallel = '"parallel", "parallel"'
        reduction = '"parallel", "reduction"'
        return f"""
            {allocation}
            {self.product_lines(own, root_attributes).strip()}
            %scale = arith.constant {1 / sqrt(self.k)!r} : {wide.value}
            %lowest = arith.constant {identity("max", wide)}
            %row = tensor.empty() : {rows}
            %no_maximum = linalg.fill ins(%lowest : {wide.value}) outs(%row : {rows}) -> {rows}
            %maxima = linalg.generic {{indexing_maps = [{_ALL}, {_ROWS}], iterator_types = [{reduction}]}} ins(%product : {scores}) outs(%no_maximum : {rows}) {{
            ^bb0(%score: {wide.value}, %old: {wide.value}):
              %larger = arith.maximumf %score, %old : {wide.value}
              linalg.yield %larger : {wide.value}
            }} -> {rows}
            %exponentials = linalg.generic {{indexing_maps = [{_ROWS}, {_ALL}], iterator_types = [{parallel}]}} ins(%maxima : {rows}) outs(%product : {scores}) {{
            ^bb0(%maximum: {wide.value}, %score: {wide.value}):
              %difference = arith.subf %score, %maximum : {wide.value}
              %scaled = arith.mulf %difference, %scale : {wide.value}
              %exponential = math.exp %scaled : {wide.value}
              linalg.yield %exponential : {wide.value}
            }} -> {scores}
            %no_sum = linalg.fill ins(%zero : {wide.value}) outs(%row : {rows}) -> {rows}
            %sums = linalg.generic {{indexing_maps = [{_ALL}, {_ROWS}], iterator_types = [{reduction}]}} ins(%exponentials : {scores}) outs(%no_sum : {rows}) {{
            ^bb0(%exponential: {wide.value}, %old: {wide.value}):
              %sum = arith.addf %exponential, %old : {wide.value}
              linalg.yield %sum : {wide.value}
            }} -> {rows}
            %softmax = linalg.generic {{indexing_maps = [{_ALL}, {_ROWS}, {_ALL}], iterator_types = [{parallel}]}} ins(%exponentials, %sums : {scores}, {rows}) outs({target} : {self.result.mlir}) {{
            ^bb0(%exponential: {wide.value}, %sum: {wide.value}, %old: {last}):
              %quotient = arith.divf %exponential, %sum : {wide.value}
              {truncation if narrow else ""}
              linalg.yield {rounded} : {last}
            }} -> {self.result.mlir}
            return %softmax : {self.result.mlir}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        """Compute the softmax in float64.

        The magnitude bounds the error to first order. An error d of the scores changes a quotient
        q by ``q (d - sum(q d))``; d is bounded by the absolute sums, and by the difference from
        the row's maximum, which is rounded. The n exponentials have one sign.
        """
        import numpy

        product = super().reference(inputs)
        scale = 1 / sqrt(self.k)
        difference = (product.values - product.values.max(axis=1, keepdims=True)) * scale
        exponentials = numpy.exp(difference)
        values = exponentials / exponentials.sum(axis=1, keepdims=True)
        error = product.magnitude * scale + numpy.abs(difference) + 1
        mean = (values * error).sum(axis=1, keepdims=True)
        bound = values * (error + mean + one_sign_growth(self.n))
        return Reference(values, bound, exact=False)
