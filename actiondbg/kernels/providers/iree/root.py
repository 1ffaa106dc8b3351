"""The root of a dispatch, as IREE's code generation gets it."""

from __future__ import annotations

from math import prod

from actiondbg.kernels.model.operation import Operation

_PRODUCTS = ("linalg.matmul", "linalg.batch_matmul")
_CONVOLUTION = "linalg.conv_2d_nhwc_hwcf"


def root_loops(operation: Operation) -> list[int]:
    """Return the sizes of the root's loops; those of the parallel ones are first."""
    sizes = [loop.size for loop in operation.loops]
    if not is_pointwise(operation):
        return sizes
    *pixels, channels, _, _, inner = sizes
    return [prod(pixels), channels, inner]


def is_product(operation: Operation) -> bool:
    """Whether the root is a product of matrices, with the loops m, n, k after those of a batch."""
    return operation.root in _PRODUCTS or is_pointwise(operation)


def is_convolution(operation: Operation) -> bool:
    """Whether the root is a convolution with the loops n, oh, ow, oc, kh, kw, ic."""
    return operation.root == _CONVOLUTION and not is_pointwise(operation)


def is_pointwise(operation: Operation) -> bool:
    """Whether the root is a convolution by a filter of 1 x 1: IREE makes it a product."""
    if operation.root != _CONVOLUTION:
        return False
    _, height, width, _, *filter_sizes, _ = (loop.size for loop in operation.loops)
    same = operation.inputs[0].shape[1:3] == (height, width)
    return filter_sizes == [1, 1] and same
