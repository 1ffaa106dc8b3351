"""Convolutions of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.wide_arrays import absolute_product, product, widen
from actiondbg.kernels.operations.window import WindowedOperation

if TYPE_CHECKING:
    import numpy as np

ConvLayout = Literal["nhwc_hwcf", "nchw_fchw"]


class Convolution(WindowedOperation):
    """A convolution, whose window is a filter; a subclass has the field ``filter_type``."""

    filter_type: ElementType

    @property
    def order(self) -> str:
        """The order of dimensions in memory, of images and of filters."""
        return "nhwc_hwc"

    @property
    def name(self) -> str:
        image = "x".join(map(str, self.image))
        types = (self.input_type, self.filter_type, self.result_type)
        written = "_".join(each.value for each in types)
        return f"{self.kind}_{self.order}_{image}_{self._filters}_{self.window.name}_{written}"

    @property
    def _filters(self) -> str:
        return f"{self.kernel_h}x{self.kernel_w}"

    @property
    def root(self) -> str:
        return f"linalg.{self.kind}_{self.order}"

    @property
    def flops(self) -> int:
        return 2 * self.result.elements * prod(self.sums)

    @property
    def variant(self) -> Mapping[str, str]:
        return {"layout": self.order}

    def body(self, destination: str, root_attributes: str) -> str:
        image, filters = self.inputs
        result = self.result.mlir
        attributes = ", ".join(filter(None, (self.window.attributes, root_attributes)))
        return f"""
            %zero = arith.constant {self.result_type.zero}
            %fill = linalg.fill ins(%zero : {self.result_type.value}) outs({destination} : {result}) -> {result}
            %convolution = {self.root} {{{attributes}}} ins(%input, %filter : {image.mlir}, {filters.mlir}) outs(%fill : {result}) -> {result}
            return %convolution : {result}"""  # noqa: E501


@dataclass(frozen=True)
class Conv2d(Convolution):
    """A convolution of images with filters, without padding: the input is as the caller pads it.

    Attributes, besides the fields of ``WindowedOperation``:
        filters: channels of the result.
        layout: the order of dimensions in memory, of images and of filters.
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
    def order(self) -> str:
        return self.layout

    @property
    def _filters(self) -> str:
        return f"{super()._filters}x{self.filters}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        if self._channels_last:
            image = self.image
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
    def sums(self) -> tuple[int, ...]:
        if self._channels_last:
            return (self.kernel_h, self.kernel_w, self.channels)
        return (self.channels, self.kernel_h, self.kernel_w)

    @property
    def channel_counts(self) -> Mapping[str, int]:
        return {**super().channel_counts, "filters": self.filters}

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


@dataclass(frozen=True)
class DepthwiseConv2d(Convolution):
    """A convolution of each channel of images, in the order nhwc, without padding."""

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
    def inputs(self) -> tuple[Tensor, ...]:
        filters = (*self.window.shape, self.channels)
        return (
            Tensor("input", self.image, self.input_type),
            Tensor("filter", filters, self.filter_type),
        )

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
