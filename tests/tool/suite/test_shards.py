"""The shards of a lit suite on the workers of a Dask cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.shards import record_shards
from tests.paths import COMMAND
from tests.tool.suite.conftest import ADDS, query, record, run, runs

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

BUILDS = ("pypi",)
Lit = Callable[[bool], list[str]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def dask(cluster: Any) -> tuple[str, ...]:
    return ("--dask", cluster.scheduler_address)


def recorded() -> list[tuple[str, int | None, str, int]]:
    """The runs of the suite."""
    return sorted((one["test"], one["run_line"], one["ended"], one["actions"]) for one in runs())


def shards_noted() -> list[str]:
    """The shards whose drivers the suite names."""
    commands = (Path("suite") / "suite.json").read_text()
    return [word for word in ("1", "2", "3") if f'"--run-shard","{word}"' in commands]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("is_shared", [True, False])
def test_the_suite_is_that_of_one_machine(
    lit_suite: Lit, dask: tuple[str, ...], is_shared: bool
) -> None:
    lit = lit_suite(False)
    assert record(*lit).returncode == 0
    alone = recorded()
    Path("suite").rename("alone")
    # The working directory of a worker is another one: it sends the recordings.
    output = "suite" if is_shared else "/proc/self/cwd/suite"
    words = ["suite", "record", "-o", output, *dask, "--shards", "3"]
    done = run(COMMAND, *words, "--", *lit)
    assert done.returncode == 0, done.stderr
    assert recorded() == alone
    assert done.stdout.count("-- Testing: ") == 3
    assert sorted(p.name for p in Path("suite").iterdir()) == sorted(
        p.name for p in Path("alone").iterdir()
    )
    names = "SELECT DISTINCT name FROM registered JOIN patterns USING (pattern_set) ORDER BY name"
    assert query(names) == query(names, "alone")


def test_the_worst_status_counts(lit_suite: Lit, dask: tuple[str, ...]) -> None:
    lit = lit_suite(False)
    Path("tests/bad.mlir").write_text(f"// RUN: mlir-opt %s --cse | grep nothing\n{ADDS}")
    done = record(*lit, options=dask)
    assert done.returncode == 1
    assert "FAIL: suite :: bad.mlir" in done.stdout
    assert len(runs()) == 6


@pytest.mark.parametrize(
    ("options", "words", "message"),
    [
        (("--dask", "tcp://127.0.0.1:1"), ["ninja", "check"], "only lit"),
        (
            ("--dask", "tcp://127.0.0.1:1"),
            ["lit", "--num-shards=2", "--run-shard=1", "tests"],
            "--shards",
        ),
        (("--shards", "2"), ["lit", "tests"], "--dask"),
        (("--dask", "tcp://127.0.0.1:1"), ["lit", "tests"], "cannot be reached"),
    ],
)
def test_bad_usage(folder: Path, options: tuple[str, ...], words: list[str], message: str) -> None:
    done = record(*words, options=options)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert not Path("suite").exists()


def test_a_driver_that_the_workers_lack(folder: Path, dask: tuple[str, ...]) -> None:
    done = record("./lit", "tests", options=(*dask, "--shards", "2"))
    assert done.returncode == 3
    assert "Shards 1 and 2 of 2 were not recorded" in done.stderr
    assert shards_noted() == []


def test_interrupt_and_resume(lit_suite: Lit, dask: tuple[str, ...]) -> None:
    lit = lit_suite(False)
    for number in range(3):  # in all shards but one
        Path(f"tests/wait{number}.mlir").write_text(
            f"// RUN: mlir-opt %s --cse -o %t\n// RUN: test -e {Path.cwd()}/go || sleep 600\n{ADDS}"
        )
    words = [COMMAND, "suite", "record", "-o", "suite", *dask, "--shards", "3", "--", *lit]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    waiting = Path("tests/out/Output")
    wait_for(lambda: any(waiting.glob("wait*.tmp")))
    os.kill(running.pid, signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 130, output
    assert "Traceback" not in output
    assert "--resume" in output
    left = set("123") - set(shards_noted())
    assert left
    wait_for(lambda: not run("pgrep", "-f", str(Path.cwd() / "tests")).stdout)
    Path("go").touch()
    done = record(*lit, options=(*dask, "--shards", "3", "--resume"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("-- Testing: ") == len(left)
    assert len(recorded()) == 8
    assert shards_noted() == ["1", "2", "3"]


def test_a_killed_worker(lit_suite: Lit) -> None:
    lit = lit_suite(False)
    for name in ("first", "second", "third"):
        Path(f"tests/wait-{name}.mlir").write_text(
            f"// RUN: mlir-opt %s --cse -o %t\n// RUN: test -e {Path.cwd()}/go || sleep 600\n{ADDS}"
        )
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        (worker,) = cluster.workers.values()
        words = [COMMAND, "suite", "record", "-o", "suite", "--dask", cluster.scheduler_address]
        running = subprocess.Popen(
            [*words, "--shards", "2", "--", *lit], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        wait_for(lambda: any(Path("tests/out/Output").glob("wait*.tmp")))
        Path("go").touch()
        os.kill(worker.pid, signal.SIGKILL)
        output, _ = running.communicate(timeout=120)
        assert running.returncode == 0, output
    # Dask gave the shard to the worker that its nanny started anew.
    assert len(recorded()) == 8


def test_no_worker_is_left(lit_suite: Lit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actiondbg.suite.shards._NO_WORKER_SECONDS", 2)
    lit = lit_suite(False)
    Path("tests/wait.mlir").write_text(
        f"// RUN: touch {Path.cwd()}/ready\n// RUN: sleep 600\n// RUN: mlir-opt %s\n"
    )
    warnings: list[str] = []
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        program = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
        options = ["--nthreads=1", "--no-dashboard", address]
        worker = subprocess.Popen([*program, *options], stderr=subprocess.DEVNULL)
        with distributed.Client(cluster, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
        killer = threading.Thread(target=_kill_at, args=(worker, Path("ready")))
        killer.start()
        suite = SuiteFolder(Path("suite"))
        done = record_shards(lit, suite, address, lambda _: None, warnings.append, count=1)
        killer.join()
    assert done.status == 1
    assert ["no Dask worker is left" in one for one in warnings] == [True]


def _kill_at(worker: subprocess.Popen[bytes], file: Path) -> None:
    try:
        wait_for(file.exists)
    finally:
        worker.kill()
        worker.wait()
