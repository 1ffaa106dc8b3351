"""Recording of all processes of a driver: which are recorded, how they end, what is missing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from tests.paths import COMMAND
from tests.tool.suite.conftest import ADDS, query, record, run, runs

BUILDS = ("pypi",)


def results(output: str) -> Counter[str]:
    """The results that lit reports, without the order and the times."""
    return Counter(re.findall(r"^(\w+: suite :: \S+)", output, re.M))


@pytest.mark.parametrize("external", [False, True])
def test_lit(lit_suite: Callable[[bool], list[str]], external: bool) -> None:
    lit = lit_suite(external)
    bare = run(*lit)
    done = record(*lit)
    assert (done.returncode, results(done.stdout)) == (bare.returncode, results(bare.stdout))
    assert results(bare.stdout) == Counter(
        f"{kind}: suite :: {name}"
        for kind, name in [
            ("PASS", "file.mlir"),
            ("PASS", "stdin.mlir"),
            ("XFAIL", "expected.mlir"),
            ("PASS", "refused.mlir"),
        ]
    )
    found = {
        (Path(one["test"]).name, one["run_line"], one["ended"], one["status"], bool(one["actions"]))
        for one in runs()
    }
    assert found == {
        ("file.mlir", 1, "exit", 0, True),
        ("file.mlir", 2, "exit", 0, True),
        ("stdin.mlir", 1, "exit", 0, True),
        ("expected.mlir", 2, "exit", 0, True),
        ("refused.mlir", 1, "exit", 1, False),
    }
    # The applied pattern, counted by another reader.
    [one] = [one for one in runs() if one["run_line"] == 1 and one["test"].endswith("file.mlir")]
    table = open_recording(Path("suite") / one["recording"]).table("actions", ["name", "outcome"])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert rows.count(("AddIAddConstant", "succeeded")) == 1
    counted = query(
        f"""SELECT sum(times) AS times FROM attempts
        WHERE run = {one["run"]} AND name = 'AddIAddConstant' AND outcome = 'succeeded'"""
    )
    assert counted == [{"times": 1}]
    options = query("SELECT DISTINCT pass, options FROM pass_options ORDER BY ALL")
    assert {"pass": "canonicalize", "options": "max-iterations=3"} in options


def test_ends_of_processes(adds: str, mlir_opt: str) -> None:
    Path("broken.mlir").write_text("func.func @f( {")
    # Its output is more than a pipe takes.
    Path("many.mlir").write_text("".join(ADDS.replace("@f", f"@f{n}") for n in range(2000)))
    script = f"""
        {mlir_opt} {adds} --canonicalize > out.mlir
        {mlir_opt} broken.mlir --canonicalize
        {mlir_opt} --version > /dev/null
        mkfifo fifo
        exec 3<> fifo
        for name in KILL TERM; do
            {mlir_opt} many.mlir --canonicalize > fifo & pid=$!
            sleep 2; kill -$name $pid; wait $pid
        done
        exit 7
    """
    bare = run("bash", "-c", script)
    Path("fifo").unlink()
    done = record("bash", "-c", script)
    assert done.returncode == bare.returncode == 7
    found = [
        (one["command"].split(" ", 1)[1], one["ended"], one["status"], one["signal"])
        for one in runs()
    ]
    assert found == [
        (f"{adds} --canonicalize", "exit", 0, None),
        ("broken.mlir --canonicalize", "exit", 1, None),
        ("--version", "unrecorded", None, None),
        ("many.mlir --canonicalize", "killed", None, None),
        ("many.mlir --canonicalize", "killed", None, None),
    ]
    missing = [one["missing"] for one in runs()]
    assert missing[:2] == [None, None]
    assert missing[2] == "it made no MLIR context"
    assert all("killed" in text for text in missing[3:])
    killed = runs()[3]
    assert killed["actions"] == runs()[4]["actions"] >= 2000
    assert (killed["seconds"], runs()[0]["seconds"] > 0) == (None, True)


def test_processes_with_a_cleaned_environment(adds: str, mlir_opt: str) -> None:
    done = record("bash", "-c", f"env -i {mlir_opt} {adds} --cse; {mlir_opt} {adds} --cse")
    assert done.returncode == 0
    assert len(runs()) == 1
    assert "1 program ran without the agent, since LD_PRELOAD was not in the environment: " in (
        done.stderr
    )
    # Drivers such as lit keep LD_PRELOAD, and nothing else of actiondbg.
    kept = 'env -i LD_PRELOAD="$LD_PRELOAD"'
    done = record("bash", "-c", f"{kept} {mlir_opt} {adds} --canonicalize", options=("--resume",))
    assert done.returncode == 0
    assert len(runs()) == 2


def test_any_path_of_a_folder(adds: str, mlir_opt: str) -> None:
    name = "a b:c;d$e'f%g*"
    kept = f'env -i LD_PRELOAD="$LD_PRELOAD" {mlir_opt} {adds} --canonicalize'
    done = run(COMMAND, "suite", "record", "-o", name, "--", "bash", "-c", f"{kept}; {kept}")
    assert done.returncode == 0, done.stderr
    assert [one["ended"] for one in runs(name)] == ["exit", "exit"]
    [counted] = query("SELECT sum(times) AS n FROM attempts WHERE tag = 'pass-execution'", name)
    assert counted == {"n": 2}
    coverage = run(COMMAND, "suite", "coverage", name, "--only", "AddIAddConstant")
    assert (coverage.returncode, "AddIAddConstant" in coverage.stdout) == (0, True)


def test_tests_are_counted_if_a_run_of_them_is_recorded(adds: str, mlir_opt: str) -> None:
    Path("refused.mlir").write_text("// RUN: mlir-opt %s --no-such-option\n")
    script = f"{mlir_opt} refused.mlir --no-such-option; {mlir_opt} {adds} --cse -o out.mlir"
    done = record("env", "-u", "PYTEST_CURRENT_TEST", "bash", "-c", script)
    assert "1 run in suite (1 of mlir-opt)" in done.stderr
    covered = run(COMMAND, "suite", "coverage", "suite").stdout
    assert covered.startswith("1 run\n")


def test_many_at_once(adds: str, mlir_opt: str) -> None:
    loop = f"for i in $(seq 10); do {mlir_opt} {adds} --canonicalize > $1.$i; done"
    done = record("bash", "-c", f"run() {{ {loop}; }}; for n in 1 2 3 4; do run $n & done; wait")
    assert done.returncode == 0
    assert len(runs()) == 40
    assert {one["actions"] for one in runs()} == {runs()[0]["actions"]}
    outputs = {Path(f"{n}.{i}").read_text() for n in range(1, 5) for i in range(1, 11)}
    assert outputs == {run(mlir_opt, adds, "--canonicalize").stdout}


def test_limit_of_disk_space(adds: str, mlir_opt: str) -> None:
    script = f"""
        {mlir_opt} {adds} --canonicalize > first.mlir
        sleep 2
        for i in 1 2 3; do {mlir_opt} {adds} --canonicalize > out.$i; done
    """
    done = record("bash", "-c", script, options=("--limit", "1k"))
    assert done.returncode == 0
    assert [one["ended"] for one in runs()] == ["exit", *["unrecorded"] * 3]
    assert "3 runs: its recording could not be written, or the limit " in done.stderr
    assert "fork" not in done.stderr
    assert Path("out.3").read_text() == Path("first.mlir").read_text()


def test_a_process_without_its_recording_runs_on(adds: str, mlir_opt: str) -> None:
    script = f"""
        rmdir suite/runs && touch suite/runs
        {mlir_opt} {adds} --canonicalize > out.mlir 2>&1; echo $?
        rm suite/runs && mkdir suite/runs
    """
    done = record("bash", "-c", script)
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert Path("out.mlir").read_text() == run(mlir_opt, adds, "--canonicalize").stdout
    assert [one["ended"] for one in runs()] == ["unrecorded"]
    assert "1 run: its recording could not be written" in done.stderr


def test_resume(adds: str, mlir_opt: str) -> None:
    first = f"{mlir_opt} {adds} --canonicalize > /dev/null"
    second = f"{mlir_opt} {adds} --cse > /dev/null"
    assert record("bash", "-c", first).returncode == 0
    refused = record("bash", "-c", second)
    assert refused.returncode == 2
    assert "record into it with --resume" in refused.stderr
    both = f"{second}; {first}"
    assert record("bash", "-c", both, options=("--resume",)).returncode == 0
    commands = [one["command"].split()[-1] for one in runs()]
    assert sorted(commands) == ["--canonicalize", "--cse"], "the first is replaced, not doubled"
    assert {row["part"] for row in query("SELECT part FROM runs")} == {2}


def test_folders_that_are_no_suite(folder: Path) -> None:
    (folder / "suite").mkdir()
    (folder / "suite" / "mine.txt").write_text("kept")
    done = record("true")
    assert (done.returncode, (folder / "suite" / "mine.txt").read_text()) == (2, "kept")
    assert "is no suite and is not empty" in done.stderr
    done = run(COMMAND, "suite", "list", "suite")
    assert (done.returncode, "is not a suite" in done.stderr) == (2, True)


def test_without_mlir(folder: Path) -> None:
    done = record("true", options=("-q",))
    assert done.returncode == 0
    assert "No run in suite" in done.stderr


def test_interrupt(adds: str, mlir_opt: str) -> None:
    Path("driver.py").write_text(
        f"""\
import subprocess, sys, time
for number in range(3):
    subprocess.run([{mlir_opt!r}, {adds!r}, "--canonicalize", "-o", f"out.{{number}}"], check=True)
open("ready", "w").close()
try:
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit(5)
"""
    )
    words = [COMMAND, "suite", "record", "-o", "suite", "--", sys.executable, "driver.py"]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not Path("ready").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 5, errors
    assert "Traceback" not in errors
    assert [one["ended"] for one in runs()] == ["exit"] * 3


def test_patterns_that_are_registered(adds: str, mlir_opt: str) -> None:
    assert record(mlir_opt, adds, "--canonicalize", "-o", "out.mlir").returncode == 0
    registered = query(
        """SELECT DISTINCT name, root, benefit FROM registered JOIN patterns USING (pattern_set)
        WHERE name IN ('AddIAddConstant', 'AddISubConstantRHS', 'mlir::cf::BranchOp::canonicalize',
        'SimplifyConstMaxSIOp') ORDER BY name"""
    )
    names = {row["name"]: row for row in registered}
    assert names["AddIAddConstant"]["root"] == "arith.addi"
    tried = {row["name"] for row in query("SELECT name FROM attempts WHERE tag = 'apply-pattern'")}
    everything = {row["name"] for row in query("SELECT name FROM patterns")}
    assert "AddISubConstantRHS" in tried
    assert tried <= everything, "each tried pattern was in a frozen set"
    assert len(everything) > len(tried)


def test_patterns_that_are_switched_off(adds: str, mlir_opt: str) -> None:
    option = "--canonicalize=disable-patterns={{anonymous}::AddIAddConstant}"
    assert record(mlir_opt, adds, option, "-o", "out.mlir").returncode == 0
    names = {row["name"] for row in query("SELECT name FROM patterns")}
    tried = {row["name"] for row in query("SELECT name FROM attempts")}
    assert "AddIAddConstant" not in names | tried
    assert "AddISubConstantRHS" in names


def test_tests_of_pytest(folder: Path, mlir_opt: str) -> None:
    (folder / "adds.mlir").write_text(ADDS)
    (folder / "test_adds.py").write_text(
        f"""\
import subprocess

def test_one():
    subprocess.run([{mlir_opt!r}, "adds.mlir", "--cse", "-o", "one.mlir"], check=True)

def test_two():
    subprocess.run([{mlir_opt!r}, "adds.mlir", "--canonicalize", "-o", "two.mlir"], check=True)
"""
    )
    done = record(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_adds.py")
    assert done.returncode == 0, done.stdout
    assert [one["test"] for one in runs()] == ["test_adds.py::test_one", "test_adds.py::test_two"]


def test_forks_without_exec(adds: str) -> None:
    pytest.importorskip("mlir")
    Path("driver.py").write_text(
        f"""\
import multiprocessing
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

def compile(number):
    with Context():
        module = Module.parse(open({adds!r}).read())
        for _ in range(number + 1):
            PassManager.parse("builtin.module(canonicalize)").run(module.operation)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=compile, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
"""
    )
    done = record(sys.executable, "driver.py")
    assert done.returncode == 0, done.stderr
    passes = query(
        "SELECT sum(times) AS times FROM attempts WHERE tag = 'pass-execution' GROUP BY run"
    )
    assert sorted(row["times"] for row in passes) == [1, 2, 3]


def test_a_short_run_touches_few_pages(adds: str, mlir_opt: str) -> None:
    """The tables of a recorder are mapped as they are filled: most runs of a suite are short."""
    Path("driver.py").write_text(
        f"""\
import resource, subprocess
for _ in range(2):  # the first one may prove what it needs in forks
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    subprocess.run([{mlir_opt!r}, {adds!r}, "--cse", "-o", "out.mlir"], check=True)
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before)
"""
    )
    bare = int(run(sys.executable, "driver.py").stdout.split()[-1])
    recorded = int(record(sys.executable, "driver.py").stdout.split()[-1])
    assert recorded < bare + 1500
