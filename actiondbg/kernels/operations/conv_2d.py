"""Convolution of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_sizes, check_types
from actiondbg.kernels.operations.wide_arrays import absolute_product, product, widen
from actiondbg.kernels.operations.window import Axis, Window

if TYPE_CHECKING:
    import numpy as np

ConvLayout = Literal["nhwc_hwcf", "nchw_fchw"]


@dataclass(frozen=True)
class Conv2d(Operation):
    """A convolution of images with filters, without padding: the input is as the caller pads it.

    Attributes:
        batch: the number of images.
        height: rows of an image.
        width: columns of an image.
        channels: of an image.
        filters: channels of the result.
        kernel_h: rows of a filter.
        kernel_w: columns of a filter.
        stride_h: the rows from one position of the filter to the next.
        stride_w: the columns.
        dilation_h: the rows from one element of the filter to the next.
        dilation_w: the columns.
        layout: the order of dimensions in memory, of images and of filters.
        input_type: of the images.
        filter_type: of the filters.
        result_type: of the result and the accumulator.
    """

    kind: ClassVar[str] = "conv_2d"
    batch: int
    height: int
    width: int
    channels: int
    filters: int
    kernel_h: int
    kernel_w: int
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    layout: ConvLayout = "nhwc_hwcf"
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
        filters = f"{self.kernel_h}x{self.kernel_w}x{self.filters}"
        types = f"{self.input_type.value}_{self.filter_type.value}_{self.result_type.value}"
        return f"{self.kind}_{self.layout}_{image}_{filters}_{self.window.name}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        if self._channels_last:
            image = (self.batch, self.height, self.width, self.channels)
            filters = (self.kernel_h, self.kernel_w, self.channels, self.filters)
        else:
            image = (self.batch, self.channels, self.height, self.width)
            filters = (self.filters, self.channels, self.kernel_h, self.kernel_w)
        return (
            Tensor("input", image, self.input_type),
            Tensor("filter", filters, self.filter_type),
        )

    @property
    def result(self) -> Tensor:
        rows, columns = self.window.positions
        shape = (self.batch, rows, columns, self.filters)
        if not self._channels_last:
            shape = (self.batch, self.filters, rows, columns)
        return Tensor("result", shape, self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        sums = (self.kernel_h, self.kernel_w, self.channels)
        if not self._channels_last:
            sums = (self.channels, self.kernel_h, self.kernel_w)
        parallel = (Loop(size, "parallel") for size in self.result.shape)
        return (*parallel, *(Loop(size, "reduction") for size in sums))

    @property
    def root(self) -> str:
        return f"linalg.conv_2d_{self.layout}"

    @property
    def flops(self) -> int:
        return 2 * self.result.elements * self.kernel_h * self.kernel_w * self.channels

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "batch_count": self.batch,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            "filters": self.filters,
            "kernel": f"{self.kernel_h}x{self.kernel_w}",
            "stride": f"{self.stride_h}x{self.stride_w}",
            "dilation": f"{self.dilation_h}x{self.dilation_w}",
            "layout": self.layout,
            "lhs": self.input_type.value,
            "rhs": self.filter_type.value,
            "result": self.result_type.value,
        }

    def check(self) -> None:
        sizes = {"batch": self.batch, "channels": self.channels, "filters": self.filters}
        check_sizes(self.kind, sizes)
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
        """Add up a matrix product for each place of the filter: no copy of the whole input."""
        import numpy

        image, filters = (widen(each) for each in inputs)
        if not self._channels_last:
            image, filters = image.transpose(0, 2, 3, 1), filters.transpose(2, 3, 1, 0)
        shape = (self.batch, *self.window.positions, self.filters)
        values = numpy.zeros(shape, image.dtype)
        magnitude = numpy.zeros(shape, image.dtype)
        for row, column, rows, columns in self.window.places():
            pixels = image[:, rows, columns, :].reshape(-1, self.channels)
            values += product(pixels, filters[row, column]).reshape(shape)
            magnitude += absolute_product(pixels, filters[row, column]).reshape(shape)
        if not self._channels_last:
            values, magnitude = values.transpose(0, 3, 1, 2), magnitude.transpose(0, 3, 1, 2)
        return Reference(values, magnitude)

    @property
    def _channels_last(self) -> bool:
        return self.layout == "nhwc_hwcf"
