"""Matrix multiplication: alone, of a batch, and with bias and ReLU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import arithmetic, check_sizes, check_types
from actiondbg.kernels.operations.wide_arrays import absolute_product, product, widen

if TYPE_CHECKING:
    import numpy as np

Layout = Literal["t", "n"]  # as in BLAS and CUTLASS: t is row-major, n is column-major
Broadcast = Literal["none", "lhs", "rhs"]


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
        import numpy

        product = super().reference(inputs)
        bias = widen(inputs[2])
        # The absolute sums bound the result before max, too, which is what is rounded.
        values = numpy.maximum(product.values + bias, 0)
        return Reference(values, product.magnitude + numpy.abs(bias))
