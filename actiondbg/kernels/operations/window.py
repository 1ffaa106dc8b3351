"""Windows that move over the rows and columns of an image, and kinds that have one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import check_sizes, check_types


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


class WindowedOperation(Operation):
    """A kind that moves a window over images, in the order nhwc; a subclass has these fields.

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

    batch: int
    height: int
    width: int
    channels: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
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
