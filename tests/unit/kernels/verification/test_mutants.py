"""Wrong kernels of every kind of operation: verification has to find each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from actiondbg.kernels.execution.buffers import poison
from actiondbg.kernels.model import ElementType, Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu, MatmulSoftmax
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling
from actiondbg.kernels.verification.expectation import Expectation, expected_results
from actiondbg.kernels.verification.result_check import compare
from tests.elements import some
from tests.fakes.kernels.loop_kernel import loop_kernel, mutants, rounded, softmax
from tests.fakes.kernels.operations import BF16, F16, F32, F64, I8, I32, OPERATIONS

Arrays = Sequence[np.ndarray]
Kernel = Callable[[Arrays], np.ndarray]
Change = Callable[[np.ndarray], np.ndarray]

_OPERATIONS: list[Operation] = [
    Matmul(16, 16, 64),
    Matmul(16, 24, 100, F16, F16, F16),
    Matmul(16, 24, 2000, F16, F16, F16),
    Matmul(9, 7, 33, I8, I8, I32),
    BatchMatmul(3, 8, 12, 16),
    Conv2d(1, 9, 10, 4, 8, 3, 3),
    DepthwiseConv2d(1, 9, 10, 8, 3, 3),
    MatmulBiasRelu(12, 16, 32),
    MatmulSoftmax(16, 40, 16),
    Elementwise((12, 20), ("add", "mul", "relu")),
    Elementwise((12, 20), ("add", "exp")),
    Reduction((128, 384), (1,), "max"),
    Reduction((128, 384), (0,), "min"),
    Reduction((400,), (0,), "max"),
    Reduction((48, 100), (1,), "max", I8, I8),
    Reduction((48, 100), (1,), "sum"),
    Reduction((500,), (0,), "sum", F16, F16),
    Pooling(1, 12, 12, 8, 3, 3, combiner="max"),
    Pooling(2, 12, 12, 8, 2, 2, 2, 2, combiner="min"),
    Pooling(1, 9, 9, 4, 3, 3, combiner="sum"),
]

# Sizes at which short runs leave holes: long sums and maxima, one result, all types.
_LOOPS: list[Operation] = [
    *OPERATIONS,
    Matmul(16, 24, 100, F16, F16, F16),
    Matmul(6, 5, 700, BF16, BF16),
    Matmul(8, 8, 1000, F64, F64, F64),
    Matmul(8, 8, 300, BF16, BF16, BF16),
    Matmul(9, 7, 33, I8, I8, I32),
    MatmulBiasRelu(12, 16, 32),
    MatmulSoftmax(8, 100, 16),
    MatmulSoftmax(6, 20, 2),
    Reduction((32, 48), (1,), "max"),
    Reduction((32, 48), (0,), "min", I32, I32),
    Reduction((300,), (0,), "max"),
    Reduction((48, 100), (1,), "max", I8, I8),
    Reduction((6, 1000), (1,), "sum"),
    Reduction((500,), (0,), "sum", F16, F16),
    Pooling(1, 12, 12, 8, 3, 3, combiner="max"),
    Pooling(1, 7, 7, 16, 7, 7, combiner="sum"),
    Pooling(1, 7, 7, 16, 7, 7, combiner="max"),
]


def _result(operation: Operation, operands: Arrays) -> np.ndarray:
    """Return what a right kernel computes, in the type of the result."""
    with np.errstate(all="ignore"):
        return operation.reference(operands).values.astype(operation.result.type.dtype)


def _kept(operation: Operation, expectations: Sequence[Expectation], kernel: Kernel) -> bool:
    """Return whether verification takes a kernel for a right one."""
    with np.errstate(all="ignore"):
        return not any(compare(kernel(each.operands), each).wrong.any() for each in expectations)


def _in_type(change: Change) -> Change:
    def changed(array: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return change(array).astype(array.dtype)

    return changed


def _bf16(array: np.ndarray) -> np.ndarray:
    import ml_dtypes

    return array.astype(ml_dtypes.bfloat16)


def _at(axis: int, index: int | slice, value: float | None) -> Change:
    """Return a change that replaces a slice by a value, or by memory that nobody wrote."""

    def changed(array: np.ndarray) -> np.ndarray:
        copy = array.copy()
        content = poison(array.dtype)[0] if value is None else np.array(value).astype(array.dtype)
        np.moveaxis(copy, axis, 0)[index] = content
        return copy

    return changed


def _rolled(axis: int, by: int) -> Change:
    return lambda array: np.roll(array, by, axis)


def _losses(of_float: bool) -> Iterator[tuple[str, Change]]:
    """Yield changes that lose bits."""
    yield "clamp 3", _in_type(lambda array: np.clip(array, -3, 3))
    if of_float:
        yield "bf16", _in_type(_bf16)
        yield "i8", _in_type(lambda array: array.astype(np.int64).astype(np.int8))
        yield "integers", _in_type(np.trunc)
    else:
        yield "i4", _in_type(lambda array: (array.astype(np.int64) + 8) % 16 - 8)
        yield "unsigned", _in_type(abs)
    yield "odd", _in_type(lambda array: array.astype(np.int64) // 2 * 2)


def _mutants(operation: Operation) -> Iterator[tuple[str, Kernel]]:
    """Yield wrong kernels."""

    yield from _wrong_reads(operation)
    yield from _wrong_results(operation)
    if isinstance(operation, Reduction | Pooling):
        for other in {"max", "min", "sum"} - {operation.combiner}:
            wrong = replace(operation, combiner=other)  # type: ignore[arg-type]
            yield f"combined by {other}", partial(_result, wrong)


def _wrong_reads(operation: Operation) -> Iterator[tuple[str, Kernel]]:
    """Yield kernels that read an operand wrongly."""

    def of_input(at: int, change: Change) -> Kernel:
        return lambda operands: _result(
            operation, [change(each) if i == at else each for i, each in enumerate(operands)]
        )

    never = {"max": -np.inf, "min": np.inf, None: 0.0}[operation.extreme]
    if operation.extreme and not operation.result.type.is_float:
        never = -(2 ** (operation.result.type.bits - 1))
    for at, tensor in enumerate(operation.inputs):
        for words, change in _losses(tensor.type.is_float):
            yield f"{tensor.name}: {words}", of_input(at, change)
        for axis, size in enumerate(tensor.shape):
            for place in sorted({0, (1 << size.bit_length()) // 4, size - 1}):
                yield (
                    f"{tensor.name}: {axis} without {place}",
                    of_input(at, _at(axis, place, never)),
                )
            tile = slice(3 * size // 4, None)
            yield f"{tensor.name}: {axis} without a tile", of_input(at, _at(axis, tile, never))
            if size > 1 and (len(operation.inputs) > 1 or axis not in operation.reduced_axes):
                for by in (1, -1):
                    yield f"{tensor.name}: {axis} moved {by}", of_input(at, _rolled(axis, by))


def _wrong_results(operation: Operation) -> Iterator[tuple[str, Kernel]]:
    """Yield kernels that write wrong results."""

    def of_result(change: Change) -> Kernel:
        return lambda operands: change(_result(operation, operands))

    shape = operation.result.shape
    for words, change in _losses(operation.result.type.is_float):
        yield f"result: {words}", of_result(change)
    for axis, size in enumerate(shape):
        for place in {0, size - 1}:
            yield f"result: {axis} lacks {place}", of_result(_at(axis, place, None))
        if size > 1:
            yield f"result: {axis} moved", of_result(_rolled(axis, 1))
    yield "negated", of_result(lambda array: -array)
    if len(shape) == 2 and shape[0] == shape[1]:
        yield "transposed", of_result(lambda array: np.ascontiguousarray(array.T))
    if operation.extreme is not None:
        combine = {"max": np.maximum, "min": np.minimum}[operation.extreme]
        yield "begins with 0", of_result(_in_type(lambda array: combine(array, 0)))


def _is_equivalent(operation: Operation, words: str) -> bool:
    """Whether a change computes the same: the terms of a sum may be in another order."""
    if isinstance(operation, Reduction) and operation.combiner == "sum":
        return any(f"operand: {axis} moved" in words for axis in operation.axes)
    return isinstance(operation, MatmulSoftmax) and words == "result: clamp 3"  # at most 1


@pytest.mark.parametrize("operation", _OPERATIONS, ids=lambda each: each.name)
def test_every_mutant_is_killed(operation: Operation) -> None:
    pytest.importorskip("ml_dtypes")
    expectations = expected_results(operation)
    assert _kept(operation, expectations, lambda operands: _result(operation, operands))
    mutants = [each for each in _mutants(operation) if not _is_equivalent(operation, each[0])]
    assert len(mutants) >= 10
    assert [words for words, kernel in mutants if _kept(operation, expectations, kernel)] == []


def test_a_maximum_of_a_quarter_of_the_scores_overflows() -> None:
    operation = MatmulSoftmax(16, 40, 16)

    def kernel(operands: Arrays) -> np.ndarray:
        scores = (operands[0] @ operands[1]).astype(np.float32) / np.float32(4)
        exponentials = np.exp(scores - scores[:, :10].max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    assert not _kept(operation, expected_results(operation), kernel)


def test_a_maximum_of_scores_begins_with_no_number() -> None:
    operation = MatmulSoftmax(6, 10, 7)

    def kernel(operands: Arrays, first: float = -np.inf) -> np.ndarray:
        scores = (operands[0] @ operands[1]).astype(np.float32) / np.sqrt(np.float32(7))
        most = np.maximum(scores.max(axis=1, keepdims=True), np.float32(first))
        exponentials = np.exp(scores - most)
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    expectations = expected_results(operation)
    assert _kept(operation, expectations, kernel)
    assert not _kept(operation, expectations, lambda operands: kernel(operands, 0.0))


def _larger(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``a > b ? a : b``."""
    return np.where(left > right, left, right)


@pytest.mark.parametrize("wrong", [_larger, np.fmax])
@pytest.mark.parametrize(("shape", "tail"), [((5, 7), 3), ((33, 17), 1), ((7, 100), 4)])
def test_the_last_elements_of_a_maximum_are_judged_with_nan(
    shape: tuple[int, ...], tail: int, wrong: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> None:
    operation = Elementwise(shape, ("max",))

    def kernel(operands: Arrays) -> np.ndarray:
        result = _result(operation, operands).ravel()
        result[-tail:] = wrong(*(each.ravel()[-tail:] for each in operands))
        return result.reshape(shape)

    assert not _kept(operation, expected_results(operation), kernel)


def test_the_last_rows_of_a_reduction_are_judged_with_nan() -> None:
    operation = Reduction((24, 40), (1,), "max")

    def kernel(operands: Arrays) -> np.ndarray:
        result = _result(operation, operands)
        result[-2:] = np.fmax.reduce(operands[0][-2:], axis=1)
        return result

    assert not _kept(operation, expected_results(operation), kernel)


def test_the_last_columns_of_a_reduction_are_judged_with_nan() -> None:
    operation = Reduction((24, 40), (1,), "max")
    kernel = _ignoring_the_last(8)
    assert not _kept(operation, expected_results(operation), kernel)


def _ignoring_the_last(count: int) -> Kernel:
    """Return a kernel that takes no NaN from the last columns."""

    def kernel(operands: Arrays) -> np.ndarray:
        without = np.where(np.isnan(operands[0]), -np.inf, operands[0])
        first = operands[0][:, :-count]
        return np.maximum(first.max(axis=1), without[:, -count:].max(axis=1))

    return kernel


@pytest.mark.parametrize("first", [-1e38, -1000.0])
def test_a_maximum_of_windows_begins_with_no_number(first: float) -> None:
    operation = Pooling(1, 7, 8, 3, 3, 2, 2, 1)

    def kernel(operands: Arrays) -> np.ndarray:
        return np.maximum(_result(operation, operands), np.float32(first))

    assert not _kept(operation, expected_results(operation), kernel)


def test_integers_that_saturate_are_wrong() -> None:
    add = Elementwise((5, 7), ("add",), I32, I32)

    def saturated(operands: Arrays) -> np.ndarray:
        wide = operands[0].astype(np.int64) + operands[1]
        return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)

    assert not _kept(add, expected_results(add), saturated)
    product = Matmul(9, 17, 32, I8, I8, I32)

    def in_pairs(operands: Arrays) -> np.ndarray:
        terms = operands[0].astype(np.int64)[:, :, None] * operands[1].astype(np.int64)[None]
        pairs = terms.reshape(9, 16, 2, 17).sum(axis=2)
        return np.minimum(pairs, 32767).sum(axis=1).astype(np.int32)

    assert not _kept(product, expected_results(product), in_pairs)


def test_any_order_of_adding_up_is_right() -> None:
    operation = Matmul(24, 40, 160)

    def kernel(operands: Arrays) -> np.ndarray:
        total = np.zeros((24, 40), np.float32)
        for each in range(160):  # one at a time, each sum rounded
            total = total + operands[0][:, each : each + 1] * operands[1][each : each + 1]
        return total

    assert _kept(operation, expected_results(operation), kernel)


@pytest.mark.parametrize("operation", _LOOPS, ids=lambda each: each.name)
def test_every_wrong_loop_is_found(operation: Operation) -> None:
    pytest.importorskip("ml_dtypes")
    expectations = expected_results(operation)
    right = loop_kernel(operation)
    assert _kept(operation, expectations, right)
    wrong = list(mutants(right))
    assert len(wrong) >= 40
    assert [words for words, kernel in wrong if _kept(operation, expectations, kernel)] == []


@pytest.mark.parametrize("operation", [MatmulSoftmax(8, 50, 16), MatmulSoftmax(5, 20, 2)])
def test_each_score_counts_in_the_maximum_and_in_the_sum(operation: MatmulSoftmax) -> None:
    expectations = expected_results(operation)
    right = loop_kernel(operation)
    kept: list[int] = []
    for column in some(range(operation.n)):
        rest = np.delete(np.arange(operation.n), column)
        for finish in (softmax(operation, maximum_of=rest), softmax(operation, sum_of=rest)):
            if _kept(operation, expectations, replace(right, finish=finish)):
                kept.append(column)
    assert kept == []


@pytest.mark.parametrize(
    "operation",
    [Reduction((6, 40), (1,), "max"), Reduction((5, 6, 7), (0, 2), "min", I8, I8)],
    ids=lambda each: each.name,
)
def test_each_element_counts_in_each_maximum(operation: Reduction) -> None:
    expectations = expected_results(operation)
    right = loop_kernel(operation)
    hidden: list[tuple[int, ...]] = []
    for at in some(np.ndindex(right.kept.shape)):
        kept = right.kept.copy()
        kept[at] = False
        if _kept(operation, expectations, replace(right, kept=kept)):
            hidden.append(at)
    assert hidden == []


@pytest.mark.parametrize("k", [16, 300, 2000])
@pytest.mark.parametrize(
    ("operand", "result"),
    [(F64, F64), (F32, F32), (F16, F16), (BF16, BF16), (F16, F32), (BF16, F32), (F32, F64)],
    ids=str,
)
def test_the_next_lower_precision_is_found(
    operand: ElementType, result: ElementType, k: int
) -> None:
    pytest.importorskip("ml_dtypes")
    operation = Matmul(5, 6, k, operand, operand, result)
    expectations = expected_results(operation)
    lower = {"f64": 24, "f32": 11, "f16": 8, "bf16": 4}
    right = loop_kernel(operation)
    assert _kept(operation, expectations, replace(right, digits=result.precision))
    assert not _kept(operation, expectations, replace(right, digits=lower[result.value]))
    bits = lower[operand.value]

    def term(elements: Arrays) -> np.ndarray:
        return rounded(elements[0] * elements[1], bits)

    assert not _kept(operation, expectations, replace(right, term=term))


def test_edge_values_have_the_results_of_the_semantics() -> None:
    operation = Reduction((40, 6), (1,), "max")
    expectations = expected_results(operation)
    seen = np.concatenate([each.values for each in expectations if each.run.kind == "edges"])
    assert np.isnan(seen).any()
    assert np.isinf(seen).any()

    def larger(operands: Arrays) -> np.ndarray:
        """Return what ``a > b ? a : b`` computes, which drops some NaN."""
        total = np.full(40, -np.inf, np.float32)
        for at in range(6):
            total = np.where(operands[0][:, at] > total, operands[0][:, at], total)
        return total

    def finite(operands: Arrays) -> np.ndarray:
        lowest = np.finfo(np.float32).min
        return np.maximum(operands[0].max(axis=1), lowest)

    def last_zero(operands: Arrays) -> np.ndarray:
        result = operands[0].max(axis=1)
        return np.where(result == 0, np.float32(-0.0), result)

    for kernel in (larger, finite, last_zero):
        assert not _kept(operation, expectations, kernel)


def test_edge_values_count_in_the_only_sum() -> None:
    operation = Reduction((1, 1000), (1,), "sum")
    expectations = expected_results(operation)
    assert _kept(operation, expectations, loop_kernel(operation))

    def without_nan(operands: Arrays) -> np.ndarray:
        return np.nansum(operands[0], axis=1)

    assert not _kept(operation, expectations, without_nan)


def test_exponentials_of_edge_values_are_compared() -> None:
    operation = Elementwise((12, 20), ("add", "exp"))
    expectations = expected_results(operation)
    right = loop_kernel(operation)
    assert _kept(operation, expectations, right)

    def without_nan(operands: Arrays) -> np.ndarray:
        result = right(operands)
        return np.where(np.isnan(result), np.float32(0), result)

    def without_infinity(operands: Arrays) -> np.ndarray:
        return np.minimum(right(operands), np.float32(3e38))

    for kernel in (without_nan, without_infinity):
        assert not _kept(operation, expectations, kernel)


def test_a_product_that_skips_zeros_is_found() -> None:
    operation = Matmul(5, 7, 9)
    expectations = expected_results(operation)

    def kernel(operands: Arrays, skipped: int = -1) -> np.ndarray:
        terms = [operands[0][:, :, None], operands[1][None]]
        zero = terms[skipped] == 0 if skipped >= 0 else False
        return np.where(zero, np.float32(0), terms[0] * terms[1]).sum(axis=1, dtype=np.float32)

    with np.errstate(invalid="ignore"):
        assert _kept(operation, expectations, kernel)
        assert not _kept(operation, expectations, partial(kernel, skipped=0))
        assert not _kept(operation, expectations, partial(kernel, skipped=1))


def test_the_difference_of_infinities_is_judged() -> None:
    operation = Reduction((5, 9), (1,))

    def kernel(operands: Arrays) -> np.ndarray:
        """Return the infinity instead of NaN where there are both."""
        total = _result(operation, operands)
        both = (operands[0] == np.inf).any(axis=1) & (operands[0] == -np.inf).any(axis=1)
        return np.where(both & ~np.isnan(operands[0]).any(axis=1), np.float32(np.inf), total)

    assert not _kept(operation, expected_results(operation), kernel)


@pytest.mark.parametrize("step", ["add", "mul", "max", "min"])
def test_zeros_of_steps_have_signs(step: str) -> None:
    operation = Elementwise((13, 7), (step,))

    def kernel(operands: Arrays) -> np.ndarray:
        """Return zeros with the sign that ``a < b ? a : b`` or a shortcut gives them."""
        x, y = operands
        result = _result(operation, operands)
        shortcut = y if step in ("max", "min") else np.float32(0)
        return np.where((x == 0) & (y == 0), shortcut, result)

    assert not _kept(operation, expected_results(operation), kernel)


@pytest.mark.parametrize("step", ["relu", "max", "min"])
def test_what_is_selected_has_wrapped_around(step: str) -> None:
    operation = Elementwise((33, 7), ("add", step), I8, I8)
    expectations = expected_results(operation)

    def kernel(operands: Arrays, total: Callable[..., np.ndarray] = np.add) -> np.ndarray:
        result = total(operands[0], operands[1])
        return (np.minimum if step == "min" else np.maximum)(result, [*operands, np.int8(0)][2])

    def saturated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.clip(x.astype(int) + y, -128, 127).astype(np.int8)

    assert _kept(operation, expectations, kernel)
    assert not _kept(operation, expectations, partial(kernel, total=saturated))


def test_a_sum_has_wrapped_around_before_the_relu() -> None:
    operation = MatmulBiasRelu(5, 7, 9, I8, I8, I8)

    def kernel(operands: Arrays) -> np.ndarray:
        return np.maximum(operands[0] @ operands[1] + operands[2], 0)

    assert _kept(operation, expected_results(operation), kernel)
