"""Windowed operations: convolutions of images, and the maximum, minimum or sum of each window."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Argument, ElementType, Loop, Operation, Reference, Tensor
from actiondbg.kernels.operations.arithmetic import (
    absolute_product,
    check_sizes,
    check_types,
    identity,
    maximum,
    minimum,
    product,
    widen,
)
from actiondbg.kernels.packages import np

ConvLayout = Literal["nhwc_hwcf", "nchw_fchw"]
PoolingCombiner = Literal["max", "min", "sum"]


@dataclass(frozen=True)
class Axis:
    """A window along rows or columns.

    Attributes:
        size: of the image.
        window: elements of the window.
        stride: the distance of two positions of the window.
        dilation: the distance of two elements of the window.
    """

    size: int
    window: int
    stride: int
    dilation: int

    @property
    def extent(self) -> int:
        """The elements from the first to the last of a window."""
        return (self.window - 1) * self.dilation + 1

    @property
    def positions(self) -> int:
        """The positions of the window: the size of the result."""
        return (self.size - self.extent) // self.stride + 1

    def elements(self, at: int) -> slice:
        """Return the elements of the image that are at one place of the window."""
        start = at * self.dilation
        return slice(start, start + (self.positions - 1) * self.stride + 1, self.stride)


@dataclass(frozen=True)
class Window:
    """A two-dimensional window, which stays inside the image: there is no padding."""

    rows: Axis
    columns: Axis

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of the window."""
        return self.rows.window, self.columns.window

    @property
    def positions(self) -> tuple[int, int]:
        """The rows and columns of the result."""
        return self.rows.positions, self.columns.positions

    @property
    def attributes(self) -> str:
        strides = f"dense<[{self.rows.stride}, {self.columns.stride}]> : tensor<2xi64>"
        dilations = f"dense<[{self.rows.dilation}, {self.columns.dilation}]> : tensor<2xi64>"
        return f"dilations = {dilations}, strides = {strides}"

    @property
    def name(self) -> str:
        """Strides and dilations, such as ``s2x2_d1x1``."""
        strides = f"s{self.rows.stride}x{self.columns.stride}"
        return f"{strides}_d{self.rows.dilation}x{self.columns.dilation}"

    def places(self) -> Iterator[tuple[int, int, slice, slice]]:
        """Yield row and column of each place of the window, with the elements that are there."""
        for row in range(self.rows.window):
            for column in range(self.columns.window):
                yield row, column, self.rows.elements(row), self.columns.elements(column)

    def check(self, kind: str) -> None:
        """Check that strides, dilations and window fit the image.

        Raises:
            UsageError: they do not.
        """
        for name, axis in (("height", self.rows), ("width", self.columns)):
            short = name[0]
            check_sizes(
                kind,
                {
                    name: axis.size,
                    f"kernel_{short}": axis.window,
                    f"stride_{short}": axis.stride,
                    f"dilation_{short}": axis.dilation,
                },
            )
            if axis.extent > axis.size:
                raise UsageError(
                    f"The kernel of a {kind} is larger than its input: {axis.window} elements with "
                    f"dilation {axis.dilation} span {axis.extent}, the {name} is {axis.size}."
                )


@dataclass(frozen=True)
class _Images(Operation):
    batch: int
    height: int
    width: int
    channels: int


@dataclass(frozen=True)
class _Window(Operation):
    kernel_h: int
    kernel_w: int
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1


class WindowedOperation(_Window, _Images):  # fields of the last base come first
    """A kind that moves a window over images, in the order nhwc; a subclass adds the types.

    Attributes:
        batch: the number of images.
        height: rows of an image.
        width: columns of an image.
        channels: of an image.
        kernel_h: rows of the window.
        kernel_w: columns of the window.
        stride_h: the rows from one position of the window to the next.
        stride_w: the columns.
        dilation_h: the rows from one element of the window to the next.
        dilation_w: the columns.
        input_type: of the images.
        result_type: of the result and the accumulator.
    """

    input_type: ElementType
    result_type: ElementType

    @property
    def window(self) -> Window:
        return Window(
            Axis(self.height, self.kernel_h, self.stride_h, self.dilation_h),
            Axis(self.width, self.kernel_w, self.stride_w, self.dilation_w),
        )

    @property
    def image(self) -> tuple[int, ...]:
        return (self.batch, self.height, self.width, self.channels)

    @property
    def result(self) -> Tensor:
        shape = (self.batch, *self.window.positions, self.channels)
        return Tensor("result", shape, self.result_type)

    @property
    def sums(self) -> tuple[int, ...]:
        """The sizes of the loops that are reduced."""
        return self.window.shape

    @property
    def loops(self) -> tuple[Loop, ...]:
        parallel = (Loop(size, "parallel") for size in self.result.shape)
        return (*parallel, *(Loop(size, "reduction") for size in self.sums))

    @property
    def channel_counts(self) -> Mapping[str, int]:
        """The channels of the images, and of the result where they differ, by their fields."""
        return {"channels": self.channels}

    @property
    @abstractmethod
    def variant(self) -> Mapping[str, str]:
        """The field that selects a variant of the kind, with its value."""

    def arguments(self) -> Mapping[str, Argument]:
        operands = zip(("lhs", "rhs"), self.inputs, strict=False)  # pooling has one operand
        return {
            "batch_count": self.batch,
            "height": self.height,
            "width": self.width,
            **self.channel_counts,
            "kernel": f"{self.kernel_h}x{self.kernel_w}",
            "stride": f"{self.stride_h}x{self.stride_w}",
            "dilation": f"{self.dilation_h}x{self.dilation_w}",
            **self.variant,
            **{name: each.type.value for name, each in operands},
            "result": self.result_type.value,
        }

    def check(self) -> None:
        check_sizes(self.kind, {"batch": self.batch, **self.channel_counts})
        self.window.check(self.kind)
        check_types(self.kind, tuple(each.type for each in self.inputs), self.result_type)


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
class _FilteredImages(_Images):
    filters: int


@dataclass(frozen=True)
class Conv2d(Convolution, _FilteredImages):
    """A convolution of images with filters, without padding: the input is as the caller pads it.

    Attributes, besides the fields of ``WindowedOperation``:
        filters: channels of the result.
        layout: the order of dimensions in memory, of images and of filters.
    """

    kind: ClassVar[str] = "conv_2d"
    layout: ConvLayout = "nhwc_hwcf"
    input_type: ElementType = ElementType.F32
    filter_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (
            cls(1, 18, 18, 16, 32, 3, 3),
            cls(1, 17, 17, 16, 32, 3, 3, 2, 2),
            cls(1, 18, 18, 16, 32, 3, 3, layout="nchw_fchw"),
        )

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
        image, filters = (widen(each) for each in inputs)
        if not self._channels_last:
            image, filters = image.transpose(0, 2, 3, 1), filters.transpose(2, 3, 1, 0)
        shape = (self.batch, *self.window.positions, self.filters)
        values = np.zeros(shape, image.dtype)
        magnitude = np.zeros(shape, image.dtype)
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
    input_type: ElementType = ElementType.F32
    filter_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls(1, 18, 18, 32, 3, 3),)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        filters = (*self.window.shape, self.channels)
        return (
            Tensor("input", self.image, self.input_type),
            Tensor("filter", filters, self.filter_type),
        )

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        image, filters = (widen(each) for each in inputs)
        values = np.zeros(self.result.shape, image.dtype)
        magnitude = np.zeros(self.result.shape, image.dtype)
        for row, column, rows, columns in self.window.places():
            products = image[:, rows, columns, :] * filters[row, column]
            values += products
            magnitude += np.abs(products)
        return Reference(values, magnitude)


@dataclass(frozen=True)
class Pooling(WindowedOperation):
    """The maximum, minimum or sum of each window of images, in the order nhwc, without padding.

    Attributes, besides the fields of ``WindowedOperation``:
        combiner: the operation over a window.
    """

    kind: ClassVar[str] = "pooling"
    combiner: PoolingCombiner = "max"
    input_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls(1, 16, 16, 32, 2, 2, 2, 2),)

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
        image = widen(inputs[0])
        combine = {"sum": np.add, "max": maximum, "min": minimum}[self.combiner]
        bound = np.add if self.combiner == "sum" else np.maximum
        pixels = [image[:, rows, columns, :] for *_, rows, columns in self.window.places()]
        values, magnitude = pixels[0].copy(), np.abs(pixels[0])
        for each in pixels[1:]:
            values = combine(values, each)
            bound(magnitude, np.abs(each), out=magnitude)
        return Reference(values, magnitude, signed_zeros=self.extreme is not None)
