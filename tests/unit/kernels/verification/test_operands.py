"""The operands of kernels."""

from __future__ import annotations

import numpy

from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.verification.operands import make_operands
from tests.fakes.kernels.operations import I8, I32


def test_operands_are_the_same_in_each_run() -> None:
    first, again = (make_operands(Matmul(8, 8, 8), "integers") for _ in range(2))
    assert [each.dtype.name for each in first] == ["float32", "float32"]
    assert [each.shape for each in first] == [(8, 8), (8, 8)]
    assert all(map(numpy.array_equal, first, again))
    assert set(numpy.unique(first[0])) == {-3, -2, -1, 1, 2, 3}


def test_the_whole_range_of_a_byte_is_used() -> None:
    lhs, _ = make_operands(Matmul(64, 1, 64, I8, I8, I32), "whole range")
    assert set(numpy.unique(lhs)) == set(range(-128, 128)) - {0}
