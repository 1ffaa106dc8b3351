"""Matrix multiplication: alone, of a batch, with bias and ReLU, and with a softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import ClassVar, Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model import (
    Argument,
    ElementType,
    Loop,
    Operation,
    Reference,
    Tensor,
    one_sign_growth,
)
from actiondbg.kernels.operations.arithmetic import (
    absolute_product,
    arithmetic,
    check_sizes,
    check_types,
    identity,
    product,
    widen,
    wrapped,
)
from actiondbg.kernels.packages import np

Layout = Literal["t", "n"]  # as in BLAS and CUTLASS: t is row-major, n is column-major
Broadcast = Literal["none", "lhs", "rhs"]
_ROWS = "affine_map<(m, n) -> (m)>"
_ALL = "affine_map<(m, n) -> (m, n)>"

_MANY_DIRECTIONS = 8  # dimensions in which random directions are far from each other
# Differences of scores, some of which are shortened, whose exponentials overflow.
_OVERFLOWS = {ElementType.F32: 500.0, ElementType.F64: 4000.0}


@dataclass(frozen=True)
class MatrixProduct(Operation):
    """A kind that begins with ``lhs * rhs``, its root: of m x k and k x n elements.

    Attributes:
        m: rows of the product.
        n: columns of the product.
        k: the length of a sum.
        result_type: of the result, and of the accumulator unless the kind says otherwise.
        lhs_layout: "t" for row-major; "n" for column-major, which is a transposed operand.
        rhs_layout: the same of the right operand.
    """

    m: int
    n: int
    k: int
    lhs_type: ElementType = ElementType.F32
    rhs_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32
    lhs_layout: Layout = "t"
    rhs_layout: Layout = "t"

    @property
    def batches(self) -> tuple[int, ...]:
        """The dimensions of the result before rows and columns."""
        return ()

    @property
    def name(self) -> str:
        sizes = "x".join(map(str, (*self.batches, self.m, self.n, self.k)))
        return f"{self.kind}_{sizes}_{'_'.join(self._types)}"

    @property
    def _types(self) -> tuple[str, str, str]:
        """Types and layouts of the operands and the result, such as f32t."""
        lhs = f"{self.lhs_type.value}{self.lhs_layout}"
        rhs = f"{self.rhs_type.value}{self.rhs_layout}"
        return lhs, rhs, f"{self.result_type.value}t"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        lhs = (self.m, self.k) if self.lhs_layout == "t" else (self.k, self.m)
        rhs = (self.k, self.n) if self.rhs_layout == "t" else (self.n, self.k)
        return (Tensor("lhs", lhs, self.lhs_type), Tensor("rhs", rhs, self.rhs_type))

    @property
    def result(self) -> Tensor:
        return Tensor("result", (*self.batches, self.m, self.n), self.result_type)

    @property
    def product(self) -> Tensor:
        """The product, in the type in which it is added up."""
        return Tensor("product", self.result.shape, self.accumulator)

    @property
    def loops(self) -> tuple[Loop, ...]:
        parallel = (Loop(size, "parallel") for size in self.result.shape)
        return (*parallel, Loop(self.k, "reduction"))

    @property
    def root(self) -> str:
        return "linalg.matmul"

    @property
    def flops(self) -> int:
        return 2 * self.result.elements * self.k

    def arguments(self) -> Mapping[str, Argument]:
        lhs, rhs, result = self._types
        return {
            "batch_count": prod(self.batches),
            "m": self.m,
            "n": self.n,
            "k": self.k,
            "lhs": lhs,
            "rhs": rhs,
            "result": result,
        }

    def check(self) -> None:
        check_sizes(self.kind, {"m": self.m, "n": self.n, "k": self.k})
        check_types(self.kind, (self.lhs_type, self.rhs_type), self.accumulator)

    def body(self, destination: str, root_attributes: str) -> str:
        lines = self.product_lines(destination, root_attributes)
        return f"{lines}\nreturn %product : {self.result.mlir}"

    def product_lines(self, destination: str, root_attributes: str) -> str:
        """Return the lines that compute ``%product``, for a kind that continues with it.

        Args:
            destination: as in ``body``, of the type of ``product``.
            root_attributes: as in ``body``.
        """
        lhs, rhs = self.inputs[:2]
        product = self.product
        maps = f" {self._maps}" if self._maps else ""
        attributes = f" {{{root_attributes}}}" if root_attributes else ""
        return f"""
            %zero = arith.constant {product.type.zero}
            %fill = linalg.fill ins(%zero : {product.type.value}) outs({destination} : {product.mlir}) -> {product.mlir}
            %product = {self.root}{maps}{attributes} ins(%lhs, %rhs : {lhs.mlir}, {rhs.mlir}) outs(%fill : {product.mlir}) -> {product.mlir}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        lhs, rhs = (widen(each) for each in inputs[:2])
        lhs = lhs if self.lhs_layout == "t" else lhs.swapaxes(-1, -2)
        rhs = rhs if self.rhs_layout == "t" else rhs.swapaxes(-1, -2)
        return Reference(product(lhs, rhs), absolute_product(lhs, rhs))

    @property
    def _maps(self) -> str:
        """The indexing maps of the root, or "" for those that it has without."""
        return "" if self.lhs_layout == self.rhs_layout == "t" else self._indexing_maps("", "")

    def _indexing_maps(self, lhs_batch: str, rhs_batch: str) -> str:
        """Return ``indexing_maps = [...]``; a batch is "b, " for an operand with a matrix each."""
        batch = lhs_batch or rhs_batch
        lhs = "m, k" if self.lhs_layout == "t" else "k, m"
        rhs = "k, n" if self.rhs_layout == "t" else "n, k"
        operands = (f"{lhs_batch}{lhs}", f"{rhs_batch}{rhs}", f"{batch}m, n")
        maps = ", ".join(f"affine_map<({batch}m, n, k) -> ({each})>" for each in operands)
        return f"indexing_maps = [{maps}]"


@dataclass(frozen=True)
class Matmul(MatrixProduct):
    """``result = lhs * rhs``."""

    kind: ClassVar[str] = "matmul"

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (
            cls(64, 64, 64),
            cls(128, 128, 256),
            cls(65, 127, 33),
            cls(128, 128, 256, ElementType.I8, ElementType.I8, ElementType.I32),
            cls(128, 128, 256, rhs_layout="n"),
        )


@dataclass(frozen=True)
class _Batch(Operation):
    batch: int


@dataclass(frozen=True)
class BatchMatmul(MatrixProduct, _Batch):  # fields of the last base come first
    """``result[i] = lhs[i] * rhs[i]`` for each i of a batch.

    Attributes:
        broadcast: the operand that is one matrix for the whole batch.
    """

    kind: ClassVar[str] = "batch_matmul"
    broadcast: Broadcast = "none"

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls(4, 64, 64, 64),)

    @property
    def batches(self) -> tuple[int, ...]:
        return (self.batch,)

    @property
    def name(self) -> str:
        broadcast = "" if self.broadcast == "none" else f"_broadcast_{self.broadcast}"
        return f"{super().name}{broadcast}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(
            tensor
            if self.broadcast == tensor.name
            else Tensor(tensor.name, (self.batch, *tensor.shape), tensor.type)
            for tensor in super().inputs
        )

    @property
    def root(self) -> str:
        return "linalg.batch_matmul"

    def arguments(self) -> Mapping[str, Argument]:
        return {**super().arguments(), "broadcast": self.broadcast}

    def check(self) -> None:
        check_sizes(self.kind, {"batch": self.batch})
        super().check()

    @property
    def _maps(self) -> str:
        if self.broadcast == "none" and not super()._maps:
            return ""
        lhs, rhs = ("" if self.broadcast == name else "b, " for name in ("lhs", "rhs"))
        return self._indexing_maps(lhs, rhs)


@dataclass(frozen=True)
class MatmulBiasRelu(MatrixProduct):
    """``result = max(lhs * rhs + bias, 0)``, with a bias of the result's type for each column."""

    kind: ClassVar[str] = "matmul_bias_relu"

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls(64, 128, 64),)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (*super().inputs, Tensor("bias", (self.n,), self.result_type))

    @property
    def flops(self) -> int:
        return super().flops + 2 * self.m * self.n

    @property
    def selects(self) -> bool:
        return True

    def body(self, destination: str, root_attributes: str) -> str:
        element, result = self.result_type, self.result.mlir
        bias = self.inputs[2].mlir
        return f"""
            {self.product_lines(destination, root_attributes).strip()}
            %activated = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}} ins(%bias : {bias}) outs(%product : {result}) {{
            ^bb0(%addend: {element.value}, %sum: {element.value}):
              %biased = {arithmetic("add", element)} %sum, %addend : {element.value}
              %positive = {arithmetic("max", element)} %biased, %zero : {element.value}
              linalg.yield %positive : {element.value}
            }} -> {result}
            return %activated : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        product = super().reference(inputs)
        bias = widen(inputs[2])
        # The absolute sums bound the result before max, too, which is what is rounded.
        values = np.maximum(wrapped(product.values + bias, self.result_type), 0)
        return Reference(values, product.magnitude + np.abs(bias))


@dataclass(frozen=True)
class MatmulSoftmax(MatrixProduct):
    """``result = softmax(lhs * rhs / sqrt(k))`` of each row.

    Products and softmax are computed in f32, or in f64 for a result of f64.
    """

    kind: ClassVar[str] = "matmul_softmax"

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls(64, 64, 64),)

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
        lhs, rhs = self.inputs
        directions = numbers.standard_normal((self.k, self.n))
        directions /= np.linalg.norm(directions, axis=0)
        if index == 0:
            # Rows are opposite to all columns, which have almost the same direction.
            margin, first = _OVERFLOWS[self.accumulator], directions[:, :1]
            lengths = margin * sqrt(self.k) * (1 + numbers.random(self.m))
            rows, directions = -first.T * lengths[:, None], first + directions / margin
        else:
            rows, directions = self._far_above(directions, index - 1, numbers)
        return [
            np.ascontiguousarray(rows if self.lhs_layout == "t" else rows.T).astype(lhs.type.dtype),
            np.ascontiguousarray(directions if self.rhs_layout == "t" else directions.T).astype(
                rhs.type.dtype
            ),
        ]

    def _far_above(
        self, directions: np.ndarray, index: int, numbers: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows each of which is a column: another one in each row, or one long column.

        The former needs directions that are far enough from each other.
        """
        columns = (np.arange(self.m) + index // 2 * self.m) % self.n
        if self.k < _MANY_DIRECTIONS or index % 2:
            turn = index if self.k < _MANY_DIRECTIONS else index // 2
            column = turn // 2 if turn % 2 else -1 - turn // 2  # from both ends
            columns = np.full(self.m, column % self.n)
            directions[:, column] *= 2
        margin = _OVERFLOWS[self.accumulator]
        lengths = margin * sqrt(self.k) * (1 + numbers.random(self.m))
        rows = directions[:, columns].T * lengths[:, None]
        rows /= np.linalg.norm(directions[:, columns], axis=0)[:, None]
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
        product = super().reference(inputs)
        scale = 1 / sqrt(self.k)
        difference = (product.values - product.values.max(axis=1, keepdims=True)) * scale
        exponentials = np.exp(difference)
        values = exponentials / exponentials.sum(axis=1, keepdims=True)
        error = product.magnitude * scale + np.abs(difference) + 1
        mean = (values * error).sum(axis=1, keepdims=True)
        bound = values * (error + mean + one_sign_growth(self.n))
        return Reference(values, bound, exact=False)
