"""Sum, maximum or minimum over dimensions of a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import (
    arithmetic,
    check_sizes,
    check_types,
    extension,
    identity,
)
from actiondbg.kernels.operations.wide_arrays import widen

if TYPE_CHECKING:
    import numpy as np

ReductionCombiner = Literal["sum", "max", "min"]


@dataclass(frozen=True)
class Reduction(Operation):
    """The sum, maximum or minimum over some dimensions.

    Attributes:
        axes: the dimensions that are reduced, from 0, ascending.
        result_type: of the result and the accumulator.
    """

    kind: ClassVar[str] = "reduction"
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    combiner: ReductionCombiner = "sum"
    operand_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @property
    def name(self) -> str:
        shape = "x".join(map(str, self.shape))
        axes = "x".join(map(str, self.axes))
        types = f"{self.operand_type.value}_{self.result_type.value}"
        return f"{self.kind}_{self.combiner}_{shape}_axes_{axes}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (Tensor("operand", self.shape, self.operand_type),)

    @property
    def result(self) -> Tensor:
        kept = tuple(self.shape[axis] for axis in self._kept)
        return Tensor("result", kept, self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(
            Loop(size, "reduction" if axis in self.axes else "parallel")
            for axis, size in enumerate(self.shape)
        )

    @property
    def root(self) -> str:
        return "linalg.generic"

    @property
    def flops(self) -> int:
        return self.inputs[0].elements

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        return None if self.combiner == "sum" else self.combiner

    @property
    def reduced_axes(self) -> tuple[int, ...]:
        return self.axes

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "shape": "x".join(map(str, self.shape)),
            "axes": ",".join(map(str, self.axes)),
            "combiner": self.combiner,
            "lhs": self.operand_type.value,
            "result": self.result_type.value,
        }

    def check(self) -> None:
        if not self.shape:
            raise UsageError(f"The shape of a {self.kind} must have at least one dimension.")
        check_sizes(self.kind, {f"dimension {axis}": each for axis, each in enumerate(self.shape)})
        if not self.axes or list(self.axes) != sorted(set(self.axes)):
            raise UsageError(
                f"The axes of a {self.kind} must be ascending, at least one, got {self.axes}."
            )
        if self.axes[0] < 0 or self.axes[-1] >= len(self.shape):
            raise UsageError(
                f"The axes of a {self.kind} must be from 0 to {len(self.shape) - 1}, the dimensions"
                f" of its shape, got {self.axes}."
            )
        check_types(self.kind, (self.operand_type,), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        operand, result, element = self.inputs[0], self.result.mlir, self.result_type
        dimensions = ", ".join(f"d{axis}" for axis in range(len(self.shape)))
        kept = ", ".join(f"d{axis}" for axis in self._kept)
        iterators = ", ".join(f'"{loop.type}"' for loop in self.loops)
        combine = arithmetic("add" if self.combiner == "sum" else self.combiner, element)
        extend = extension(self.operand_type, element)
        extended = f"%wide = {extend} %element : {self.operand_type.value} to {element.value}"
        attributes = f"indexing_maps = [affine_map<({dimensions}) -> ({dimensions})>, affine_map<({dimensions}) -> ({kept})>], iterator_types = [{iterators}]"  # noqa: E501
        # Own attributes of a generic operation are behind its operands.
        own = f" attrs = {{{root_attributes}}}" if root_attributes else ""
        return f"""
            %identity = arith.constant {identity(self.combiner, element)}
            %fill = linalg.fill ins(%identity : {element.value}) outs({destination} : {result}) -> {result}
            %reduced = linalg.generic {{{attributes}}} ins(%operand : {operand.mlir}) outs(%fill : {result}){own} {{
            ^bb0(%element: {self.operand_type.value}, %old: {element.value}):
              {extended if extend else ""}
              %new = {combine} %old, {"%wide" if extend else "%element"} : {element.value}
              linalg.yield %new : {element.value}
            }} -> {result}
            return %reduced : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        operand = widen(inputs[0])
        combine = {"sum": numpy.sum, "max": numpy.max, "min": numpy.min}[self.combiner]
        bound = numpy.sum if self.combiner == "sum" else numpy.max
        values = numpy.asarray(combine(operand, axis=self.axes))
        if self.extreme is not None and self.operand_type.is_float:
            # -0.0 is below 0.0, which NumPy does not distinguish.
            signs = combine(
                numpy.copysign(1.0, operand),
                axis=self.axes,
                where=operand == 0,
                initial=-1.0 if self.extreme == "max" else 1.0,
            )
            values = numpy.where(values == 0, numpy.copysign(0.0, signs), values)
        magnitude = numpy.asarray(bound(numpy.abs(operand), axis=self.axes))
        return Reference(values, magnitude, signed_zeros=self.extreme is not None)

    @property
    def _kept(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)
