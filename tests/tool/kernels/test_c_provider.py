"""The provider ``c``: loop nests that a C compiler compiles, verified as the kernels of others."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from actiondbg.kernels.errors import ProviderMissing
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.programs.extraction import operations_of
from actiondbg.kernels.providers.c import CProvider
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.kernels.results.csv_file import read_csv
from actiondbg.kernels.results.entry import Verification
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.verification.expectation import ReferenceCache
from actiondbg.kernels.verification.operands import make_operands
from actiondbg.kernels.verification.verifier import Verifier
from tests.fakes import command_line
from tests.fakes.kernels.operations import OPERATIONS

_IN_C = [
    each
    for each in OPERATIONS
    if not {"f16", "bf16"} & {tensor.type.value for tensor in (*each.inputs, each.result)}
]


@pytest.fixture
def provider() -> CProvider:
    made = make_provider("c")
    assert isinstance(made, CProvider)
    return made


def compile_in(folder: Path, provider: CProvider, operation: Operation) -> CompiledKernel:
    dispatch = Dispatch(operation, provider.default(operation))
    assert provider.obstacle(dispatch) is None
    folder.mkdir()
    (folder / "configured.mlir").write_text(provider.source(dispatch))
    return provider.compile(dispatch, folder, CompilationSteps(folder))


def verified(folder: Path, provider: CProvider, operation: Operation) -> Verification:
    kernel = compile_in(folder / operation.name, provider, operation)
    verifier = Verifier(ReferenceCache(GeneratedFolder(folder)))
    return verifier.verify(Dispatch(operation, provider.default(operation)), kernel)


def run_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run(*words, cwd=folder)


@pytest.mark.parametrize("operation", _IN_C, ids=lambda operation: operation.name)
def test_each_kind_is_right(tmp_path: Path, provider: CProvider, operation: Operation) -> None:
    found = verified(tmp_path, provider, operation)
    assert (found.verdict, found.detail) == ("SUCCESS", "")


# Bits, an index of a loop, a maximum over a stride, and a result that is added to.
_PROGRAM = """
func.func @main(%image: tensor<1x9x9x20xf32>, %numbers: tensor<20xi32>, %old: tensor<20xi32>) -> (tensor<1x4x4x20xf32>, tensor<20xi32>, tensor<20xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %seven = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<1x4x4x20xf32>
  %fill = linalg.fill ins(%low : f32) outs(%empty : tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %pooled = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%image, %window : tensor<1x9x9x20xf32>, tensor<3x3xf32>) outs(%fill : tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xf32>
  %bits = tensor.empty() : tensor<20xi1>
  %negative = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]} ins(%numbers : tensor<20xi32>) outs(%bits : tensor<20xi1>) {
  ^bb0(%in: i32, %out: i1):
    %less = arith.cmpi slt, %in, %seven : i32
    linalg.yield %less : i1
  } -> tensor<20xi1>
  %same = tensor.empty() : tensor<20xi32>
  %positive = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]} ins(%negative, %numbers : tensor<20xi1>, tensor<20xi32>) outs(%same : tensor<20xi32>) {
  ^bb0(%flag: i1, %in: i32, %out: i32):
    %at = linalg.index 0 : index
    %place = arith.index_cast %at : index to i32
    %chosen = arith.select %flag, %place, %in : i32
    linalg.yield %chosen : i32
  } -> tensor<20xi32>
  %added = linalg.add ins(%numbers, %numbers : tensor<20xi32>, tensor<20xi32>) outs(%old : tensor<20xi32>) -> tensor<20xi32>
  return %pooled, %positive, %added : tensor<1x4x4x20xf32>, tensor<20xi32>, tensor<20xi32>
}
"""  # noqa: E501


def test_operations_of_a_program_are_right(tmp_path: Path, provider: CProvider) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(_PROGRAM)
    operations = operations_of(program)
    assert len(operations) == 3
    for operation in operations:
        found = verified(tmp_path, provider, operation)
        assert (found.verdict, found.detail) == ("SUCCESS", "")


def test_an_edited_operation_is_what_is_compiled(tmp_path: Path, provider: CProvider) -> None:
    operation = Matmul(5, 6, 7)
    dispatch = Dispatch(operation, provider.default(operation))
    wrong = provider.source(dispatch).replace("0.0 : f32", "1.0 : f32")
    (tmp_path / "configured.mlir").write_text(wrong)
    kernel = provider.compile(dispatch, tmp_path, CompilationSteps(tmp_path))
    found = Verifier(ReferenceCache(GeneratedFolder(tmp_path))).verify(dispatch, kernel)
    assert (found.verdict, found.wrong) == ("FAILED", 30)


def _loops_of(folder: Path, provider: CProvider, operation: Operation) -> list[str]:
    """Return the sizes of the last nest of loops, the outermost first."""
    compile_in(folder / operation.name, provider, operation)
    text = (folder / operation.name / "kernel.c").read_text()
    return re.findall(r"for \(int64_t i\d+ = 0; i\d+ < (\d+);", text)


def test_the_innermost_loop_reads_neighbours(tmp_path: Path, provider: CProvider) -> None:
    assert _loops_of(tmp_path, provider, Matmul(16, 32, 64)) == ["16", "64", "32"]
    # The columns of a transposed operand are at a distance: its rows are sums.
    assert _loops_of(tmp_path, provider, Matmul(16, 32, 64, rhs_layout="n")) == ["16", "32", "64"]
    image = Conv2d(1, 18, 34, 12, 24, 3, 3, layout="nchw_fchw")
    assert _loops_of(tmp_path, provider, image)[-1] == "32"
    assert _loops_of(tmp_path, provider, Reduction((16, 64), (0,))) == ["16", "64"]
    assert _loops_of(tmp_path, provider, Reduction((16, 64), (1,))) == ["16", "64"]


@pytest.mark.parametrize(
    "operation",
    [
        Matmul(16, 64, 64),
        Matmul(16, 64, 64, rhs_layout="n"),
        Reduction((16, 256), (1,), "max"),
        Elementwise((16, 256), ("add", "max", "relu")),
    ],
    ids=lambda operation: operation.name,
)
def test_the_compiler_makes_vectors(
    tmp_path: Path, provider: CProvider, operation: Operation
) -> None:
    kernel = compile_in(tmp_path / "kernel", provider, operation)
    code = subprocess.run(
        ["objdump", "-d", kernel.verify.path], capture_output=True, text=True, check=True
    ).stdout
    packed = r"\bv?(fmadd\d+|add|max|blendv|cmp\w*|and)ps\b|\bf(mla|add|max\w*|mul)\s+v\d+\.4s"
    assert re.search(packed, code)


def test_what_c_does_not_have_is_left_out(tmp_path: Path) -> None:
    sizes = ["--problem-m", "8", "--problem-n", "8", "--problem-k", "8", "--types", "f32,bf16"]
    command = ["kernels", "generate", "--provider", "mlir,c", "--operation-kind", "matmul", *sizes]
    done = run_command(tmp_path, *command, "--dispatches", "*c_loops")
    assert done.returncode == 0
    assert (
        "left out: matmul_8x8x8_bf16t_bf16t_bf16t_c_loops: Loops in C are not written for the "
        "type bf16." in done.stderr
    )
    assert (tmp_path / "generated/linalg/matmul/matmul_8x8x8_f32t_f32t_f32t/c_loops").is_dir()
    assert not list(tmp_path.rglob("matmul_8x8x8_bf16t_bf16t_bf16t/*"))


def test_a_baseline_stands_beside_own_configurations(tmp_path: Path) -> None:
    kernels = Kernels(SweepSettings(generated_dir=tmp_path), providers=("mlir", "c"))
    own = Configuration("mlir", "mlir_mine", {"vector": [4, 16, 1]})
    planned = kernels.plan([Matmul(16, 16, 16)], configurations=[own])
    names = [each.configuration.name for each in planned.dispatches]
    assert names == ["mlir_mine", "c_loops"]


def test_a_row_reports_what_a_call_takes(tmp_path: Path) -> None:
    sizes = ["--problem-m", "8", "--problem-n", "8", "--problem-k", "8"]
    command = ["kernels", "run", "--provider", "mlir,c", "--operation-kind", "matmul", *sizes]
    options = ["--pipeline", "convert-linalg-to-loops", "--output", "rows.csv"]
    done = run_command(tmp_path, *command, *options)
    assert done.returncode == 0, done.stderr
    rows = read_csv(tmp_path / "rows.csv")
    assert [(each.provider, each.verification.verdict) for each in rows] == [
        ("mlir", "SUCCESS"),
        ("c", "SUCCESS"),
    ]
    for row in rows:
        assert row.call_seconds is not None
        assert row.least is not None
        assert 0 < row.call_seconds < row.least  # of nothing, and of 512 products
    assert len(re.findall(r"Call\(ms\) +: [\d.]+, .* % of the time", done.stdout)) == 2


def test_a_call_that_does_nothing_leaves_the_result(tmp_path: Path, provider: CProvider) -> None:
    operation = Matmul(8, 8, 8)
    kernel = compile_in(tmp_path / "kernel", provider, operation)
    operands = make_operands(operation, "integers")
    with KernelProcess(kernel.profile) as process:
        process.load(operands)
        assert (process.call_seconds() or 0) > 0
        assert process.run(operands).tolist() == operation.reference(operands).values.tolist()


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch, provider: CProvider) -> None:
    def missing(name: str) -> None:
        return None

    monkeypatch.setattr("actiondbg.kernels.providers.c.which", missing)
    with pytest.raises(ProviderMissing, match=r"needs a C compiler: apt-get install gcc"):
        provider.identity()
