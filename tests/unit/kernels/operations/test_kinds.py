"""What all kinds of operations have in common."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

import numpy as np
import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.generated import add_to_manifest, read_manifest
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu, MatmulSoftmax
from actiondbg.kernels.operations.registry import find_kind, kind_names
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling
from tests.fakes.kernels.operations import BF16, F16, F32, I8, I32, OPERATIONS

_EACH = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)


def test_each_kind_is_among_the_operations() -> None:
    assert {each.kind for each in OPERATIONS} == set(kind_names()) - {"model"}


def test_names_differ_and_are_symbols() -> None:
    names = [each.name for each in OPERATIONS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", name) for name in names)


@_EACH
def test_the_root_occurs_once_and_gets_its_attributes(operation: Operation) -> None:
    text = operation.function(destination=True, root_attributes="marked = 1 : i64")
    roots = re.findall(rf"{re.escape(operation.root)}\b[^\n]*", text)
    assert sum("marked" in root for root in roots) == 1
    if operation.kind != "matmul_softmax" and operation.root != "linalg.generic":
        assert len(roots) == 1


@_EACH
def test_loops_are_those_of_operands_and_result(operation: Operation) -> None:
    parallel = [loop.size for loop in operation.loops if loop.type == "parallel"]
    assert prod(parallel) == operation.result.elements
    assert operation.flops >= prod(loop.size for loop in operation.loops)


@_EACH
def test_magnitudes_bound_values(operation: Operation) -> None:
    random = np.random.default_rng(2)
    inputs = [
        random.integers(-3, 4, each.shape).astype(each.type.dtype) for each in operation.inputs
    ]
    reference = operation.reference(inputs)
    assert reference.values.shape == operation.result.shape
    wide = np.float64 if operation.result.type.is_float else np.int64
    assert reference.values.dtype == wide
    assert np.all(reference.magnitude >= np.abs(reference.values))


def test_the_manifest_restores_each_kind(tmp_path: Path) -> None:
    dispatches = [Dispatch(each, Configuration("mlir", "mlir_default")) for each in OPERATIONS]
    add_to_manifest(tmp_path / "manifest.json", dispatches)
    assert read_manifest(tmp_path / "manifest.json") == dispatches


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (Matmul(3456, 1024, 2048, F16, F16, F16), "matmul_3456x1024x2048_f16t_f16t_f16t"),
        (BatchMatmul(16, 512, 64, 512), "batch_matmul_16x512x64x512_f32t_f32t_f32t"),
        (
            Conv2d(1, 58, 58, 64, 128, 3, 3, 2, 2),
            "conv_2d_nhwc_hwcf_1x58x58x64_3x3x128_s2x2_d1x1_f32_f32_f32",
        ),
        (
            Pooling(1, 114, 114, 64, 3, 3, 2, 2),
            "pooling_nhwc_max_1x114x114x64_3x3_s2x2_d1x1_f32_f32",
        ),
        (MatmulBiasRelu(4, 5, 6), "matmul_bias_relu_4x5x6_f32t_f32t_f32t"),
        (Reduction((4, 5, 6), (0, 2)), "reduction_sum_4x5x6_axes_0x2_f32_f32"),
        (Elementwise((4, 5), ("add", "exp")), "elementwise_add_exp_4x5_f32_f32"),
    ],
)
def test_names_show_shape_and_types(operation: Operation, name: str) -> None:
    assert operation.name == name


def test_the_dispatch_profilers_names_of_kinds_are_accepted() -> None:
    assert find_kind("splitk_matmul") is find_kind("matmul_splitk") is Matmul
    assert find_kind("conv2d") is Conv2d
    with pytest.raises(UsageError, match="Unknown kind of operation 'conv3d'; there are matmul, "):
        find_kind("conv3d")


_LARGE = (
    "The kernel of a conv_2d is larger than its input: 3 elements with dilation 4 span 9, the "
    "width is 8."
)
_NARROW = (
    "A batch_matmul cannot have an operand of f32 and a result of f16: the result must have the "
    "type of the operands, or a wider one, integer or float as they are."
)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Matmul(0, 1, 1), "The m of a matmul must be at least 1, got 0."),
        (BatchMatmul(2, 1, 1, 1, F32, F32, F16), _NARROW),
        (Matmul(1, 1, 1, F16, BF16, BF16), "an operand of f16 and a result of bf16"),
        (Matmul(1, 1, 1, I8, I8, F32), "an operand of i8 and a result of f32"),
        (Conv2d(1, 8, 8, 1, 1, 3, 3, dilation_w=4), _LARGE),
        (
            Conv2d(1, 8, 8, 1, 1, 3, 3, stride_h=0),
            "The stride_h of a conv_2d must be at least 1, got 0.",
        ),
        (DepthwiseConv2d(1, 2, 8, 1, 3, 3), "span 3, the height is 2."),
        (Pooling(1, 8, 8, 0, 3, 3), "The channels of a pooling must be at least 1, got 0."),
        (
            MatmulSoftmax(1, 1, 1, I8, I8, I32),
            "The result of a matmul_softmax must be of a float type, got i32.",
        ),
        (Reduction((), (0,)), "The shape of a reduction must have at least one dimension."),
        (
            Reduction((4, 4), (1, 0)),
            r"The axes of a reduction must be ascending, at least one, got \(1, 0\).",
        ),
        (Reduction((4, 4), (2,)), r"must be from 0 to 1, the dimensions of its shape, got \(2,\)."),
        (
            Elementwise((4,), ("add", "sin")),
            "Unknown step 'sin' of an elementwise; there are add, sub, mul, max, min, relu, neg, "
            "exp, tanh.",
        ),
        (Elementwise((4,), ()), "An elementwise needs at least one step."),
        (
            Elementwise((4,), ("exp",), I8, I32),
            "The step exp of an elementwise needs a result of a float type, got i32.",
        ),
    ],
)
def test_what_does_not_fit_the_kind_is_reported(operation: Operation, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        operation.check()


def test_convolution_of_a_known_image() -> None:
    operation = Conv2d(1, 3, 5, 1, 1, 2, 2, stride_w=2, dilation_h=2)
    image = np.arange(15, dtype=np.float32).reshape(1, 3, 5, 1)
    filters = np.array([1, 10, 100, 1000], np.float32).reshape(2, 2, 1, 1)
    # Rows 0 and 2, columns 0 and 1, then 2 and 3.
    expected = [0 + 10 * 1 + 100 * 10 + 1000 * 11, 2 + 10 * 3 + 100 * 12 + 1000 * 13]
    values = operation.reference([image, filters]).values
    assert values.reshape(-1).tolist() == expected


def test_integers_too_large_for_floats_are_multiplied_exactly() -> None:
    largest = np.full((2, 2), 2**31 - 1, np.int32)
    values = Matmul(2, 2, 2, I32, I32, I32).reference([largest, largest]).values
    assert values[0, 0] == 2 * (2**31 - 1) ** 2


def test_errors_of_an_exponential_grow_with_it() -> None:
    operation = Elementwise((2,), ("add", "exp"), ElementType.F64, ElementType.F64)
    reference = operation.reference([np.array([0.0, 3.0]), np.array([0.0, -1.0])])
    assert not reference.exact
    np.testing.assert_allclose(reference.magnitude, [1, np.exp(2) * 5])
