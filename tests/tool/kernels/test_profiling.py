"""Real kernels are measured in processes of their own, and the peaks of this machine."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from actiondbg.kernels.errors import KernelCrashed, ResultChanged
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.profiling.peaks import machine_peaks
from actiondbg.kernels.profiling.profiler import Kernel, Profiler, TimedVerifier, TimeLimit
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Profile
from actiondbg.kernels.verification.expectation import ReferenceCache
from actiondbg.kernels.verification.verifier import Verifier
from tests.fakes.kernels.c_kernel import MATMUL, compile_kernel

_OPERATION = Matmul(8, 12, 16)

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")


def _kernel(folder: Path, name: str, body: str) -> Kernel:
    (folder / name).mkdir()
    binary = compile_kernel(folder / name, _OPERATION, body)
    dispatch = Dispatch(_OPERATION, Configuration("c", name))
    return dispatch, CompiledKernel(binary, binary, "unknown")


def test_kernels_that_crash_leave_the_others_measured(tmp_path: Path) -> None:
    right = MATMUL.format(m=8, n=12, k=16)
    bodies = {
        "often": f"for (volatile int t = 0; t < 1000; t++) {{ {right} }}",
        "once": right,
        "crash": "abort();",
        "late": "static int calls; if (calls++ > 2) raise(SIGSEGV);",
    }
    kernels = [_kernel(tmp_path, name, body) for name, body in bodies.items()]
    measured = Profiler(partial(KernelProcess, seconds=60.0), repetitions=3).profile(kernels)
    often, once, crash, late = (measured[dispatch.name] for dispatch, _ in kernels)
    assert isinstance(often, Profile)
    assert isinstance(once, Profile)
    assert (len(often.seconds), len(once.seconds)) == (3, 3)
    # A thousand times the work: no noise hides it.
    assert min(once.seconds) < min(often.seconds)
    assert often.confirmed is None
    assert once.confirmed is not None
    assert isinstance(crash, KernelCrashed)
    assert "SIGABRT" in str(crash)
    assert isinstance(late, KernelCrashed)
    assert "SIGSEGV" in str(late)


def test_a_kernel_that_stops_to_compute_has_no_time(tmp_path: Path) -> None:
    """The times of its later calls are those of nothing."""
    right = MATMUL.format(m=8, n=12, k=16)
    bodies = {
        "lazy": f"static int calls; if (calls++ >= 400) return; {right}",
        "adding": f"static int calls; {right} result[95] += calls++ > 2;",
        "right": f"static int calls; calls++; {right}",
    }
    kernels = [_kernel(tmp_path, name, body) for name, body in bodies.items()]
    measured = Profiler(partial(KernelProcess, seconds=60.0), repetitions=3).profile(kernels)
    lazy, adding, counting = (measured[dispatch.name] for dispatch, _ in kernels)
    assert isinstance(lazy, ResultChanged)
    assert "computes 96 of 96 elements otherwise than in its first call" in str(lazy)
    assert isinstance(adding, ResultChanged)
    assert "computes 1 of 96 elements" in str(adding)
    assert isinstance(counting, Profile)


def test_a_wrong_kernel_has_a_time_whatever_its_later_calls_do(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, "lazy", "static int calls; if (calls++ < 5) result[0] = 1;")
    measured = Profiler(partial(KernelProcess, seconds=60.0), repetitions=3).profile([kernel], ())
    assert isinstance(measured[kernel[0].name], Profile)


def test_a_limit_of_time_is_none_of_a_kernel_that_stops_to_compute(tmp_path: Path) -> None:
    right = MATMUL.format(m=8, n=12, k=16)
    dispatch, compiled = _kernel(
        tmp_path, "lazy", f"static int calls; if (calls++ >= 400) return; {right}"
    )
    verifier = Verifier(ReferenceCache(GeneratedFolder(tmp_path)))
    timed = TimedVerifier(verifier, TimeLimit(60.0), KernelProcess)
    verification = timed.verify(dispatch, compiled)
    assert verification.verdict == "FAILED"
    assert "The times are those of other work" in verification.detail


def test_the_machine_has_peaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    peaks = machine_peaks()
    assert {"f32", "f64", "i32"} <= peaks.gflops.keys()
    assert all(rate > 0 for rate in peaks.gflops.values())
    assert peaks.levels[0].name == "L1"
    assert peaks.levels[-1].name == "memory"
    sizes = [level.size for level in peaks.levels]
    assert sizes == sorted(sizes)
    assert all(level.bandwidth > 0 for level in peaks.levels)
    assert machine_peaks() == peaks
