"""Wrong kernels of real pipelines, and the actions that make them wrong."""

from __future__ import annotations

import csv
import json
import math
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from actiondbg.kernels.bisection.dispatch_bisection import (
    KERNEL,
    REPORT,
    KernelCulprit,
    RowBisector,
    bisect_dispatch,
    count_steps,
    triage,
)
from actiondbg.kernels.bisection.random_pipelines import random_dispatches, small_operations
from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.generic import Reduction
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.kernels.results.entry import Row, Verdict, Verification
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.verification.expectation import ReferenceCache
from actiondbg.kernels.verification.verifier import Verifier
from tests.elements import some
from tests.fakes import command_line
from tests.paths import COMMAND
from tests.processes import descendants, wait_for_end

# Upstream pull request 196973: vectors of two dimensions ignore the stride.
STRIDE_2 = Conv2d(1, 9, 9, 4, 8, 3, 3, stride_h=2, stride_w=2)
VECTORIZE = (
    "convert-linalg-to-affine-loops,affine-loop-invariant-code-motion,"
    "affine-super-vectorize{virtual-vector-size=4,4}"
)


def with_pipeline(pipeline: str) -> Configuration:
    """Return a configuration of the provider mlir."""
    return Configuration("mlir", "mlir_pipeline", {"pipeline": pipeline})


class Workshop:
    """The folder of generated kernels, and what compiles, runs and bisects them."""

    def __init__(self, folder: Path, provider: str = "mlir") -> None:
        self.folder = GeneratedFolder(folder)
        self.provider = make_provider(provider)
        self.verifier = Verifier(ReferenceCache(self.folder))

    def folder_of(self, dispatch: Dispatch) -> Path:
        """Return the folder of a dispatch, with its source."""
        folder = self.folder.of_dispatch(dispatch)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "configured.mlir").write_text(self.provider.source(dispatch))
        return folder

    def verify(self, dispatch: Dispatch) -> Verification:
        """Compile and verify a dispatch."""
        folder = self.folder_of(dispatch)
        compiled = self.provider.compile(dispatch, folder, CompilationSteps(folder))
        return self.verifier.verify(dispatch, compiled)

    def bisect(
        self, dispatch: Dispatch, verdict: Verdict = "FAILED", detail: str = ""
    ) -> KernelCulprit:
        """Find the culprit of a dispatch."""
        folder = self.folder_of(dispatch)
        return bisect_dispatch(
            dispatch, folder, self.provider, self.verifier, verdict=verdict, detail=detail
        )


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_the_stride_2_convolution_is_wrong_and_its_culprit_is_named(workshop: Workshop) -> None:
    dispatch = Dispatch(STRIDE_2, with_pipeline(VECTORIZE))
    verification = workshop.verify(dispatch)
    assert verification.verdict == "FAILED"
    culprit = workshop.bisect(dispatch)
    assert culprit.is_found
    assert culprit.title == "pass affine-super-vectorize"
    assert "virtual-vector-size={4,4}" in culprit.pipeline
    assert "The whole run without it is good." in culprit.sentence
    folder = workshop.folder.of_dispatch(dispatch)
    assert culprit.folder == folder / REPORT
    assert "affine-super-vectorize" in (folder / REPORT / "report.md").read_text()


BFLOAT = (
    "--iree-global-opt-demote-contraction-inputs-operations=matmul",
    "--iree-global-opt-demote-contraction-inputs-type=bf16",
)


@pytest.mark.parametrize(
    ("operation", "flags", "culprit"),
    [
        (Matmul(8, 8, 8), BFLOAT, "DemoteContractionInputsPattern"),
        (
            Reduction((4, 32), axes=(1,), combiner="max"),
            ("--iree-llvmcpu-use-fast-min-max-ops",),
            "ReplaceSlowWithFastReductionMinMaxOpPattern",
        ),
    ],
    ids=["before dispatches", "in a dispatch"],
)
def test_the_culprit_in_iree_compile_is_named(
    tmp_path: Path, operation: Operation, flags: Sequence[str], culprit: str
) -> None:
    """Each flag plants a fault: without the pattern that it turns on, the kernel is right."""
    pytest.importorskip("iree.runtime", reason="needs the extra iree")
    workshop = Workshop(tmp_path, "iree")
    dispatch = Dispatch(operation, Configuration("iree", "iree_flags", {"flags": flags}))
    assert workshop.verify(dispatch).verdict == "FAILED"
    default = Dispatch(operation, workshop.provider.default(operation))
    assert workshop.verify(default).verdict == "SUCCESS"
    found = workshop.bisect(dispatch)
    assert culprit in found.title
    assert "The whole run without it is good." in found.sentence


# The loops run through columns after the first tiling, and through rows again after the second one.
# By columns it takes 13 times as long as by rows, and 6 times as long as by the rows of tiles.
TILE = "affine-loop-tile{tile-sizes=256,1}"
NORMALIZE = "affine-loop-normalize"
ROWS = "convert-linalg-to-affine-loops"
COLUMNS = f"{ROWS},{TILE}"
ROWS_AGAIN = f"{COLUMNS},{NORMALIZE}{{promote-single-iter=1}},{TILE}"
SUM = ("--operation-kind", "elementwise", "--problem", "shape=256x1024", "--problem", "steps=add")


def _milliseconds(folder: Path, pipeline: str) -> float:
    """Measure a kernel."""
    folder.mkdir(parents=True)
    command = [COMMAND, "kernels", "run", *SUM, "--pipeline", pipeline, "--output", "rows.csv"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    with (folder / "rows.csv").open() as file:
        (row,) = csv.DictReader(file)
    return float(row["min_ms"])


@pytest.mark.parametrize(
    ("pipeline", "before", "option", "culprit"),
    [
        (COLUMNS, ROWS, "--slower-than", "pass affine-loop-tile"),
        (ROWS_AGAIN, COLUMNS, "--faster-than", f"pass {NORMALIZE}"),
    ],
)
def test_the_pass_that_decides_the_time_is_named(
    tmp_path: Path, pipeline: str, before: str, option: str, culprit: str
) -> None:
    """The limit is between the times with and without the pass, on this machine."""
    times = [_milliseconds(tmp_path / str(at), each) for at, each in enumerate((before, pipeline))]
    limit = f"{math.sqrt(math.prod(times)):.4f}"
    files = tmp_path / "bisected"
    words = [*SUM, "--pipeline", pipeline, option, limit, "--generated-dir", files, "--json"]
    done = command_line.run("kernels", "bisect", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert culprit in done.stdout
    (kernel,) = (each for each in files.rglob("kernel.json") if each.parent.name != REPORT)
    scheduled = kernel.with_name("scheduled.mlir")
    judged = command_line.run("kernels", "judge", kernel, scheduled)
    assert judged.returncode == 1, judged.stdout
    assert "a call takes" in judged.stdout


def test_two_limits_are_bad_usage(tmp_path: Path) -> None:
    words = ["--slower-than", "1", "--faster-than", "2"]
    done = command_line.run("kernels", "bisect", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "--slower-than and --faster-than exclude each other" in done.stderr


def test_the_reproducer_judges_kernels_in_a_folder_of_its_own(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(COMMAND).parent}:/usr/bin:/bin")
    culprit = workshop.bisect(Dispatch(STRIDE_2, with_pipeline(VECTORIZE)))
    assert culprit.folder is not None
    moved = culprit.folder.rename(workshop.folder.path / "moved")
    done = subprocess.run([moved / "repro.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1. bad, expected bad" in done.stdout


def test_the_same_kernel_is_not_bisected_twice(workshop: Workshop) -> None:
    dispatch = Dispatch(STRIDE_2, with_pipeline(VECTORIZE))
    first = workshop.bisect(dispatch)
    report = workshop.folder.of_dispatch(dispatch) / REPORT / "report.md"
    written = report.stat().st_mtime_ns
    assert workshop.bisect(dispatch) == first
    assert report.stat().st_mtime_ns == written
    report.parent.rename(report.parent.with_name("moved"))
    assert workshop.bisect(dispatch).title == first.title
    assert report.exists()


class Counted:
    """A verifier that counts its runs; at one of them, from 1, the user presses Ctrl-C."""

    def __init__(self, verifier: Verifier, interrupted_at: int = 0) -> None:
        self.runs = 0
        self._verifier = verifier
        self._interrupted_at = interrupted_at

    def identity(self, dispatch: Dispatch) -> str:
        """Return the digest of the references."""
        return self._verifier.identity(dispatch)

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        """Verify a kernel."""
        self.runs += 1
        if self.runs == self._interrupted_at:
            raise KeyboardInterrupt
        return self._verifier.verify(dispatch, compiled)


def test_an_interrupted_bisection_continues(workshop: Workshop) -> None:
    dispatch = Dispatch(STRIDE_2, with_pipeline(VECTORIZE))
    folder = workshop.folder_of(dispatch)

    def bisect(verifier: Counted) -> KernelCulprit:
        return bisect_dispatch(dispatch, folder, workshop.provider, verifier)

    whole = Counted(workshop.verifier)
    expected = bisect(whole)
    (folder / "culprit.json").unlink()
    with pytest.raises(KeyboardInterrupt):
        bisect(Counted(workshop.verifier, interrupted_at=4))
    rest = Counted(workshop.verifier)
    assert bisect(rest).title == expected.title
    assert rest.runs < whole.runs


def test_a_crash_of_the_compiler_is_bisected(workshop: Workshop) -> None:
    pipeline = (
        "func.func(convert-linalg-to-affine-loops,affine-super-vectorize{virtual-vector-size=2,8},"
        "affine-loop-coalescing,affine-loop-fusion{mode=greedy})"
    )
    dispatch = Dispatch(STRIDE_2, with_pipeline(pipeline))
    folder = workshop.folder_of(dispatch)
    with pytest.raises(CompileError, match="was killed by signal 6"):
        workshop.provider.compile(dispatch, folder, CompilationSteps(folder))
    culprit = workshop.bisect(dispatch, "NOT COMPILED")
    assert culprit.title == "pass affine-loop-fusion"


@pytest.mark.parametrize(
    ("passes", "step", "culprit"),
    [
        # Invalid IR after the configured step, and an operation that no later step lowers.
        ("affine-loop-tile,affine-super-vectorize{virtual-vector-size=4,4}", 1, "affine-super"),
        ("affine-data-copy-generate{generate-dma=1 fast-mem-space=0}", 3, "affine-data-copy"),
    ],
)
def test_a_compilation_that_fails_is_bisected(
    workshop: Workshop, passes: str, step: int, culprit: str
) -> None:
    pipeline = f"func.func(convert-linalg-to-affine-loops,affine-loop-unroll,{passes})"
    dispatch = Dispatch(Matmul(7, 9, 5), with_pipeline(pipeline))
    folder = workshop.folder_of(dispatch)
    with pytest.raises(CompileError) as failed:
        workshop.provider.compile(dispatch, folder, CompilationSteps(folder))
    assert count_steps(folder / "compile.log") == step
    found = workshop.bisect(dispatch, "NOT COMPILED", str(failed.value))
    assert found.title.startswith(f"pass {culprit}")


def test_a_pass_that_does_more_than_its_patterns_is_the_culprit(workshop: Workshop) -> None:
    """Its patterns are candidates instead of it: tiling, without which it is right, is not."""
    pipeline = (
        "func.func(convert-linalg-to-affine-loops,affine-loop-unroll{unroll-full-threshold=4},"
        "affine-loop-tile{tile-size=2},"
        "affine-data-copy-generate{fast-mem-space=0 fast-mem-capacity=4})"
    )
    dispatch = Dispatch(STRIDE_2, with_pipeline(pipeline))
    verdict = workshop.verify(dispatch).verdict
    assert verdict == "CRASHED"
    culprit = workshop.bisect(dispatch, verdict)
    assert culprit.title == "pass affine-data-copy-generate"


def test_a_kernel_that_is_right_is_reported_as_such(workshop: Workshop) -> None:
    dispatch = Dispatch(Matmul(8, 8, 8), with_pipeline("convert-linalg-to-loops"))
    assert workshop.verify(dispatch).verdict == "SUCCESS"
    culprit = workshop.bisect(dispatch)
    assert culprit.verdict == "not-bad"
    assert not culprit.is_found


def test_judge_has_the_exit_statuses_of_git_bisect(workshop: Workshop, tmp_path: Path) -> None:
    dispatch = Dispatch(STRIDE_2, with_pipeline(VECTORIZE))
    workshop.verify(dispatch)
    workshop.bisect(dispatch)
    folder = workshop.folder.of_dispatch(dispatch)
    broken = tmp_path / "broken.mlir"
    broken.write_text("module {")

    def judge(output: Path) -> tuple[int, str]:
        done = command_line.run("kernels", "judge", folder / KERNEL, output)
        return done.returncode, done.stdout or done.stderr

    status, text = judge(folder / "scheduled.mlir")
    assert status == 1
    assert text.startswith("bad: ") and "of 128 elements are wrong" in text
    assert judge(folder / "configured.mlir") == (0, "good: the kernel is right\n")
    status, text = judge(broken)
    assert (status, text.partition(":")[0]) == (125, "untestable")
    status, text = judge(tmp_path / "missing.mlir")
    assert (status, text) == (
        126,
        f"actiondbg: There is no file '{tmp_path / 'missing.mlir'}' to judge.\n",
    )


def test_wrong_kernels_of_random_pipelines_are_grouped_by_their_culprits(
    tmp_path: Path, workshop: Workshop
) -> None:
    kernels = Kernels(SweepSettings(generated_dir=tmp_path, profile=False))
    dispatches = random_dispatches(small_operations(), 13)
    kernels.write(dispatches)
    rows = kernels.run(dispatches)
    wrong = [row for row in rows if row.verification and row.verification.verdict == "FAILED"]
    assert STRIDE_2 in [row.dispatch.operation for row in wrong]
    bisector = RowBisector(kernels.folder, kernels.providers, workshop.verifier)
    bisected = [bisector.bisect(row) for row in wrong]
    assert all("affine-super-vectorize" in row.culprit for row in some(bisected))
    assert [group.title for group in triage(bisector.bisected)] == [
        "pass affine-super-vectorize: wrong results"
    ]


def test_a_row_of_a_bisection_that_fails_has_the_reason(workshop: Workshop) -> None:
    dispatch = Dispatch(STRIDE_2, with_pipeline("no-such-pass"))
    workshop.folder_of(dispatch)
    bisector = RowBisector(workshop.folder, {"mlir": workshop.provider}, workshop.verifier)
    row = bisector.bisect(Row(dispatch, verification=Verification("FAILED")))
    assert row.culprit.startswith("undecided: ")
    assert row.culprit_folder == ""


def test_the_file_of_a_kernel_is_plain_data(workshop: Workshop) -> None:
    dispatch = Dispatch(STRIDE_2, with_pipeline(VECTORIZE))
    workshop.bisect(dispatch)
    content = json.loads((workshop.folder.of_dispatch(dispatch) / KERNEL).read_text())
    assert content["kind"] == "conv_2d"
    assert content["operation"]["stride_h"] == 2
    assert content["configuration"]["parameters"] == {"pipeline": VECTORIZE}
    assert content["verdict"] == "FAILED"


def run_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``actiondbg kernels bisect`` in a folder."""
    return command_line.run("kernels", "bisect", *words, cwd=folder)


def test_one_command_generates_finds_wrong_and_bisects(tmp_path: Path) -> None:
    words = ["--operation-kind", "conv_2d", "--dispatches", "*s2x2*", "--pipeline", VECTORIZE]
    done = run_command(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    first, *lines = done.stdout.splitlines()
    assert ": FAILED, " in first and "elements are wrong" in first
    assert lines[0].startswith("  Culprit: ")
    assert "(affine-super-vectorize)" in lines[0]
    assert lines[-1] == "1 kernel: 1 wrong, 1 of 1 bisected to 1 culprit."
    report = next(line for line in lines if line.startswith("  Report: ")).split()[-1]
    assert (tmp_path / report).is_file()
    # By name, of what is generated; nothing is done again.
    again = run_command(tmp_path, "conv_2d*", "--json")
    assert again.returncode == 0, again.stderr
    (culprit,) = json.loads(again.stdout)["culprits"]
    assert culprit["pass"] == "affine-super-vectorize"
    assert culprit["report"] == str(tmp_path / report.removesuffix("/report.md"))


def test_nothing_generated_names_the_way_out(tmp_path: Path) -> None:
    done = run_command(tmp_path, "conv_2d*")
    assert done.returncode == 1
    assert "does not exist: run 'actiondbg kernels generate'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_right_kernels_have_no_culprits(tmp_path: Path) -> None:
    words = ["--operation-kind", "matmul", "--problem-m", "8", "--problem-n", "8"]
    done = run_command(tmp_path, *words, "--problem-k", "8", "--default-config")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(": 0 wrong.\n")


def test_rows_with_culprits_are_written(tmp_path: Path) -> None:
    words = ["--operation-kind", "conv_2d", "--dispatches", "*s2x2*", "--pipeline", VECTORIZE]
    done = run_command(tmp_path, *words, "--output", "wrong.csv", "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    assert "pass affine-super-vectorize" in (tmp_path / "wrong.csv").read_text()


def test_a_kernel_without_a_culprit_is_named_with_its_reason(tmp_path: Path) -> None:
    words = ["--operation-kind", "conv_2d", "--dispatches", "*s2x2*", "--pipeline", "no-such-pass"]
    done = run_command(tmp_path, *words)
    assert done.returncode == 1
    first, *_ = done.stdout.splitlines()
    assert ": NOT COMPILED, mlir-opt failed with exit status 1" in first
    assert done.stdout.splitlines()[-1] == "1 kernel: 1 wrong."


def test_an_interrupt_keeps_what_is_found(tmp_path: Path) -> None:
    words = [COMMAND, "kernels", "bisect", "--random-pipelines", "10"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        for line in running.stdout:
            if line.startswith("  Culprit: "):
                break
        family = descendants(running.pid)
        running.send_signal(signal.SIGINT)
        printed, errors = running.stdout.read(), running.stderr.read()
        assert running.wait() == 130
    assert "10 kernels: " in printed
    assert errors.splitlines()[-1] == "actiondbg: interrupted: the same command continues."
    assert "Traceback" not in errors
    wait_for_end(family)
    (stored,) = tmp_path.rglob("culprit.json")
    written = stored.stat().st_mtime_ns
    again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert stored.stat().st_mtime_ns == written
