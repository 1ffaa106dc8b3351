"""Bisections whose trials start the tool anew, as for a tool that cannot be forked."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

import actiondbg
from actiondbg.bisection.verdict import Mode
from tests.conftest import LIBRARY
from tests.fakes.folds import folded, write_folds
from tests.paths import COMMAND
from tests.processes import descendants, wait_for_end

BUILDS = LIBRARY

COUNT = 30


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), COUNT)


def _is_sleeping(pid: int) -> bool:
    """Whether a process is the command of the oracle."""
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
    except OSError:
        return False


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("mode", ["first", "minimize"])
def test_cold_trials_find_the_same_culprit(
    mlir_opt: str, source: str, mode: Mode, jobs: int
) -> None:
    def is_good(output: Path) -> bool:
        return 17 not in folded(output)

    results = [
        actiondbg.bisect(
            [mlir_opt, source, "--canonicalize"], is_good, mode=mode, jobs=jobs, no_fork=no_fork
        )
        for no_fork in (False, True)
    ]
    assert results[0].found and results[0].culprit is not None
    assert results[1].culprit == results[0].culprit
    assert results[1].applied == results[0].applied
    if jobs == 1:
        assert results[1].oracle_runs == results[0].oracle_runs


def test_the_file_of_the_output_is_each_trials_own(mlir_opt: str, source: str) -> None:
    result = actiondbg.bisect(
        [mlir_opt, source, "--canonicalize", "-o", "out.mlir"],
        lambda output: 5 not in folded(output),
        no_fork=True,
    )
    assert result.found
    assert not Path("out.mlir").exists()


def test_nothing_outlives_an_interrupted_bisection(mlir_opt: str, source: str) -> None:
    command = [COMMAND, "bisect", "--no-fork", "--test", "sleep 60", "--"]
    with Popen([*command, mlir_opt, source, "--canonicalize"], stdout=PIPE, stderr=PIPE) as running:
        deadline = time.monotonic() + 60
        started: list[int] = []
        while not any(map(_is_sleeping, started)) and time.monotonic() < deadline:
            time.sleep(0.05)
            started = descendants(running.pid)
        assert any(map(_is_sleeping, started))
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    wait_for_end(started)
