"""What kernels are compared with, and how exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import ElementType, Operation, Reference
from actiondbg.kernels.operations.matmul import Matmul, MatmulSoftmax
from actiondbg.kernels.verification.expectation import (
    ReferenceCache,
    expectation_of,
    expected_result,
    expected_results,
)
from actiondbg.kernels.verification.reference_providers import find_reference_provider
from actiondbg.kernels.verification.result_check import compare
from tests.elements import some

_F16, _BF16, _F32 = ElementType.F16, ElementType.BF16, ElementType.F32
_I8, _I32 = ElementType.I8, ElementType.I32


@pytest.mark.parametrize(
    ("types", "k", "method"),
    [
        ((_F32, _F32, _F32), 1000, "equal"),
        ((_I8, _I8, _I32), 100_000, "equal"),
        ((_F16, _F16, _F32), 1000, "equal"),
        ((_F16, _F16, _F16), 100, "equal"),
        ((_F16, _F16, _F16), 2000, "equal"),
        ((_BF16, _BF16, _BF16), 200, "equal"),
        ((_F16, _F16, _F16), 8000, "equal"),
        ((_BF16, _BF16, _BF16), 2000, "equal"),
        ((_I8, _I8, _I32), 300_000, "equal"),
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


def test_missing_terms_are_outside_of_the_bound() -> None:
    operation = Matmul(8, 8, 8000, _F16, _F16, _F16)
    expectation = expectation_of(operation, "reals", find_reference_provider("numpy"))
    assert expectation.bound is not None
    lhs, rhs = (each.astype(float) for each in expectation.operands)
    short = lhs[:, :-200] @ rhs[:-200, :]
    assert (np.abs(short - expectation.values) > expectation.bound).any()


def test_an_expectation_is_computed_once_and_again_if_a_file_is_damaged(tmp_path: Path) -> None:
    operation = Matmul(4, 6, 2000, _BF16, _BF16, _BF16)
    folder = GeneratedFolder(tmp_path)
    made = ReferenceCache(folder).expectations(operation)[0]
    files = folder.of_operation(operation) / "reference/signs_0"
    times = {each: each.stat().st_mtime_ns for each in files.glob("*.npy")}
    assert sorted(each.name for each in times) == ["expected.npy", "lhs.npy", "rhs.npy"]
    read = ReferenceCache(folder).expectations(operation)[0]
    assert {each: each.stat().st_mtime_ns for each in times} == times
    for one, other in some(zip(made.operands, read.operands, strict=True)):
        assert one.dtype == other.dtype
        assert (one == other).all()
    assert (made.values == read.values).all()
    for path in times:
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        again = ReferenceCache(folder).expectations(operation)[0]
        assert (again.values == made.values).all()
        assert again.method == made.method
        assert path.read_bytes() == content


def test_integers_use_the_whole_range_unless_they_would_wrap_around() -> None:
    wide = expected_result(Matmul(30, 30, 30, _I8, _I8, _I32))
    assert {int(wide.operands[0].min()), int(wide.operands[0].max())} == {-128, 127}
    small = expected_result(Matmul(4, 4, 8, _I8, _I8, _I8))
    assert small.method == "equal"
    assert abs(small.operands[0]).max() == 3
    wrapping = expected_result(Matmul(4, 4, 800, _I8, _I8, _I8))
    assert wrapping.method == "equal modulo 2**8"


def test_sums_of_one_sign_have_a_larger_bound() -> None:
    short, long = (expected_result(MatmulSoftmax(4, n, 16)) for n in (2, 4096))
    assert short.bound is not None
    assert long.bound is not None
    growth = (long.bound / long.values).mean() / (short.bound / short.values).mean()
    assert 2 < growth < 64  # between no growth and that of the number of terms


def test_a_reference_of_another_shape_is_refused() -> None:
    def compute(operation: Operation, operands: Sequence[np.ndarray]) -> Reference:
        reference = operation.reference(operands)
        return Reference(reference.values.T, reference.magnitude.T)

    with pytest.raises(KernelError, match=r"The reference has the shape \(6, 4\)"):
        expectation_of(Matmul(4, 6, 8), "integers", compute)


def _program(body: str) -> Operation:
    """Return an elementwise program of f32."""
    pytest.importorskip("mlir.ir")
    from actiondbg.kernels.programs.extraction import cut
    from actiondbg.kernels.programs.structured_operation import parse_program

    text = f"""func.func @f(%x: tensor<33x65xf32>) -> tensor<33x65xf32> {{
      %e = tensor.empty() : tensor<33x65xf32>
      %y = linalg.generic {{
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}}
          ins(%x : tensor<33x65xf32>) outs(%e : tensor<33x65xf32>) {{
      ^bb0(%a: f32, %old: f32):
        {body}
        linalg.yield %r : f32
      }} -> tensor<33x65xf32>
      return %y : tensor<33x65xf32>
    }}"""
    (operation,) = cut(parse_program(text, "The program")).operations
    return operation


_CHAINS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "narrowed": (
        "%n = arith.truncf %a : f32 to f16\n%r = arith.extf %n : f16 to f32",
        lambda x: x.astype(np.float16).astype(np.float32),
    ),
    "overflow": (
        "%s = arith.mulf %a, %a : f32\n%t = arith.addf %s, %a : f32\n%r = arith.subf %t, %s : f32",
        lambda x: x * x + x - x * x,
    ),
    "rounded to integers": (
        "%c = arith.constant 12582912.0 : f32\n%s = arith.addf %a, %c : f32\n"
        "%r = arith.subf %s, %c : f32",
        lambda x: x + np.float32(12582912) - np.float32(12582912),
    ),
}


@pytest.mark.parametrize("chain", _CHAINS)
def test_chains_that_round_on_the_way_are_right(chain: str) -> None:
    body, compute = _CHAINS[chain]
    for expectation in some(expected_results(_program(body))):
        with np.errstate(all="ignore"):
            result = compute(expectation.operands[0])
        assert not compare(result, expectation).wrong.any(), expectation.run


def test_a_maximum_of_rounded_terms_is_right() -> None:
    pytest.importorskip("mlir.ir")
    from actiondbg.kernels.programs.extraction import cut
    from actiondbg.kernels.programs.structured_operation import parse_program

    text = """func.func @f(%x: tensor<33x65xf32>, %y: tensor<33x65xf32>) -> tensor<33xf32> {
      %lowest = arith.constant 0xFF800000 : f32
      %factor = arith.constant 0.1 : f32
      %e = tensor.empty() : tensor<33xf32>
      %fill = linalg.fill ins(%lowest : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
      %r = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x, %y : tensor<33x65xf32>, tensor<33x65xf32>) outs(%fill : tensor<33xf32>) {
      ^bb0(%a: f32, %b: f32, %old: f32):
        %s = arith.mulf %a, %factor : f32
        %t = arith.addf %s, %b : f32
        %m = arith.maximumf %t, %old : f32
        linalg.yield %m : f32
      } -> tensor<33xf32>
      return %r : tensor<33xf32>
    }"""
    (operation,) = cut(parse_program(text, "The program")).operations
    for expectation in some(expected_results(operation)):
        x, y = expectation.operands
        with np.errstate(all="ignore"):
            result = (x * np.float32(0.1) + y).max(axis=1)
        assert not compare(result, expectation).wrong.any(), expectation.run


def test_a_reference_that_fails_is_the_fault_of_one_operation() -> None:
    def compute(operation: Operation, operands: Sequence[np.ndarray]) -> Reference:
        raise IndexError("index 6 is out of bounds")

    with pytest.raises(KernelError, match="The reference failed: IndexError: index 6 is out of"):
        expectation_of(Matmul(4, 6, 8), "integers", compute)
