"""Real kernels are measured in processes of their own, and the peaks of this machine."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.profiling.peaks import machine_peaks
from actiondbg.kernels.profiling.profiler import Kernel, Profiler
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Profile
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
    assert isinstance(crash, str)
    assert "SIGABRT" in crash
    assert isinstance(late, str)
    assert "SIGSEGV" in late


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
