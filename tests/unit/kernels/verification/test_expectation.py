"""What kernels are compared with, and how exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.verification.expectation import expectation_of, expected_result
from actiondbg.kernels.verification.reference_cache import ReferenceCache
from actiondbg.kernels.verification.reference_providers import find_reference_provider

_F16, _BF16, _F32 = ElementType.F16, ElementType.BF16, ElementType.F32
_I8, _I32 = ElementType.I8, ElementType.I32


@pytest.mark.parametrize(
    ("types", "k", "method"),
    [
        ((_F32, _F32, _F32), 1000, "equal"),
        ((_I8, _I8, _I32), 100_000, "equal"),
        ((_F16, _F16, _F32), 1000, "equal"),
        ((_F16, _F16, _F16), 100, "equal"),
        ((_F16, _F16, _F16), 2000, "bound 8 u |A||B|"),
        ((_BF16, _BF16, _BF16), 200, "bound 8 u |A||B|"),
    ],
)
def test_results_are_equal_where_sums_are_exact(
    types: tuple[ElementType, ElementType, ElementType], k: int, method: str
) -> None:
    expectation = expected_result(Matmul(4, 5, k, *types))
    assert expectation.method == method
    assert (expectation.bound is None) == (method == "equal")


@pytest.mark.parametrize("k", [64, 1000, 5000])
@pytest.mark.parametrize("kind", [_F16, _F32])
def test_right_results_are_within_the_bound_in_any_order_of_adding(
    kind: ElementType, k: int
) -> None:
    operation = Matmul(16, 16, k, kind, kind, kind)
    expectation = expectation_of(operation, "reals", find_reference_provider("numpy"))
    assert expectation.bound is not None
    lhs, rhs = expectation.operands
    total = np.zeros((16, 16), kind.dtype)
    for each in range(k):  # one at a time, each sum rounded
        total = (total + lhs[:, each : each + 1] * rhs[each : each + 1, :]).astype(kind.dtype)
    assert (np.abs(total.astype(float) - expectation.values) <= expectation.bound).all()


def test_a_missing_term_is_outside_of_the_bound() -> None:
    expectation = expected_result(Matmul(8, 8, 4000, _F16, _F16, _F16))
    assert expectation.bound is not None
    lhs, rhs = (each.astype(float) for each in expectation.operands)
    short = lhs[:, :-16] @ rhs[:-16, :]
    assert (np.abs(short - expectation.values) > expectation.bound).any()


def test_an_expectation_is_computed_once_and_again_if_a_file_is_damaged(tmp_path: Path) -> None:
    operation = Matmul(4, 6, 200, _BF16, _BF16, _BF16)
    folder = GeneratedFolder(tmp_path)
    made = ReferenceCache(folder).expectation(operation)
    files = folder.of_operation(operation) / "reference"
    times = {each: each.stat().st_mtime_ns for each in files.glob("*.npy")}
    assert sorted(each.name for each in times) == [
        "bound.npy",
        "expected.npy",
        "lhs.npy",
        "rhs.npy",
    ]
    read = ReferenceCache(folder).expectation(operation)
    assert {each: each.stat().st_mtime_ns for each in times} == times
    for one, other in zip(made.operands, read.operands, strict=True):
        assert one.dtype == other.dtype
        assert (one == other).all()
    assert (made.values == read.values).all()
    for path in times:
        path.write_bytes(path.read_bytes()[:-5])
        again = ReferenceCache(folder).expectation(operation)
        assert (again.values == made.values).all()
        assert again.method == made.method
