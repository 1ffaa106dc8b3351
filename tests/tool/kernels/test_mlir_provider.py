"""The provider ``mlir`` compiles right kernels of each shape, type and layout."""

from __future__ import annotations

import ctypes
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Operation, Tensor
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu, MatmulSoftmax
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling
from actiondbg.kernels.programs.extraction import operations_of
from actiondbg.kernels.providers.mlir.provider import MlirProvider
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.providers.shared_library import LOADER, load, support_source
from actiondbg.kernels.providers.steps import COMMANDS, CompilationSteps
from tests.elements import some

PIPELINE = (
    "convert-linalg-to-affine-loops,affine-loop-invariant-code-motion,"
    "affine-super-vectorize{virtual-vector-size=4,4}"
)
F16, BF16, F64 = ElementType.F16, ElementType.BF16, ElementType.F64
F32, I8, I32 = ElementType.F32, ElementType.I8, ElementType.I32


@pytest.fixture
def provider() -> MlirProvider:
    made = make_provider("mlir")
    assert isinstance(made, MlirProvider)
    return made


def compile_in(
    folder: Path, provider: MlirProvider, operation: Operation, configuration: Configuration
) -> CompiledKernel:
    dispatch = Dispatch(operation, configuration)
    assert provider.obstacle(dispatch) is None
    folder.mkdir(exist_ok=True)
    (folder / "configured.mlir").write_text(provider.source(dispatch))
    steps = CompilationSteps(folder)
    try:
        return provider.compile(dispatch, folder, steps)
    finally:
        steps.save()


def operands(operation: Operation) -> list[np.ndarray]:
    """Make operands of small integers, whose sums are exact."""
    random = np.random.default_rng(1)
    return [random.integers(-2, 3, each.shape).astype(each.type.dtype) for each in operation.inputs]


def assert_right(kernel: CompiledKernel, operation: Operation) -> None:
    inputs = operands(operation)
    with KernelProcess(kernel.verify) as process:
        result = process.run(inputs)
    assert result.shape == operation.result.shape
    assert result.dtype == operation.result.type.dtype
    reference = operation.reference(inputs)
    if reference.exact:
        assert np.array_equal(result.astype(reference.values.dtype), reference.values)
    else:
        np.testing.assert_allclose(result, reference.values, rtol=1e-5, atol=1e-6)


def configuration_named(name: str, **parameters: str | int | list[int]) -> Configuration:
    return Configuration("mlir", f"mlir_{name}", parameters)


@pytest.mark.parametrize("shape", [(64, 64, 64), (65, 127, 33), (1, 1, 1), (3, 200, 5)])
def test_every_predefined_configuration_is_right(
    tmp_path: Path, provider: MlirProvider, shape: tuple[int, int, int]
) -> None:
    operation = Matmul(*shape)
    configurations = provider.configurations(operation)
    assert len(configurations) >= 3
    for configuration in configurations:
        kernel = compile_in(tmp_path / configuration.name, provider, operation, configuration)
        assert kernel.config_applied == "yes", kernel.detail
        assert_right(kernel, operation)


# Each with sizes that tiles and vectors do not divide.
KINDS: list[Operation] = [
    BatchMatmul(3, 17, 33, 9),
    MatmulBiasRelu(65, 127, 33),
    MatmulSoftmax(33, 65, 17),
    Conv2d(1, 13, 15, 5, 37, 3, 2),
    Conv2d(1, 13, 15, 5, 37, 3, 3, stride_h=2, stride_w=2),
    Conv2d(1, 13, 15, 5, 37, 3, 3, dilation_h=2, dilation_w=2),
    Conv2d(2, 13, 15, 5, 7, 3, 2, layout="nchw_fchw"),
    Conv2d(2, 13, 21, 5, 7, 3, 3, stride_h=2, stride_w=2, layout="nchw_fchw"),
    DepthwiseConv2d(1, 13, 15, 37, 3, 3, stride_h=2, stride_w=2),
    Pooling(1, 13, 15, 37, 3, 3, stride_h=2, stride_w=2),
    Pooling(1, 13, 15, 37, 2, 3, combiner="sum"),
    Reduction((33, 65), (1,)),
    Reduction((33, 65), (0,)),
    Reduction((9, 17, 37), (0, 2)),
    Elementwise((33, 65), ("add", "mul", "exp")),
    Elementwise((1027,), ("add", "mul")),
]


@pytest.mark.parametrize("operation", KINDS, ids=lambda operation: operation.name)
def test_each_kind_is_right(tmp_path: Path, provider: MlirProvider, operation: Operation) -> None:
    configurations = provider.configurations(operation)
    names = [configuration.name for configuration in configurations]
    assert len(set(names)) == len(names) >= 2
    for configuration in some(configurations[:2]):
        kernel = compile_in(tmp_path / configuration.name, provider, operation, configuration)
        assert kernel.config_applied == "yes", kernel.detail
        assert_right(kernel, operation)


MODEL = """
func.func @main(%image: tensor<1x9x9x20xf32>, %numbers: tensor<20xi32>) -> (tensor<1x4x4x20xf32>, tensor<20xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x4x4x20xf32>
  %fill = linalg.fill ins(%low : f32) outs(%empty : tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %pooled = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, i, j) -> (n, h * 2 + i, w * 2 + j, c)>, affine_map<(n, h, w, c, i, j) -> (i, j)>, affine_map<(n, h, w, c, i, j) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%image, %window : tensor<1x9x9x20xf32>, tensor<3x3xf32>) outs(%fill : tensor<1x4x4x20xf32>) {
  ^bb0(%in: f32, %unused: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<1x4x4x20xf32>
  %bits = tensor.empty() : tensor<20xi1>
  %negative = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]} ins(%numbers : tensor<20xi32>) outs(%bits : tensor<20xi1>) {
  ^bb0(%in: i32, %out: i1):
    %less = arith.cmpi slt, %in, %zero : i32
    linalg.yield %less : i1
  } -> tensor<20xi1>
  %same = tensor.empty() : tensor<20xi32>
  %positive = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]} ins(%negative, %numbers : tensor<20xi1>, tensor<20xi32>) outs(%same : tensor<20xi32>) {
  ^bb0(%flag: i1, %in: i32, %out: i32):
    %chosen = arith.select %flag, %zero, %in : i32
    linalg.yield %chosen : i32
  } -> tensor<20xi32>
  return %pooled, %positive : tensor<1x4x4x20xf32>, tensor<20xi32>
}
"""  # noqa: E501


def test_operations_of_a_model_are_right(tmp_path: Path, provider: MlirProvider) -> None:
    model = tmp_path / "model.mlir"
    model.write_text(MODEL)
    found = operations_of(model)
    assert [len(provider.configurations(each)) > 0 for each in found] == [True, False]
    for operation in found:
        for configuration in (provider.default(operation), *provider.configurations(operation)[:2]):
            folder = tmp_path / f"{operation.name}_{configuration.name}"
            kernel = compile_in(folder, provider, operation, configuration)
            assert kernel.config_applied in ("yes", "default"), kernel.detail
            assert_right(kernel, operation)


LIBM = """
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {{
  %empty = tensor.empty() : tensor<5x37xf32>
  %all = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}} ins(%x : tensor<5x37xf32>) outs(%empty : tensor<5x37xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %y = math.{name} %in : f32
    linalg.yield %y : f32
  }} -> tensor<5x37xf32>
  return %all : tensor<5x37xf32>
}}
"""  # noqa: E501


@pytest.mark.parametrize("name", ["erf", "erfc", "asinh", "cbrt"])
def test_a_function_that_llvm_lacks_is_that_of_libm(
    tmp_path: Path, provider: MlirProvider, name: str
) -> None:
    model = tmp_path / "model.mlir"
    model.write_text(LIBM.format(name=name))
    (operation,) = operations_of(model)
    inputs = [np.linspace(-4, 4, 5 * 37, dtype=np.float32).reshape(5, 37)]
    expected = np.vectorize(getattr(math, name))(inputs[0].astype(np.float64))
    for configuration in (provider.default(operation), *provider.configurations(operation)[:2]):
        kernel = compile_in(tmp_path / configuration.name, provider, operation, configuration)
        assert kernel.config_applied in ("yes", "default"), kernel.detail
        with KernelProcess(kernel.verify) as process:
            result = process.run(inputs)
        np.testing.assert_allclose(result, expected, rtol=1e-5)


FUSED = """
#map = affine_map<(n, h, w, c) -> (n, h, w, c)>
func.func @main(%image: tensor<1x16x16x64xf32>, %filter: tensor<3x3x64x64xf32>, %scale: tensor<1x14x14x64xf32>)
    -> tensor<1x14x14x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x14x14x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %sums = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x16x16x64xf32>, tensor<3x3x64x64xf32>) outs(%fill : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %other = tensor.empty() : tensor<1x14x14x64xf32>
  %scaled = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sums, %scale : tensor<1x14x14x64xf32>, tensor<1x14x14x64xf32>) outs(%other : tensor<1x14x14x64xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %product = arith.mulf %in, %factor : f32
    linalg.yield %product : f32
  } -> tensor<1x14x14x64xf32>
  return %scaled : tensor<1x14x14x64xf32>
}
"""  # noqa: E501


def test_a_fused_convolution_is_computed_once(tmp_path: Path, provider: MlirProvider) -> None:
    model = tmp_path / "model.mlir"
    model.write_text(FUSED)
    (operation,) = operations_of(model)
    configuration = provider.configurations(operation)[0]
    kernel = compile_in(tmp_path / "fused", provider, operation, configuration)
    assert_right(kernel, operation)
    scheduled = (tmp_path / "fused" / "scheduled.mlir").read_text()
    assert scheduled.count("iter_args") == 1  # the loop that adds up in registers


def test_bits_have_no_schedule(tmp_path: Path, provider: MlirProvider) -> None:
    model = tmp_path / "model.mlir"
    model.write_text(MODEL)
    bits = operations_of(model)[1]
    obstacle = provider.obstacle(Dispatch(bits, configuration_named("bits", vector=[4])))
    assert obstacle is not None
    assert "has tensors of i1, of which MLIR cannot store vectors" in obstacle


def test_narrow_types_are_multiplied_as_outer_products(
    tmp_path: Path, provider: MlirProvider
) -> None:
    operation = Matmul(16, 64, 16, I8, I8, I32)
    compile_in(tmp_path, provider, operation, provider.configurations(operation)[0])
    assert not re.search(r"vector<\d+x\d+x\d+xi", (tmp_path / "scheduled.mlir").read_text())


def test_split_reduction_is_right(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(17, 33, 128)
    configuration = configuration_named(
        "split", tile=[16, 0, 0], vector=[4, 16, 1], split_k_slices=4
    )
    kernel = compile_in(tmp_path, provider, operation, configuration)
    assert kernel.config_applied == "yes"
    assert "memref<4x17x33xf32>" in (tmp_path / "scheduled.mlir").read_text()
    assert_right(kernel, operation)


def test_schedule_without_vectors_is_reported(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Pooling(1, 8, 8, 16, 3, 3)
    configuration = configuration_named("rows", vector=[1, 2, 2, 16, 1, 1])
    kernel = compile_in(tmp_path, provider, operation, configuration)
    assert kernel.config_applied == "no"
    assert "linalg.pooling_nhwc_max" in kernel.detail
    assert_right(kernel, operation)


def test_calls_free_their_buffers(tmp_path: Path, provider: MlirProvider) -> None:
    operation = MatmulSoftmax(128, 256, 4, result_type=F16)
    kernel = compile_in(tmp_path, provider, operation, provider.default(operation))
    with KernelProcess(kernel.profile, memory=256 << 20) as process:
        process.load(operands(operation))
        process.time(4000)  # each with a buffer of 128 KiB for the scores


@pytest.mark.parametrize(
    "types",
    [
        (F16, F16, F16),
        (BF16, BF16, BF16),
        (F64, F64, F64),
        (I8, I8, I32),
        (F16, F16, F32),
        (BF16, BF16, F32),
    ],
    ids=lambda types: "_".join(each.value for each in types),
)
def test_each_combination_of_types_is_right(
    tmp_path: Path, provider: MlirProvider, types: tuple[ElementType, ElementType, ElementType]
) -> None:
    operation = Matmul(17, 40, 24, *types)
    for configuration in (provider.default(operation), provider.configurations(operation)[0]):
        kernel = compile_in(tmp_path / configuration.name, provider, operation, configuration)
        assert_right(kernel, operation)


@pytest.mark.parametrize("layouts", [("t", "n"), ("n", "t"), ("n", "n")])
def test_transposed_operands_are_right(
    tmp_path: Path, provider: MlirProvider, layouts: tuple[str, str]
) -> None:
    lhs, rhs = layouts
    operation = Matmul(
        17, 40, 24, lhs_layout="n" if lhs == "n" else "t", rhs_layout="n" if rhs == "n" else "t"
    )
    configuration = provider.configurations(operation)[0]
    assert_right(compile_in(tmp_path, provider, operation, configuration), operation)


def test_default_is_a_sound_lowering(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(5, 6, 7)
    kernel = compile_in(tmp_path, provider, operation, provider.default(operation))
    assert kernel.config_applied == "default"
    assert_right(kernel, operation)


def test_pipeline_is_applied_and_finished(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(16, 16, 16)
    configuration = configuration_named("super_vectorize", pipeline=PIPELINE)
    kernel = compile_in(tmp_path, provider, operation, configuration)
    assert kernel.config_applied == "yes"
    assert "vector<4x4xf32>" in (tmp_path / "scheduled.mlir").read_text()
    assert_right(kernel, operation)


def test_pipeline_that_changes_nothing_is_reported(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(8, 8, 8)
    configuration = configuration_named("unroll", pipeline="func.func(affine-loop-unroll)")
    kernel = compile_in(tmp_path, provider, operation, configuration)
    assert (kernel.config_applied, kernel.detail) == (
        "no",
        "The root operation, linalg.matmul, is unchanged.",
    )
    assert_right(kernel, operation)


def test_unknown_pass_fails_with_the_message_of_mlir_opt(
    tmp_path: Path, provider: MlirProvider
) -> None:
    configuration = configuration_named("typo", pipeline="convert-linalg-to-lops")
    with pytest.raises(CompileError, match=r"mlir-opt failed .*convert-linalg-to-lops"):
        compile_in(tmp_path, provider, Matmul(8, 8, 8), configuration)


def test_kernel_can_be_timed(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(32, 32, 32)
    kernel = compile_in(tmp_path, provider, operation, provider.configurations(operation)[0])
    with KernelProcess(kernel.profile) as process:
        process.load(operands(operation))
        assert process.time(10)[0] > 0


def test_saved_commands_compile_again(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(8, 8, 8)
    kernel = compile_in(tmp_path, provider, operation, provider.configurations(operation)[0])
    kernel.verify.path.unlink()
    subprocess.run([tmp_path / COMMANDS], check=True, capture_output=True)
    assert_right(kernel, operation)


def test_configured_step_can_be_replaced(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(8, 8, 8)
    dispatch = Dispatch(operation, configuration_named("loops", pipeline=PIPELINE))
    (tmp_path / "configured.mlir").write_text(provider.source(dispatch))
    step = provider.configured_step(dispatch)
    subprocess.run(step.argv, cwd=tmp_path, check=True)
    other = tmp_path / "other.mlir"
    text = (tmp_path / step.output).read_text()
    assert "arith.addf" in text
    other.write_text(text.replace("arith.addf", "arith.subf"))
    kernel = provider.finish(dispatch, tmp_path, CompilationSteps(tmp_path), other)
    inputs = operands(operation)
    negative = -operation.reference(inputs).values
    with KernelProcess(kernel.verify) as process:
        assert np.array_equal(process.run(inputs), negative.astype(np.float32))


def test_choice_of_a_search_is_right(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(24, 40, 16)
    choice = {name: choices[-1] for name, choices in provider.space(operation).items()}
    configuration = provider.configured(operation, choice)
    assert_right(compile_in(tmp_path, provider, operation, configuration), operation)


def test_dry_run_writes_nothing(tmp_path: Path, provider: MlirProvider) -> None:
    operation = Matmul(8, 8, 8)
    shown: list[str] = []
    steps = CompilationSteps(tmp_path, dry_run=True, show=shown.append)
    provider.compile(Dispatch(operation, provider.default(operation)), tmp_path, steps)
    assert [Path(line.split()[0]).name for line in shown] == [
        "mlir-opt",
        "mlir-opt",
        "mlir-translate",
        "llc",
        "cc",
    ]
    assert not list(tmp_path.iterdir())


def test_rounding_to_bf16_is_that_of_numpy(tmp_path: Path) -> None:
    source = support_source("kernel", 1)
    source += "void kernel(void *memory) {}\n"
    source += "float rounded(float value) { return __truncsfbf2(value); }\n"
    (tmp_path / "support.c").write_text(source)
    library = tmp_path / "support.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", tmp_path / "support.c", "-o", library], check=True, text=True
    )
    rounded = ctypes.CDLL(str(library)).rounded
    rounded.argtypes, rounded.restype = [ctypes.c_float], ctypes.c_float
    random = np.random.default_rng(1).standard_normal(200).astype(np.float32)
    ties = [1.00390625, 1.01171875, -1.00390625, 3.4e38, 1e-40, 0.0, -0.0, np.inf, -np.inf]
    for value in (*random, *ties):
        bits = np.float32(rounded(value)).view(np.uint32) & 0xFFFF
        assert bits == np.float32(value).astype(BF16.dtype).view(np.uint16), value
    assert np.isnan(np.uint32(np.float32(rounded(np.nan)).view(np.uint32) << 16).view(np.float32))


def test_the_stack_of_a_kernel_is_not_zero(tmp_path: Path) -> None:
    source = support_source("kernel", 1)
    source += "void kernel(void *memref) { volatile float at[64]; **(float **)memref = at[5]; }\n"
    (tmp_path / "kernel.c").write_text(source)
    library = tmp_path / "kernel.so"
    subprocess.run(
        ["cc", "-w", "-shared", "-fPIC", tmp_path / "kernel.c", "-o", library], check=True
    )
    result = Tensor("result", (1,), ElementType.F32)
    kernel = load(KernelBinary(LOADER, library, "kernel", (), result))
    made = [float(kernel.run([])[0]) for _ in range(3)]
    assert np.isnan(made[0])  # hides what is computed from it in no sum, but in a maximum
    assert made[1] > 1e30
    assert made[2] < -1e30
