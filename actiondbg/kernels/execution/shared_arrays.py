"""Arrays that one process passes to another in a file of shared memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

import numpy

from actiondbg.kernels.model.tensor import Tensor

_ALIGNMENT = 64


def share(arrays: Sequence[numpy.ndarray]) -> int:
    """Copy arrays into a new file of shared memory.

    Returns:
        The descriptor of the file, which ``receive`` reads; the caller closes it.
    """
    descriptor = os.memfd_create("actiondbg-kernel")
    with open(descriptor, "wb", closefd=False) as file:
        for array in arrays:
            # Viewed as bytes: the types of ml_dtypes have no buffer format.
            content = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
            file.write(content.data)
            file.write(bytes(-content.size % _ALIGNMENT))
        if not arrays:  # an empty file cannot be mapped
            file.write(bytes(_ALIGNMENT))
    return descriptor


def receive(descriptor: int, tensors: Sequence[Tensor]) -> list[numpy.ndarray]:
    """Map the arrays that ``share`` copied, read-only; the descriptor is closed.

    Raises:
        ValueError: the file is too small.
    """
    try:
        needed = sum(each.bytes + -each.bytes % _ALIGNMENT for each in tensors)
        if os.fstat(descriptor).st_size < needed:
            raise ValueError(f"The arrays need {needed} bytes.")
        memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
    arrays: list[numpy.ndarray] = []
    offset = 0
    for tensor in tensors:
        content = numpy.frombuffer(memory, numpy.uint8, tensor.bytes, offset)
        arrays.append(content.view(tensor.type.dtype).reshape(tensor.shape))
        offset += tensor.bytes + -tensor.bytes % _ALIGNMENT
    return arrays
