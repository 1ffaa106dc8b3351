"""The root of a dispatch, as IREE's code generation gets it."""

from __future__ import annotations

from math import prod

from actiondbg.kernels.model.operation import Operation

_PRODUCTS = ("linalg.matmul", "linalg.batch_matmul")
_CHANNELS_LAST = "linalg.conv_2d_nhwc_hwcf"
# The loops of convolutions: image, row, column and channel of the result, row and column of the
# filter, channel of the input.
_CONVOLUTIONS = {
    _CHANNELS_LAST: ("n", "oh", "ow", "oc", "kh", "kw", "ic"),
    "linalg.conv_2d_nchw_fchw": ("n", "oc", "oh", "ow", "ic", "kh", "kw"),
}


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
    """Whether the root is a convolution of images.

    IREE makes something else of one by a filter of 1 x 1, with strides too.
    """
    return operation.root in _CONVOLUTIONS and not _has_filter_of_one(operation)


def channels_are_last(convolution: Operation) -> bool:
    """Whether the channels of a pixel are beside each other, and not the pixels of a channel."""
    return convolution.root == _CHANNELS_LAST


def convolution_loops(convolution: Operation) -> dict[str, int]:
    """Return the sizes of a convolution's loops by their names, in their order."""
    sizes = (loop.size for loop in convolution.loops)
    return dict(zip(_CONVOLUTIONS[convolution.root], sizes, strict=True))


def is_pointwise(operation: Operation) -> bool:
    """Whether the root is a convolution by a filter of 1 x 1 that IREE makes a product."""
    if operation.root != _CHANNELS_LAST or not _has_filter_of_one(operation):
        return False
    loops = convolution_loops(operation)
    return operation.inputs[0].shape[1:3] == (loops["oh"], loops["ow"])


def _has_filter_of_one(convolution: Operation) -> bool:
    loops = convolution_loops(convolution)
    return loops["kh"] == loops["kw"] == 1
