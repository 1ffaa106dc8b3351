"""Tests of the provider of IREE with its compiler and runtime."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import CompileError, KernelError, NotRunnable, ProviderMissing
from actiondbg.kernels.execution.kernel import KernelBinary, LoadedKernel, TimedCall
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Loop, Operation, Tensor
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu
from actiondbg.kernels.operations.windowed import Conv2d, Pooling
from actiondbg.kernels.programs.model_operation import ModelOperation
from actiondbg.kernels.providers.iree import programs
from actiondbg.kernels.providers.iree.configurations import data_tiling
from actiondbg.kernels.providers.iree.provider import IreeProvider
from actiondbg.kernels.providers.iree.toolchain import Target, Toolchain
from actiondbg.kernels.providers.provider import CompiledKernel, ProviderSettings
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.statistics.events import KNOWN

pytest.importorskip("iree.runtime", reason="needs the extra iree")
# Not imported: its bindings and those of MLIR cannot be loaded into one process.
if find_spec("iree") is None or find_spec("iree.compiler") is None:
    pytest.skip("needs the extra iree", allow_module_level=True)

CPU = Target("cpu", "")
F16, BF16, F32, F64 = ElementType.F16, ElementType.BF16, ElementType.F32, ElementType.F64


def compile_kernel(
    provider: IreeProvider, operation: Operation, configuration: Configuration, folder: Path
) -> CompiledKernel:
    """Compile a dispatch in a folder of its own."""
    dispatch = Dispatch(operation, configuration)
    assert provider.obstacle(dispatch) is None
    folder.mkdir(exist_ok=True)
    (folder / "configured.mlir").write_text(provider.source(dispatch))
    steps = CompilationSteps(folder)
    kernel = provider.compile(dispatch, folder, steps)
    steps.save()
    return kernel


def operands(operation: Operation) -> list[np.ndarray]:
    """Return small integers, with which the result is exact."""
    random = np.random.default_rng(0)
    return [random.integers(-3, 4, each.shape).astype(each.type.dtype) for each in operation.inputs]


def load(binary: KernelBinary) -> LoadedKernel:
    """Load a kernel as the child process does."""
    from actiondbg.kernels.providers.iree import module  # needs the packages

    return module.load(binary)


def computes(kernel: CompiledKernel, operation: Operation) -> bool:
    """Whether a kernel computes the reference."""
    inputs = operands(operation)
    result = load(kernel.verify).run(inputs)
    assert result.dtype == operation.result.type.dtype
    return bool((result.astype(np.float64) == operation.reference(inputs).values).all())


@pytest.fixture
def provider() -> IreeProvider:
    return IreeProvider(ProviderSettings())


def test_the_default_leaves_the_choice_to_iree(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(64, 48, 32)

    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)

    assert kernel.config_applied == "default"
    # The levels and their order depend on the processor.
    assert re.match(r"IREE chose (\w+ \[[\d,]+\], )*distribution \[", kernel.detail)
    assert kernel.verify == kernel.profile
    assert computes(kernel, operation)


@pytest.mark.parametrize(
    "operation",
    [
        Matmul(64, 48, 32),
        Matmul(61, 43, 37),
        Matmul(64, 48, 32, lhs_layout="n", rhs_layout="n"),
    ],
    ids=lambda operation: operation.name,
)
def test_a_configuration_is_read_back(
    provider: IreeProvider, operation: Matmul, tmp_path: Path
) -> None:
    configurations = provider.configurations(operation)
    for index, configuration in enumerate((*configurations[:2], configurations[-2])):
        kernel = compile_kernel(provider, operation, configuration, tmp_path / str(index))

        assert (kernel.config_applied, kernel.detail) == ("yes", "")
        assert computes(kernel, operation)


@pytest.mark.parametrize(
    "types",
    [
        (F16, F16, F16),
        (F16, F16, F32),
        (BF16, BF16, F32),
        (BF16, BF16, BF16),
        (F64, F64, F64),
        (ElementType.I8, ElementType.I8, ElementType.I32),
    ],
    ids=lambda types: "_".join(each.value for each in types),
)
def test_types_of_elements(
    provider: IreeProvider, types: tuple[ElementType, ElementType, ElementType], tmp_path: Path
) -> None:
    operation = Matmul(32, 48, 16, *types)

    kernel = compile_kernel(provider, operation, provider.configurations(operation)[0], tmp_path)

    assert kernel.config_applied == "yes"
    assert computes(kernel, operation)


def test_f64_is_not_computed_as_f32(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(8, 8, 8, F64, F64, F64)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    inputs = [np.full((8, 8), 1 + 2**-40), np.eye(8)]

    assert (load(kernel.verify).run(inputs) == 1 + 2**-40).all()


def test_an_operand_of_rank_0(provider: IreeProvider, tmp_path: Path) -> None:
    vector = Tensor("x", (8,), ElementType.F32)
    operation = ModelOperation(
        "scaled",
        """%scaled = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %factor : tensor<8xf32>, tensor<f32>) outs(%destination : tensor<8xf32>) {
        ^bb0(%a: f32, %b: f32, %old: f32):
          %c = arith.mulf %a, %b : f32
          linalg.yield %c : f32
        } -> tensor<8xf32>
        return %scaled : tensor<8xf32>""",  # noqa: E501
        (vector, Tensor("factor", (), ElementType.F32)),
        vector,
        (Loop(8, "parallel"),),
        "linalg.generic",
        8,
        ElementType.F32,
    )
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    with KernelProcess(kernel.verify) as process:
        found = process.run([np.arange(8, dtype=np.float32), np.array(3, np.float32)])
    assert found.tolist() == [3.0 * each for each in range(8)]


def test_split_sums(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(64, 64, 256)
    for whole in (provider.default(operation), provider.configurations(operation)[0]):
        split = replace(whole, parameters={**whole.parameters, "split_k_slices": 4})

        kernel = compile_kernel(provider, operation, split, tmp_path / whole.name)

        assert kernel.config_applied == "yes"
        assert "4x64x64" in (tmp_path / whole.name / "chosen.mlir").read_text()
        assert computes(kernel, operation)


def test_data_tiling_is_read_back(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(128, 128, 128)

    kernel = compile_kernel(provider, operation, data_tiling(CPU), tmp_path)

    assert kernel.config_applied == "yes"
    assert computes(kernel, operation)


def test_a_batch_of_calls_is_a_binary_of_its_own(tmp_path: Path) -> None:
    provider = IreeProvider(ProviderSettings(batch_size=20))
    operation = Matmul(64, 64, 64)

    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)

    assert kernel.profile.path != kernel.verify.path
    assert kernel.profile.settings["batch"] == 20
    assert kernel.verify.settings["batch"] == 1
    assert computes(kernel, operation)
    assert load(kernel.profile).time(operands(operation), 40) > 0


def test_the_saved_commands_compile_it_again(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(64, 64, 64)
    kernel = compile_kernel(provider, operation, provider.configurations(operation)[0], tmp_path)
    before = kernel.verify.path.read_bytes()
    kernel.verify.path.unlink()

    subprocess.run([tmp_path / "commands.sh"], check=True)

    assert kernel.verify.path.read_bytes() == before


def test_a_dry_run_prints_the_commands(provider: IreeProvider, tmp_path: Path) -> None:
    shown: list[str] = []
    operation = Matmul(64, 64, 64)
    dispatch = Dispatch(operation, provider.default(operation))

    provider.compile(
        dispatch, tmp_path, CompilationSteps(tmp_path, dry_run=True, show=shown.append)
    )

    assert len(shown) == 2
    assert "--compile-to=executable-configurations" in shown[0]
    assert not list(tmp_path.iterdir())


def test_a_configuration_that_iree_refuses_is_an_error(
    provider: IreeProvider, tmp_path: Path
) -> None:
    operation = Matmul(64, 64, 64)
    first = provider.configurations(operation)[0]
    unknown = replace(first, parameters={**first.parameters, "pipeline": "SingleTiling"})

    with pytest.raises(CompileError, match=r"expected .*LoweringPipeline to be one of"):
        compile_kernel(provider, operation, unknown, tmp_path)


def test_a_module_of_another_version_is_refused(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(16, 16, 16)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    _age(kernel.verify.path)

    with pytest.raises(KernelError, match=r"compiled by another version of IREE.*--force-compile"):
        load(kernel.verify)


def _age(module: Path) -> None:
    """Lower the version of a module's bytecode, which is one of its first numbers, as 17.0."""
    content = bytearray(module.read_bytes())
    start = content.index(b"IREE")
    words = (struct.unpack_from("<HH", content, at) for at in range(start, start + 400, 4))
    index = next(i for i, (minor, major) in enumerate(words) if minor == 0 and 10 < major < 40)
    content[start + 4 * index + 2] -= 1
    module.write_bytes(content)


def test_a_damaged_module_is_refused(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(16, 16, 16)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    kernel.verify.path.write_bytes(b"no module" * 100)

    with pytest.raises(KernelError, match="IREE cannot load"):
        load(kernel.verify)


def test_the_packages_are_missing(provider: IreeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        return None

    monkeypatch.setattr("actiondbg.kernels.providers.iree.toolchain.find_spec", missing)

    with pytest.raises(ProviderMissing, match=r"pip install 'actiondbg\[iree\]'"):
        provider.identity()


def test_a_missing_runtime_is_no_crash(
    provider: IreeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = Matmul(8, 8, 8)
    dispatch = Dispatch(operation, provider.default(operation))
    assert provider.not_runnable(dispatch) is None

    def missing(name: str) -> None:
        return None

    monkeypatch.setattr("actiondbg.kernels.providers.iree.toolchain.find_spec", missing)
    assert provider.not_runnable(dispatch) == (
        "IREE's runtime is not installed: pip install 'actiondbg[iree]'."
    )


def test_a_build_without_a_compiler_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no iree-compile"):
        IreeProvider(ProviderSettings(build_dir=tmp_path)).identity()


@pytest.mark.parametrize(
    ("device", "instruction"), [("cuda", b"mma.sync"), ("rocm", b"")], ids=["cuda", "rocm"]
)
def test_tensor_cores_compile_without_a_gpu(
    device: str, instruction: bytes, tmp_path: Path
) -> None:
    provider = IreeProvider(ProviderSettings(device=device))
    operation = Matmul(256, 256, 128, F16, F16, F32)
    fitting = [
        each
        for each in provider.configurations(operation)
        if provider.obstacle(Dispatch(operation, each)) is None
    ]

    kernel = compile_kernel(provider, operation, fitting[-1], tmp_path)

    assert "_tile_config_64x64_32x10_tensorcore_m" in fitting[-1].name
    assert kernel.config_applied == "yes"
    assert instruction in kernel.verify.path.read_bytes()


@pytest.mark.parametrize("device", ["cuda", "rocm"])
def test_a_gpu_computes_or_its_absence_is_named(device: str, tmp_path: Path) -> None:
    provider = IreeProvider(ProviderSettings(device=device))
    operation = Matmul(256, 256, 128)
    dispatch = Dispatch(operation, provider.default(operation))
    missing = provider.not_runnable(dispatch)
    if missing is not None:
        assert re.fullmatch(r"No (CUDA|ROCm) device: .+\.", missing)
        pytest.skip(missing)

    assert computes(
        compile_kernel(provider, operation, dispatch.configuration, tmp_path), operation
    )


def test_the_programs_of_a_build_are_used(tmp_path: Path) -> None:
    build = tmp_path / "build"
    (build / "tools").mkdir(parents=True)
    for name in ("iree-compile", "iree-run-module", "iree-benchmark-module"):
        (build / "tools" / name).symlink_to(Toolchain().program(name))
    provider = IreeProvider(ProviderSettings(build_dir=build, batch_size=10))
    operation = Matmul(16, 16, 16, BF16, BF16, F32)

    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path / "kernel")

    loaded = programs.load(kernel.verify)
    inputs = operands(operation)
    assert (loaded.run(inputs) == operation.reference(inputs).values).all()
    profiled = programs.load(kernel.profile)
    assert profiled.time(inputs, 30) > 0
    assert isinstance(profiled, TimedCall)
    assert (profiled.call_seconds(inputs) or 0) > 0
    with KernelProcess(kernel.profile) as process:
        process.load(inputs)
        # Programs run the kernel: the events of this process are not the kernel's.
        assert process.count(10, [KNOWN["page-faults"]]) == ()


def test_a_program_that_fails_is_an_error(tmp_path: Path) -> None:
    provider = IreeProvider(ProviderSettings())
    operation = Matmul(16, 16, 16)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    run = Toolchain().program("iree-run-module")
    broken = replace(kernel.verify, settings={**kernel.verify.settings, "run": run}, symbol="none")

    with pytest.raises(KernelError, match="iree-run-module failed with exit status 1: "):
        programs.load(broken).run(operands(operation))


def test_a_kernel_runs_in_a_process_of_its_own(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(64, 48, 32)
    kernel = compile_kernel(provider, operation, provider.configurations(operation)[0], tmp_path)
    inputs = operands(operation)

    with KernelProcess(kernel.verify) as process:
        assert (process.run(inputs) == operation.reference(inputs).values).all()
        process.load(inputs)
        assert process.time(10)[0] > 0


@pytest.mark.parametrize("batch", [1, 20])
def test_a_call_that_does_nothing_is_in_the_same_module(batch: int, tmp_path: Path) -> None:
    provider = IreeProvider(ProviderSettings(batch_size=batch))
    operation = Matmul(64, 48, 32)
    kernel = compile_kernel(provider, operation, provider.configurations(operation)[0], tmp_path)
    assert kernel.config_applied == "yes"

    with KernelProcess(kernel.profile) as process:
        process.load(operands(operation))
        one, kernels = process.call_seconds(), process.time(1000)[0] / 1000

    # The call of a function, and one of a virtual machine.
    assert one is not None
    assert 0 < one < kernels


def test_a_missing_device_is_named(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(16, 16, 16)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    elsewhere = replace(kernel.verify, settings={"device": "local-sync://3", "batch": 1})

    with pytest.raises(NotRunnable, match="No device local-sync://3: "):
        load(elsewhere)


def test_a_missing_function_is_named(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(16, 16, 16)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)

    with pytest.raises(KernelError, match="has no function other"):
        load(replace(kernel.verify, symbol="other"))


def test_operands_of_another_shape_are_refused(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Matmul(16, 16, 16)
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)

    with pytest.raises(KernelError, match=r"IREE failed: .*shape"):
        load(kernel.verify).run(operands(Matmul(8, 8, 8)))


def test_the_attribute_of_a_convolution_is_lost(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Conv2d(1, 18, 18, 16, 32, 3, 3)
    first = provider.configurations(operation)[0]
    by_attribute = replace(first, parameters={**first.parameters, "applied_by": "attribute"})

    lost = compile_kernel(provider, operation, by_attribute, tmp_path / "attribute")
    default = compile_kernel(provider, operation, provider.default(operation), tmp_path / "default")
    put_in = compile_kernel(provider, operation, first, tmp_path / "stage")

    assert lost.config_applied == "no"
    assert lost.detail == f"{default.detail.removesuffix('.')} instead."
    assert put_in.config_applied == "yes"
    code = {each.verify.path.read_bytes() for each in (lost, default)}
    assert len(code) == 1
    assert put_in.verify.path.read_bytes() not in code


@pytest.mark.parametrize(
    "operation",
    [
        BatchMatmul(3, 32, 48, 16),
        BatchMatmul(3, 30, 44, 20, lhs_layout="n"),
        Conv2d(2, 17, 17, 16, 24, 3, 3, 2, 2),
        Conv2d(1, 18, 18, 16, 32, 3, 3, layout="nchw_fchw"),
        Conv2d(1, 14, 14, 16, 32, 1, 1),
        MatmulBiasRelu(64, 48, 32),
    ],
    ids=lambda operation: operation.name,
)
def test_kinds_that_can_be_configured(
    provider: IreeProvider, operation: Operation, tmp_path: Path
) -> None:
    first, *_, last = provider.configurations(operation)
    for configuration in (first, last):
        kernel = compile_kernel(provider, operation, configuration, tmp_path / configuration.name)

        assert (kernel.config_applied, kernel.detail) == ("yes", "")
        assert computes(kernel, operation)


@pytest.mark.parametrize(
    "operation",
    [Conv2d(1, 14, 14, 16, 32, 1, 1, 2, 2), Pooling(1, 18, 18, 8, 3, 3), Reduction((16, 32), (1,))],
    ids=lambda operation: operation.name,
)
def test_other_kinds_have_the_default_alone(
    provider: IreeProvider, operation: Operation, tmp_path: Path
) -> None:
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)

    assert not provider.configurations(operation)
    assert not provider.space(operation)
    assert kernel.config_applied == "default"
    assert computes(kernel, operation)


@pytest.mark.parametrize(
    "operation", [Matmul(64, 64, 64), Conv2d(1, 18, 18, 16, 32, 3, 3)], ids=lambda each: each.kind
)
def test_choices_of_a_search_compile(
    provider: IreeProvider, operation: Operation, tmp_path: Path
) -> None:
    choice = {name: sizes[1] for name, sizes in provider.space(operation).items()}

    kernel = compile_kernel(provider, operation, provider.configured(operation, choice), tmp_path)

    assert kernel.config_applied == "yes"
    assert computes(kernel, operation)


def test_denormals_are_flushed_as_the_kernel_says(provider: IreeProvider, tmp_path: Path) -> None:
    operation = Elementwise((64,), ("add",))
    kernel = compile_kernel(provider, operation, provider.default(operation), tmp_path)
    denormal = np.full(64, 2.0**-130, np.float32)
    with KernelProcess(kernel.verify) as process:
        result = process.run([denormal, denormal])
    assert kernel.flushes_denormals
    assert not result.any()
