"""Kernels compiled by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.sweep.settings import SweepSettings

_LOOPS = Configuration("mlir", "mlir_loops", {"pipeline": "convert-linalg-to-loops"})
_BROKEN = Configuration("mlir", "mlir_broken", {"pipeline": "no-such-pass"})


@pytest.fixture
def scheduler() -> Iterator[str]:
    distributed: Any = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_workers_send_back_what_they_compiled(scheduler: str, tmp_path: Path) -> None:
    settings = SweepSettings(generated_dir=tmp_path, profile=False, dask=scheduler)
    kernels = Kernels(settings)
    dispatches = kernels.generate([Matmul(4, 6, 8)], configurations=[_LOOPS, _BROKEN])
    right, broken = kernels.run(dispatches)
    assert right.verification is not None
    assert right.verification.verdict == "SUCCESS"
    assert broken.compilation is not None
    assert "no-such-pass" in broken.compilation.error
    folder = kernels.folder.of_dispatch(dispatches[0])
    assert {"kernel.so", "commands.sh", "compile.log"} <= {each.name for each in folder.iterdir()}
