"""A sweep over dispatches, with a provider whose compiler is cp."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.kernels.bisection.dispatch_bisection import RowBisector
from actiondbg.kernels.generated import GeneratedFolder, read_manifest
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.profiling.profiler import Kernel, Measured, Profiler
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Profile, Row, Verification
from actiondbg.kernels.sweep.generation import plan_dispatches, write_dispatches
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import DispatchCompiler, Stages, Sweep, SweepProgress
from tests.fakes.kernels.copying_provider import BROKEN, GOOD, LARGE, CopyingProvider

_MATMULS = [Matmul(8, 8, size) for size in (8, 16, 32)]


class _Verifier:
    """Finds kernels of k = 16 wrong, and those of k = 32 crashed."""

    def __init__(self) -> None:
        self.verified: list[str] = []
        self.references = "1"

    def identity(self, dispatch: Dispatch) -> str:
        return self.references

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        assert compiled.verify.path.read_text().startswith("// copying")
        self.verified.append(dispatch.name)
        sizes = {8: "SUCCESS", 16: "FAILED", 32: "CRASHED"}
        return Verification(sizes[dispatch.operation.loops[2].size])  # type: ignore[arg-type]


class _Profiler(Profiler):
    """Measures a second for each kernel."""

    def __init__(self) -> None:
        self.candidates: set[str] = set()

    def profile(
        self,
        kernels: Sequence[Kernel],
        candidates: Collection[str] | None = None,
    ) -> Measured:
        self.candidates |= set(candidates or ())
        return {dispatch.name: Profile((1.0,)) for dispatch, _ in kernels}


class _Bisector(RowBisector):
    def __init__(self) -> None:
        pass

    def bisect(self, row: Row) -> Row:
        return replace(row, culprit="#3")


def _sweep(
    folder: Path, provider: CopyingProvider, verifier: _Verifier | None = None, force: bool = False
) -> Sweep:
    providers = {"copying": provider}
    given = SweepSettings(generated_dir=folder, force_compile=force)
    compiler = DispatchCompiler(given, providers)
    stages = Stages(compiler, verifier or _Verifier(), _Profiler(), _Bisector(), jobs=2)
    return Sweep(stages, providers)


def _generate(folder: Path, provider: CopyingProvider) -> list[Dispatch]:
    dispatches = plan_dispatches(_MATMULS, [provider]).dispatches
    write_dispatches(GeneratedFolder(folder), {"copying": provider}, dispatches)
    return dispatches


def test_what_does_not_fit_is_not_planned() -> None:
    planned = plan_dispatches(_MATMULS[:1], [CopyingProvider()])
    assert [each.configuration for each in planned.dispatches] == [GOOD, BROKEN]
    assert planned.obstacles == [
        "matmul_8x8x8_f32t_f32t_f32t_copying_large: The tile 1024 is larger than the largest loop, "
        "8."
    ]


def test_the_default_is_planned_on_request_or_without_others() -> None:
    provider = CopyingProvider()
    wanted = plan_dispatches(_MATMULS[:1], [provider], default=True).dispatches
    assert wanted[0].configuration.name == "copying_default"
    assert plan_dispatches(_MATMULS[:1], [provider], own=[LARGE]).dispatches == []


def test_files_are_laid_out_as_documented(tmp_path: Path) -> None:
    dispatches = _generate(tmp_path, CopyingProvider())
    base = tmp_path / "generated/linalg"
    operation = base / "matmul/matmul_8x8x16_f32t_f32t_f32t"
    assert (operation / "matmul_8x8x16_f32t_f32t_f32t.mlir").read_text().startswith("func.func @")
    assert (operation / "copying_good/configured.mlir").is_file()
    assert read_manifest(base / "manifest.json") == dispatches


def test_each_dispatch_becomes_a_row_whatever_happens_to_it(tmp_path: Path) -> None:
    provider = CopyingProvider()
    rows = _sweep(tmp_path, provider).run(_generate(tmp_path, provider))
    assert [
        (row.verification and row.verification.verdict, row.profile is not None, row.culprit)
        for row in rows
    ] == [
        ("SUCCESS", True, ""),
        ("NOT COMPILED", False, ""),
        ("FAILED", True, "#3"),
        ("NOT COMPILED", False, ""),
        ("CRASHED", False, "#3"),
        ("NOT COMPILED", False, ""),
    ]
    failed = rows[1].compilation
    assert failed is not None
    assert failed.error.startswith("cp failed with exit status 1")


def test_what_is_up_to_date_is_not_done_again(tmp_path: Path) -> None:
    provider = CopyingProvider()
    dispatches = [each for each in _generate(tmp_path, provider) if each.configuration == GOOD]
    first = _sweep(tmp_path, provider).run(dispatches)
    verifier = _Verifier()
    again = _sweep(tmp_path, provider, verifier).run(dispatches)
    assert provider.compilations == 3
    wrong = [dispatches[1].name, dispatches[2].name]  # what is not right is tried again
    assert sorted(verifier.verified) == sorted(wrong)
    assert [row.verification for row in again] == [row.verification for row in first]


@pytest.mark.parametrize("change", ["source", "version", "missing", "binary", "force", "state"])
def test_what_is_out_of_date_is_done_again(tmp_path: Path, change: str) -> None:
    provider = CopyingProvider()
    dispatch = _generate(tmp_path, provider)[0]
    folder = GeneratedFolder(tmp_path).of_dispatch(dispatch)
    _sweep(tmp_path, provider).run([dispatch])
    if change == "source":
        source = folder / "configured.mlir"
        source.write_text(source.read_text() + "// edited\n")
    elif change == "version":
        provider.version = "2"
    elif change == "missing":
        (folder / "kernel").unlink()
    elif change == "binary":
        (folder / "kernel").write_text("// copying nothing")
    elif change == "state":
        (folder / "compiled.json").write_text("{")
    verifier = _Verifier()
    _sweep(tmp_path, provider, verifier, force=change == "force").run([dispatch])
    assert provider.compilations == 2
    assert verifier.verified == [dispatch.name]


def test_another_reference_needs_another_verification(tmp_path: Path) -> None:
    provider = CopyingProvider()
    dispatch = _generate(tmp_path, provider)[0]
    _sweep(tmp_path, provider).run([dispatch])
    verifier = _Verifier()
    verifier.references = "2"
    _sweep(tmp_path, provider, verifier).run([dispatch])
    assert verifier.verified == [dispatch.name]
    assert provider.compilations == 1


def _verdict_after(folder: Path, profiler: _Profiler) -> Verification:
    provider = CopyingProvider()
    dispatch = _generate(folder, provider)[0]
    stages = _sweep(folder, provider).stages
    sweep = Sweep(replace(stages, profiler=profiler), {"copying": provider})
    (row,) = sweep.run([dispatch])
    assert row.verification is not None
    return row.verification


def test_a_binary_that_changes_while_it_is_measured_is_no_success(tmp_path: Path) -> None:
    class Replacing(_Profiler):
        def profile(
            self,
            kernels: Sequence[Kernel],
            candidates: Collection[str] | None = None,
        ) -> Measured:
            for _, compiled in kernels:
                compiled.profile.path.write_text("// copying nothing")
            return super().profile(kernels, candidates)

    found = _verdict_after(tmp_path, Replacing())
    assert found.verdict == "Not verified"
    assert found.detail == "The binary was changed after it was verified."


@pytest.mark.parametrize(("peak", "verdict"), [(2.0, "SUCCESS"), (0.5, "Not verified")])
def test_a_kernel_faster_than_the_machine_is_no_success(
    tmp_path: Path, peak: float, verdict: str
) -> None:
    class Fast(_Profiler):
        def profile(
            self,
            kernels: Sequence[Kernel],
            candidates: Collection[str] | None = None,
        ) -> Measured:
            flops = Matmul(8, 8, 8).flops
            return {each.name: Profile((flops / 1e9,), peak_gflops=peak) for each, _ in kernels}

    found = _verdict_after(tmp_path, Fast())
    assert found.verdict == verdict
    assert ("above the machine's peak" in found.detail) == (verdict != "SUCCESS")


def test_the_folder_can_be_moved(tmp_path: Path) -> None:
    provider = CopyingProvider()
    dispatches = _generate(tmp_path / "a", provider)[:1]
    _sweep(tmp_path / "a", provider).run(dispatches)
    (tmp_path / "a").rename(tmp_path / "b")
    _sweep(tmp_path / "b", provider).run(dispatches)
    assert provider.compilations == 1


def test_commands_are_saved_and_repeat_the_compilation(tmp_path: Path) -> None:
    import subprocess

    provider = CopyingProvider()
    dispatch = _generate(tmp_path, provider)[0]
    _sweep(tmp_path, provider).run([dispatch])
    folder = GeneratedFolder(tmp_path).of_dispatch(dispatch)
    (folder / "kernel").unlink()
    subprocess.run([folder / "commands.sh"], check=True)
    assert (folder / "kernel").read_bytes() == (folder / "configured.mlir").read_bytes()


def test_an_interrupt_keeps_the_rows_that_are_done(tmp_path: Path) -> None:
    provider = CopyingProvider()
    dispatches = _generate(tmp_path, provider)
    sweep = _sweep(tmp_path, provider)

    def interrupt(progress: SweepProgress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    sweep = Sweep(sweep.stages, {"copying": provider}, report=interrupt)
    with pytest.raises(KeyboardInterrupt):
        sweep.run(dispatches)
    assert len(sweep.rows) == 2


def test_only_right_kernels_can_be_the_fastest(tmp_path: Path) -> None:
    provider = CopyingProvider()
    sweep = _sweep(tmp_path, provider)
    dispatches = _generate(tmp_path, provider)
    sweep.run(dispatches)
    assert isinstance(sweep.stages.profiler, _Profiler)
    assert sweep.stages.profiler.candidates == {dispatches[0].name}
