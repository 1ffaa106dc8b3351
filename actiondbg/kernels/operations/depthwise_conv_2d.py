"""Convolution of each channel with a filter of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_sizes, check_types
from actiondbg.kernels.operations.wide_arrays import widen
from actiondbg.kernels.operations.window import Axis, Window

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class DepthwiseConv2d(Operation):
    """A convolution of each channel of images, in the order nhwc, without padding.

    Attributes:
        batch: the number of images.
        height: rows of an image.
        width: columns of an image.
        channels: of an image and of the result.
        kernel_h: rows of a filter.
        kernel_w: columns of a filter.
        stride_h: the rows from one position of the filter to the next.
        stride_w: the columns.
        dilation_h: the rows from one element of the filter to the next.
        dilation_w: the columns.
        input_type: of the images.
        filter_type: of the filters.
        result_type: of the result and the accumulator.
    """

    kind: ClassVar[str] = "depthwise_conv_2d"
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
    input_type: ElementType = ElementType.F32
    filter_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @property
    def window(self) -> Window:
        """The window that a filter is."""
        return Window(
            Axis(self.height, self.kernel_h, self.stride_h, self.dilation_h),
            Axis(self.width, self.kernel_w, self.stride_w, self.dilation_w),
        )

    @property
    def name(self) -> str:
        image = f"{self.batch}x{self.height}x{self.width}x{self.channels}"
        filters = f"{self.kernel_h}x{self.kernel_w}"
        types = f"{self.input_type.value}_{self.filter_type.value}_{self.result_type.value}"
        return f"{self.kind}_nhwc_hwc_{image}_{filters}_{self.window.name}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        image = (self.batch, self.height, self.width, self.channels)
        filters = (*self.window.shape, self.channels)
        return (
            Tensor("input", image, self.input_type),
            Tensor("filter", filters, self.filter_type),
        )

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
        return "linalg.depthwise_conv_2d_nhwc_hwc"

    @property
    def flops(self) -> int:
        return 2 * self.result.elements * self.kernel_h * self.kernel_w

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "batch_count": self.batch,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            "kernel": f"{self.kernel_h}x{self.kernel_w}",
            "stride": f"{self.stride_h}x{self.stride_w}",
            "dilation": f"{self.dilation_h}x{self.dilation_w}",
            "layout": "nhwc_hwc",
            "lhs": self.input_type.value,
            "rhs": self.filter_type.value,
            "result": self.result_type.value,
        }

    def check(self) -> None:
        check_sizes(self.kind, {"batch": self.batch, "channels": self.channels})
        self.window.check(self.kind)
        check_types(self.kind, (self.input_type, self.filter_type), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        image, filters = self.inputs
        result = self.result.mlir
        attributes = ", ".join(filter(None, (self.window.attributes, root_attributes)))
        return f"""
            %zero = arith.constant {self.result_type.zero}
            %fill = linalg.fill ins(%zero : {self.result_type.value}) outs({destination} : {result}) -> {result}
            %convolution = {self.root} {{{attributes}}} ins(%input, %filter : {image.mlir}, {filters.mlir}) outs(%fill : {result}) -> {result}
            return %convolution : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        image, filters = (widen(each) for each in inputs)
        values = numpy.zeros(self.result.shape, image.dtype)
        magnitude = numpy.zeros(self.result.shape, image.dtype)
        for row, column, rows, columns in self.window.places():
            products = image[:, rows, columns, :] * filters[row, column]
            values += products
            magnitude += numpy.abs(products)
        return Reference(values, magnitude)
