"""CPU events of the calls of a kernel, in its row."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.operations.generic import Elementwise
from actiondbg.kernels.results.csv_file import read_csv
from actiondbg.kernels.verification.operands import make_operands
from actiondbg.statistics.event_probe import CountingRefused, choose
from tests.fakes.kernels.c_kernel import compile_kernel
from tests.paths import COMMAND

_PAGES = 16
_SIZES = ["--problem-m", "8", "--problem-n", "8", "--problem-k", "8"]
_RUN = [COMMAND, "kernels", "run", "--operation-kind", "matmul", *_SIZES]
# Each call touches so many pages of new memory.
_BODY = f"""\
char *memory = mmap(0, {_PAGES} * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
madvise(memory, {_PAGES} * 4096, MADV_NOHUGEPAGE);
for (volatile int page = 0; page < {_PAGES}; page++)
  memory[4096 * page] = 1;
munmap(memory, {_PAGES} * 4096);
result[0] = x0[0];
"""


@pytest.fixture(autouse=True)
def countable() -> None:
    try:
        choose(["page-faults"])
    except CountingRefused as error:
        pytest.skip(str(error))


def test_the_events_are_those_of_the_calls_alone(tmp_path: Path) -> None:
    operation = Elementwise((4,), ("neg",))
    binary = compile_kernel(tmp_path, operation, _BODY)
    with KernelProcess(binary) as process:
        process.load(make_operands(operation, "integers"))
        process.time(2000)  # Python's memory grows, too
        (faults,) = process.count(1000, choose(["page-faults"]))
    assert 999 * _PAGES < faults < 1001 * _PAGES


@pytest.mark.parametrize("provider", ["mlir", "c"])
def test_a_row_has_the_events(provider: str, tmp_path: Path) -> None:
    options = ["--provider", provider, "--default-config", "--events", "task-clock,page-faults"]
    done = subprocess.run(
        [*_RUN, *options, "--dispatches", "*default,*c_loops", "--output", "rows.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (row,) = read_csv(tmp_path / "rows.csv")
    assert list(row.counts) == ["task-clock", "page-faults"]
    assert row.counts["task-clock"] > 0
    assert row.counts["page-faults"] < 1  # the memory of operands and result is touched before
    assert "Events        : task-clock " in done.stdout


def test_an_unknown_event_is_bad_usage(tmp_path: Path) -> None:
    done = subprocess.run(
        [*_RUN, "--events", "page-fault"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "There is no event 'page-fault'" in done.stderr
    unused = [*_RUN, "--events", "page-faults", "--profiling-enabled=false"]
    done = subprocess.run(unused, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--events is not used: it needs kernels to be measured" in done.stderr
