"""Maximum, minimum or sum over a window of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_sizes, check_types, highest, lowest
from actiondbg.kernels.operations.wide_arrays import widen
from actiondbg.kernels.operations.window import Axis, Window

if TYPE_CHECKING:
    import numpy as np

PoolingCombiner = Literal["max", "min", "sum"]


@dataclass(frozen=True)
class Pooling(Operation):
    """The maximum, minimum or sum of each window of images, in the order nhwc, without padding.

    Attributes:
        batch: the number of images.
        height: rows of an image.
        width: columns of an image.
        channels: of an image and of the result.
        kernel_h: rows of the window.
        kernel_w: columns of the window.
        stride_h: the rows from one position of the window to the next.
        stride_w: the columns.
        dilation_h: the rows from one element of the window to the next.
        dilation_w: the columns.
        combiner: the operation over a window.
        input_type: of the images.
        result_type: of the result and the accumulator.
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
    def window(self) -> Window:
        """The window."""
        return Window(
            Axis(self.height, self.kernel_h, self.stride_h, self.dilation_h),
            Axis(self.width, self.kernel_w, self.stride_w, self.dilation_w),
        )

    @property
    def name(self) -> str:
        image = f"{self.batch}x{self.height}x{self.width}x{self.channels}"
        window = f"{self.kernel_h}x{self.kernel_w}_{self.window.name}"
        types = f"{self.input_type.value}_{self.result_type.value}"
        return f"{self.kind}_nhwc_{self.combiner}_{image}_{window}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        shape = (self.batch, self.height, self.width, self.channels)
        return (Tensor("input", shape, self.input_type),)

    @property
    def result(self) -> Tensor:
        shape = (self.batch, *self.window.positions, self.channels)
        return Tensor("result", shape, self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        parallel = (Loop(size, "parallel") for size in self.result.shape)
        return (*parallel, *(Loop(size, "reduction") for size in self.window.shape))

    @property
    def root(self) -> str:
        return f"linalg.pooling_nhwc_{self.combiner}"

    @property
    def flops(self) -> int:
        return self.result.elements * self.kernel_h * self.kernel_w

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        return None if self.combiner == "sum" else self.combiner

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "batch_count": self.batch,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            "kernel": f"{self.kernel_h}x{self.kernel_w}",
            "stride": f"{self.stride_h}x{self.stride_w}",
            "dilation": f"{self.dilation_h}x{self.dilation_w}",
            "combiner": self.combiner,
            "lhs": self.input_type.value,
            "result": self.result_type.value,
        }

    def check(self) -> None:
        check_sizes(self.kind, {"batch": self.batch, "channels": self.channels})
        self.window.check(self.kind)
        check_types(self.kind, (self.input_type,), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        element, result = self.result_type, self.result.mlir
        # linalg takes the size of the window from an operand whose elements are not read.
        window = Tensor("window", self.window.shape, self.input_type).mlir
        identities = {"sum": element.zero, "max": lowest(element), "min": highest(element)}
        attributes = ", ".join(filter(None, (self.window.attributes, root_attributes)))
        return f"""
            %identity = arith.constant {identities[self.combiner]}
            %window = tensor.empty() : {window}
            %fill = linalg.fill ins(%identity : {element.value}) outs({destination} : {result}) -> {result}
            %pooled = {self.root} {{{attributes}}} ins(%input, %window : {self.inputs[0].mlir}, {window}) outs(%fill : {result}) -> {result}
            return %pooled : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        image = widen(inputs[0])
        combine = {"sum": numpy.add, "max": numpy.maximum, "min": numpy.minimum}[self.combiner]
        bound = numpy.add if self.combiner == "sum" else numpy.maximum
        pixels = [image[:, rows, columns, :] for *_, rows, columns in self.window.places()]
        values, magnitude = pixels[0].copy(), numpy.abs(pixels[0])
        for each in pixels[1:]:
            combine(values, each, out=values)
            bound(magnitude, numpy.abs(each), out=magnitude)
        return Reference(values, magnitude)
