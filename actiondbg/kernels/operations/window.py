"""Windows that move over the rows and columns of an image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from actiondbg.errors import UsageError
from actiondbg.kernels.operations.element_types import check_sizes


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
    """A two-dimensional window, which stays inside the image: there is no padding.

    Attributes:
        rows: along the height.
        columns: along the width.
    """

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
        """The attributes of strides and dilations."""
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
