"""Maximum, minimum or sum over a window of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import identity
from actiondbg.kernels.operations.wide_arrays import maximum, minimum, widen
from actiondbg.kernels.operations.window import WindowedOperation

if TYPE_CHECKING:
    import numpy as np

PoolingCombiner = Literal["max", "min", "sum"]


@dataclass(frozen=True)
class Pooling(WindowedOperation):
    """The maximum, minimum or sum of each window of images, in the order nhwc, without padding.

    Attributes, besides the fields of ``WindowedOperation``:
        combiner: the operation over a window.
    """

    kind: ClassVar[str] = "pooling"
    batch: int
    height: int
    width: int
    channels: int
    kernel_h: int
    kernel_w: int
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    combiner: PoolingCombiner = "max"
    input_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @property
    def name(self) -> str:
        image = "x".join(map(str, self.image))
        window = f"{self.kernel_h}x{self.kernel_w}_{self.window.name}"
        types = f"{self.input_type.value}_{self.result_type.value}"
        return f"{self.kind}_nhwc_{self.combiner}_{image}_{window}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (Tensor("input", self.image, self.input_type),)

    @property
    def root(self) -> str:
        return f"linalg.pooling_nhwc_{self.combiner}"

    @property
    def flops(self) -> int:
        return self.result.elements * self.kernel_h * self.kernel_w

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        return None if self.combiner == "sum" else self.combiner

    @property
    def variant(self) -> Mapping[str, str]:
        return {"combiner": self.combiner}

    def body(self, destination: str, root_attributes: str) -> str:
        element, result = self.result_type, self.result.mlir
        # linalg takes the size of the window from an operand whose elements are not read.
        window = Tensor("window", self.window.shape, self.input_type).mlir
        attributes = ", ".join(filter(None, (self.window.attributes, root_attributes)))
        return f"""
            %identity = arith.constant {identity(self.combiner, element)}
            %window = tensor.empty() : {window}
            %fill = linalg.fill ins(%identity : {element.value}) outs({destination} : {result}) -> {result}
            %pooled = {self.root} {{{attributes}}} ins(%input, %window : {self.inputs[0].mlir}, {window}) outs(%fill : {result}) -> {result}
            return %pooled : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        image = widen(inputs[0])
        combine = {"sum": numpy.add, "max": maximum, "min": minimum}[self.combiner]
        bound = numpy.add if self.combiner == "sum" else numpy.maximum
        pixels = [image[:, rows, columns, :] for *_, rows, columns in self.window.places()]
        values, magnitude = pixels[0].copy(), numpy.abs(pixels[0])
        for each in pixels[1:]:
            values = combine(values, each)
            bound(magnitude, numpy.abs(each), out=magnitude)
        return Reference(values, magnitude, signed_zeros=self.extreme is not None)
