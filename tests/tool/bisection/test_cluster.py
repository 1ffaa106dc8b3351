"""Trials that the workers of a Dask cluster make."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.errors import OracleError, UsageError
from tests.conftest import LIBRARY
from tests.fakes.folds import write_folds
from tests.paths import COMMAND

BUILDS = LIBRARY

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

COUNT = 30
JUDGE = "grep -A2 '@f17(' {} | grep -q addi"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), COUNT)


def _tools(folder: Path) -> list[int]:
    """Return the processes of the tool that run in a folder."""
    found: list[int] = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        try:
            is_tool = (cwd.parent / "comm").read_text().strip() == "mlir-opt"
            if is_tool and os.readlink(cwd) == str(folder):
                found.append(int(cwd.parent.name))
        except OSError:
            continue
    return found


def _wait_until_none(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while _tools(folder):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("mode", ["first", "minimize", "skip"])
@pytest.mark.parametrize("jobs", [1, None])
def test_cluster_finds_the_same_culprit(
    cluster: Any, mlir_opt: str, source: str, mode: Any, jobs: int | None
) -> None:
    argv = [mlir_opt, source, "--canonicalize"]
    alone = actiondbg.bisect(argv, JUDGE, mode=mode)
    there = actiondbg.bisect(argv, JUDGE, mode=mode, jobs=jobs, dask=cluster.scheduler_address)
    assert alone.found
    ours, theirs = alone.as_json(), there.as_json()
    for key in (
        "seconds",
        "oracle_runs",
        "plain_bad",  # these depend on the load
        "plain_runs",
        *(["trials"] if jobs is None else []),
    ):  # more are made ahead
        del ours[key], theirs[key]
    assert theirs == ours
    _wait_until_none(Path.cwd())


def test_the_standard_input_and_the_output_file(cluster: Any, mlir_opt: str, source: str) -> None:
    result = actiondbg.bisect(
        [mlir_opt, "--canonicalize", "-o", "out.mlir"],
        JUDGE,
        stdin=source,
        dask=cluster.scheduler_address,
    )
    assert result.culprit is not None and result.culprit.function == "f17"
    assert os.listdir() == ["folds.mlir"]


def test_oracle_that_cannot_run_on_the_workers(cluster: Any, mlir_opt: str, source: str) -> None:
    argv = [mlir_opt, source, "--canonicalize"]
    test = 'test "$(grep -c addi {})" -eq 0 && exit 1; test "$(grep -c addi {})" -eq 30 || exit 127'
    with pytest.raises(OracleError, match="cannot be run"):
        actiondbg.bisect(argv, test, dask=cluster.scheduler_address)
    _wait_until_none(Path.cwd())


def test_missing_scheduler(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actiondbg.support.dask_client._CONNECT_SECONDS", 1)
    with pytest.raises(UsageError, match=r"tcp://127\.0\.0\.1:1.*cannot be reached"):
        actiondbg.bisect(["mlir-opt", source, "--canonicalize"], JUDGE, dask="tcp://127.0.0.1:1")


def test_killed_bisection_leaves_no_process_on_the_workers(
    cluster: Any, mlir_opt: str, source: str
) -> None:
    Path("judge.sh").write_text(
        f"echo x >> {Path.cwd()}/judged\n"
        f'[ "$(wc -l < {Path.cwd()}/judged)" -lt 4 ] || sleep 600\n'
        "grep -A2 '@f17(' \"$1\" | grep -q addi\n"
    )
    words = ["--test", "sh judge.sh {}", "--dask", cluster.scheduler_address, "--", mlir_opt]
    process = subprocess.Popen(
        [COMMAND, "bisect", *words, source, "--canonicalize"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    judged = Path("judged")
    deadline = time.monotonic() + 60
    while not judged.is_file() or len(judged.read_text().splitlines()) < 4:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    assert len(_tools(Path.cwd())) > 2
    process.kill()
    process.wait()
    _wait_until_none(Path.cwd())
