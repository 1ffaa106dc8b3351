"""The oracle of a wrong kernel, over a provider that compiles nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import ActiondbgError
from actiondbg.kernels.bisection.dispatch_bisection import bisect_dispatch
from actiondbg.kernels.bisection.oracle import KernelJudge, WrongKernel, read_kernel, write_kernel
from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.providers.provider import CompiledKernel, ConfiguredStep
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.kernels.results.entry import Verdict, Verification
from tests.fakes.kernels.tuned_provider import TunedProvider

DISPATCH = Dispatch(Matmul(4, 8, 16), Configuration("mlir", "mlir_tile", {"tile": [4, 8, 0]}))


class Finisher:
    """A provider that compiles every output but one with the text ``broken``."""

    def configured_step(self, dispatch: Dispatch) -> ConfiguredStep:
        return ConfiguredStep(["mlir-opt"], Path("out.mlir"))

    def finish(
        self, dispatch: Dispatch, folder: Path, steps: CompilationSteps, scheduled: Path
    ) -> CompiledKernel:
        if scheduled.read_text() == "broken":
            raise CompileError("mlir-translate failed with exit status 1.")
        binary = KernelBinary("", folder / "kernel.so", "f", (), dispatch.operation.result)
        return CompiledKernel(binary, binary, "yes")


class Verifier:
    """A verifier that always gives the same verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict: Verdict = verdict

    def identity(self, dispatch: Dispatch) -> str:
        return ""

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        return Verification(self._verdict, wrong=3, total=32, detail="SIGSEGV")


def judged(folder: Path, whole: Verdict, trial: Verdict, output: str = "module {}") -> Judgement:
    """Judge an output whose kernel has the verdict ``trial``."""
    path = folder / "out.mlir"
    path.write_text(output)
    kernel = WrongKernel(DISPATCH, whole, "LLVM 22")
    return KernelJudge(kernel, Finisher(), Verifier(trial)).judge(path)


@pytest.mark.parametrize(
    ("whole", "trial", "expected"),
    [
        ("FAILED", "SUCCESS", "good"),
        ("FAILED", "FAILED", "bad"),
        ("FAILED", "CRASHED", "bad"),
        ("FAILED", "TIMED OUT", "untestable"),
        ("TIMED OUT", "TIMED OUT", "bad"),
        ("TIMED OUT", "FAILED", "bad"),
        ("CRASHED", "TIMED OUT", "untestable"),
        ("CRASHED", "CRASHED", "bad"),
        ("CRASHED", "FAILED", "bad"),
        ("CRASHED", "SUCCESS", "good"),
        ("CRASHED", "Not verified", "untestable"),
    ],
)
def test_a_limit_is_bad_only_if_the_whole_kernel_exceeds_it(
    tmp_path: Path, whole: Verdict, trial: Verdict, expected: str
) -> None:
    assert judged(tmp_path, whole, trial).verdict == expected


def test_a_reason_counts_the_wrong_elements(tmp_path: Path) -> None:
    judgement = judged(tmp_path, "FAILED", "FAILED")
    assert judgement == Judgement("bad", "3 of 32 elements are wrong")


def test_an_output_that_cannot_be_compiled_is_untestable(tmp_path: Path) -> None:
    judgement = judged(tmp_path, "FAILED", "SUCCESS", "broken")
    assert judgement.verdict == "untestable"
    assert "mlir-translate failed" in judgement.reason


def test_a_kernel_that_cannot_be_compiled_is_judged_by_its_compilation(tmp_path: Path) -> None:
    judgement = judged(tmp_path, "NOT COMPILED", "FAILED", "broken")
    assert judgement.verdict == "bad"
    assert judged(tmp_path, "NOT COMPILED", "FAILED").verdict == "good"


def test_a_kernel_file_is_read_as_written(tmp_path: Path) -> None:
    kernel = WrongKernel(DISPATCH, "FAILED", "LLVM 22")
    write_kernel(tmp_path / "kernel.json", kernel)
    assert read_kernel(tmp_path / "kernel.json") == kernel


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1, "kind": "unknown"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "kernel.json").write_text(text)
    with pytest.raises(ActiondbgError, match=r"does not describe a wrong kernel"):
        read_kernel(tmp_path / "kernel.json")


@pytest.mark.parametrize("fields", ["", ', "kind": "matmul"', "all"])
def test_a_file_of_another_version_is_refused(tmp_path: Path, fields: str) -> None:
    path = tmp_path / "kernel.json"
    write_kernel(path, WrongKernel(DISPATCH, "FAILED", "LLVM 22"))
    if fields == "all":
        path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    else:
        path.write_text(f'{{"version": 2{fields}}}')
    with pytest.raises(ActiondbgError, match=r"has version 2, .* reads 1: bisect the kernel again"):
        read_kernel(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ActiondbgError, match=r"kernel.json' cannot be read \(No such file"):
        read_kernel(tmp_path / "kernel.json")


def test_a_provider_that_compiles_in_one_step_cannot_be_bisected(tmp_path: Path) -> None:
    culprit = bisect_dispatch(DISPATCH, tmp_path, TunedProvider(), Verifier("FAILED"))
    assert culprit.verdict == "untestable"
    assert culprit.sentence.startswith("The provider tuned compiles in one step")
    assert list(tmp_path.iterdir()) == []
