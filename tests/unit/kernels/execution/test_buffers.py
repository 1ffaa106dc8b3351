"""Buffers between pages that cannot be accessed, and arrays passed between processes."""

from __future__ import annotations

import ctypes
import mmap
import os
import re

import numpy
import pytest

from actiondbg.kernels.execution.buffers import (
    GuardedBuffer,
    allocate,
    poison,
    receive,
    share,
    unwritten,
)
from actiondbg.kernels.execution.kernel import Reply, decode_reply
from actiondbg.kernels.model import ElementType, Tensor
from tests.elements import some

_TYPES = [pytest.param(each, id=each.value) for each in ElementType]


def _tensor(shape: tuple[int, ...], kind: ElementType = ElementType.F32) -> Tensor:
    return Tensor("result", shape, kind)


@pytest.mark.parametrize("kind", _TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (1024,), (7, 1000)])
def test_a_buffer_ends_within_64_bytes_of_a_page(kind: ElementType, shape: tuple[int, ...]) -> None:
    buffer = GuardedBuffer(_tensor(shape, kind))
    assert buffer.array.shape == shape
    assert buffer.array.dtype == kind.dtype
    address = buffer.array.ctypes.data
    assert address % 64 == 0
    assert -(address + buffer.array.nbytes) % mmap.PAGESIZE < 64
    assert buffer.damage() == ""


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (-1, "The kernel wrote 1 byte before the start of result."),
        (-40, "The kernel wrote 40 bytes before the start of result."),
        (36, "The kernel wrote 1 byte past the end of result."),
        (60, "The kernel wrote 25 bytes past the end of result."),
    ],
)
def test_a_write_around_the_array_is_damage(offset: int, words: str) -> None:
    buffer = GuardedBuffer(_tensor((9,)))
    ctypes.c_uint8.from_address(buffer.array.ctypes.data + offset).value = 1
    assert buffer.damage() == words


def test_what_is_around_an_operand_is_no_pattern_of_the_result() -> None:
    """A maximum of too many elements writes what it has read behind the operands."""
    operand, result = (GuardedBuffer(_tensor((9,))) for _ in range(2))
    ctypes.memmove(result.array.ctypes.data + 36, operand.array.ctypes.data + 36, 12)
    # The last bytes of the patterns may be equal by chance.
    assert re.fullmatch(
        r"The kernel wrote \d+ bytes past the end of result.", result.damage() or ""
    )


def test_an_address_in_a_guarding_page_is_located() -> None:
    buffer = GuardedBuffer(_tensor((16,)))  # fills its last 64 bytes
    start = buffer.array.ctypes.data
    assert buffer.locate(start + 64) == "1 byte past the end of result"
    first_page = start + 64 - mmap.PAGESIZE
    assert (
        buffer.locate(first_page - 1)
        == f"{start - first_page + 1:,} bytes before the start of result"
    )
    assert buffer.locate(start) == ""
    assert buffer.locate(start + 64 + mmap.PAGESIZE) == ""


@pytest.mark.parametrize("kind", _TYPES)
def test_unwritten_elements_are_recognised_but_of_one_byte(kind: ElementType) -> None:
    result = numpy.zeros((2, 3), kind.dtype)
    result[1, 2] = poison(kind.dtype)[0]
    assert unwritten(result).sum() == (0 if kind.size == 1 else 1)
    if kind.is_float:
        assert numpy.isnan(poison(kind.dtype).astype(numpy.float64)).all()


@pytest.mark.parametrize("kind", [ElementType.F16, ElementType.F32, ElementType.F64])
def test_results_begin_as_nan_and_as_large_numbers_of_both_signs(kind: ElementType) -> None:
    """A maximum that ignores NaN hides one, and each maximum hides what is below it."""
    results = [allocate(_tensor((2,), kind)) for _ in range(3)]
    assert all(unwritten(each).all() for each in results)
    values = [float(each[0]) for each in results]
    assert sum(numpy.isnan(values)) == 1
    assert max(each for each in values if each == each) > 6e4
    assert min(each for each in values if each == each) < -6e4


@pytest.mark.parametrize("kind", _TYPES)
def test_arrays_are_passed_in_shared_memory(kind: ElementType) -> None:
    tensors = [_tensor((3, 5), kind), _tensor((), kind), _tensor((1000,), kind)]
    arrays = [
        numpy.arange(each.elements).reshape(each.shape).astype(kind.dtype) for each in tensors
    ]
    received = receive(share(arrays), tensors)
    for one, other in some(zip(arrays, received, strict=True)):
        assert one.dtype == other.dtype
        assert numpy.array_equal(one, other)


def test_a_column_major_array_is_passed_by_its_elements() -> None:
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3).T
    assert numpy.array_equal(receive(share([array]), [_tensor((3, 2))])[0], array)


def test_too_little_shared_memory_is_an_error_and_closed() -> None:
    descriptor = share([numpy.zeros(4, numpy.float32)])
    with pytest.raises(ValueError, match="need 4032 bytes"):
        receive(descriptor, [_tensor((1000,))])
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_reply_is_decoded() -> None:
    for reply in (Reply("bounds", "It wrote.", 0.5, 3, (7, 2**63)), Reply(seconds=None)):
        assert decode_reply(reply.encode()) == reply


@pytest.mark.parametrize(
    "packet", [b"", b"\xff", b"[]", b'["", "", 0, "x", []]', b'{"problem": ""}']
)
def test_what_is_no_reply_is_an_error(packet: bytes) -> None:
    with pytest.raises(ValueError):
        decode_reply(packet)
