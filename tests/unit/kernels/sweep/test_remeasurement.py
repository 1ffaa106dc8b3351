"""Times of two builds that differ are measured again, in turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.generated import CompiledState, GeneratedFolder, add_to_manifest
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.profiling.profiler import remeasure
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.report_comparison import Change, compare
from tests.fakes.kernels.timed_kernel import FakeTimedKernel

_OPERATION = Matmul(8, 8, 8)
_NAMES = ("same", "noisy", "planted", "gone")
_DISPATCHES = [Dispatch(_OPERATION, Configuration("mlir", each)) for each in _NAMES]


def _build(parent: Path, build: str) -> GeneratedFolder:
    """Store a binary for each dispatch, whose content is the name of the build."""
    folder = GeneratedFolder(parent / build)
    folder.path.mkdir(parents=True)
    add_to_manifest(folder.manifest, _DISPATCHES)
    for each in _DISPATCHES:
        name = each.configuration.name
        path = folder.of_dispatch(each) / "kernel.so"
        path.parent.mkdir(parents=True)
        path.write_text("both" if name == "same" else f"{build} {name}")
        binary = KernelBinary("x:load", path, "f", _OPERATION.inputs, _OPERATION.result)
        CompiledState(path.parent, build).store_kernel(CompiledKernel(binary, binary, "default"))
        if name == "gone":
            path.unlink()
    return folder


def _report(seconds: float) -> list[Entry]:
    return [
        Entry(
            each.name,
            "matmul",
            _OPERATION.name,
            "mlir",
            each.configuration.name,
            flops=1024,
            seconds=(seconds,) * 5,
        )
        for each in _DISPATCHES
    ]


def test_only_what_is_slower_in_turn_is_slower(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    old, new = _build(tmp_path, "old"), _build(tmp_path, "new")
    log: list[tuple[str, int]] = []

    def start(binary: KernelBinary) -> FakeTimedKernel:
        content = binary.path.read_text()
        seconds = {"old planted": 0.010, "new planted": 0.0115}.get(content, 0.020)
        return FakeTimedKernel(content, log, lambda request: seconds)

    before, after = _report(0.010), _report(0.015)
    comparison = compare(before, after)
    assert len(comparison.of(Change.SLOWER)) == 4
    measured = remeasure((old, new), before, after, comparison.timed, start)
    assert (measured.measured, measured.identical) == (2, 1)
    again = compare(measured.old, measured.new)
    slower = [each.name.rpartition("_")[2] for each in again.of(Change.SLOWER)]
    assert sorted(slower) == ["gone", "planted"]
    planted = [name for name, _ in log if "planted" in name]
    assert {"old planted", "new planted"} == set(planted[-2:])  # in turn, to the end
    assert not any("both" in name for name, _ in log)
