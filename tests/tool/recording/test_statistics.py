"""``actiondbg stat`` of real tools: what the kernel counts in their actions."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.recording import Recording
from actiondbg.statistics.event_probe import PARANOID, try_event
from actiondbg.statistics.events import KNOWN
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.fakes.privileges import unprivileged
from tests.paths import COMMAND

BUILDS = LIBRARY

FAULTS = ("page-faults", "minor-faults", "major-faults")
EVENTS = (*FAULTS, "task-clock", "context-switches")

SINGLE = ["--mlir-disable-threading"]

Run = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.skipif(
    any(try_event(KNOWN[name]).counted != KNOWN[name] for name in EVENTS),
    reason="the kernel does not let us count software events",
)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(many_functions(tmp_path / "many.mlir", 100))


@pytest.fixture
def stat(mlir_opt: str, source: str) -> Run:
    def run(*options: str, arguments: Sequence[str] = ()) -> dict[str, Any]:
        tool = [mlir_opt, source, f"--pass-pipeline={PIPELINE}", "-o", "/dev/null", *arguments]
        done = command_line.run("stat", "--json", *options, "--", *tool)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        return json.loads(done.stderr.splitlines()[-1])

    return run


def recorded(mlir_opt: str, source: str, *arguments: str) -> Recording:
    tool = [mlir_opt, source, "-o", "/dev/null", *arguments]
    assert record(tool, "run.adbrec", events=EVENTS).status == 0
    return open_recording("run.adbrec")


# --- what is counted --------------------------------------------------------------------


@pytest.mark.parametrize("threads", [False, True])
def test_nested_actions_never_have_more(mlir_opt: str, source: str, threads: bool) -> None:
    passes = PIPELINE.replace("canonicalize,cse,", "func.func(canonicalize,cse),")
    pipeline = f"--pass-pipeline={passes}"
    recording = recorded(mlir_opt, source, pipeline, *SINGLE[: not threads])
    rows = recording.table("actions").to_pylist()
    columns = [name.replace("-", "_") for name in EVENTS]
    by_ordinal = {row["ordinal"]: row for row in rows}
    below: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(columns, 0))
    for row in rows:
        assert all(row[column] >= 0 for column in columns)
        # The kernel counts a fault that it tries again twice, and what it was only once.
        assert row["page_faults"] >= row["minor_faults"] + row["major_faults"]
        above = by_ordinal.get(row["parent"])
        if above is not None and above["thread"] == row["thread"]:
            for column in columns:
                below[row["parent"]][column] += row[column]
    assert below
    for ordinal, sums in below.items():
        for column in columns:
            assert sums[column] <= by_ordinal[ordinal][column]
    assert any(row["page_faults"] > 0 for row in rows)
    found = {row["thread"] for row in rows}
    assert (len(found) > 1) == recording.header.threads == threads
    for thread in found:
        assert sum(row["task_clock"] for row in rows if row["thread"] == thread) > 0


def test_a_run_has_page_faults_and_takes_time(stat: Run) -> None:
    found = stat("--self", "--sort", "page-faults", arguments=SINGLE)
    assert found["measured"] == found["actions"] > 10_000
    names = found["names"]
    faults = [row["events"]["page-faults"]["total"] for row in names]
    assert faults == sorted(faults, reverse=True) and sum(faults) > 0
    assert all(row["events"]["page-faults"]["calls"] == row["calls"] for row in names)
    assert sum(row["calls"] for row in names) == found["actions"]
    inclusive = stat(arguments=SINGLE)["names"]
    assert sum(row["calls"] for row in inclusive) == found["actions"]


def test_statistics_of_a_pattern(stat: Run) -> None:
    found = stat("--name", "SimplifyTrivialLoops", "--events", "task-clock,page-faults")
    statistics = found["statistics"]
    assert statistics["calls"] == found["measured"] > 100
    buckets = statistics["duration_ns"]["buckets"]
    # Equal durations share a bucket: a machine whose clock ticks coarsely has few of them.
    assert 2 <= len(buckets) <= 16 and sum(each["calls"] for each in buckets) == found["measured"]
    assert all(low["high"] < high["low"] for low, high in some([*pairwise(buckets)]))
    assert statistics["events"]["task-clock"]["pearson"] > 0
    for event in statistics["events"].values():
        for table in (event["duration_given_event"], event["event_given_duration"]):
            assert all(sum(row) == pytest.approx(1) for row in some(table))


def test_durations_without_events(stat: Run) -> None:
    found = stat("--events", "none")
    assert found["events"] == [] and found["notes"] == ["No events were counted."]
    assert all(row["events"] == {} and row["duration_ns"] > 0 for row in some(found["names"]))


def test_the_start_is_skipped(stat: Run) -> None:
    found = stat("--skip-start", "1", "--events", "page-faults")
    assert 0 < found["measured"] < found["actions"]


def test_a_thread_that_cannot_open_the_events(mlir_opt: str, source: str) -> None:
    # The 16 of one thread are more than half of the descriptors.
    software = [name for name, event in KNOWN.items() if event.kind == "software"]
    user = [f"{name}:u" for name in software if name.endswith("-faults")]
    events = ",".join([*software, *user, "cpu-clock:u", "task-clock:u"])
    tool = [mlir_opt, source, "--canonicalize", "-o", "/dev/null"]
    done = subprocess.run(
        [COMMAND, "stat", "--events", events, "--", *tool],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)),
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    (note,) = re.findall(
        r"^Note: Not counted: ([0-9,]+) of ([0-9,]+) actions, because", done.stderr, re.M
    )
    assert note[0] == note[1]


def test_ordinary_user_counts_events_outside_the_kernel(mlir_opt: str, source: str) -> None:
    tool = [mlir_opt, source, "--canonicalize", "-o", "/dev/null"]
    done = unprivileged(COMMAND, "stat", "--json", "--", *tool)
    if int(PARANOID.read_text()) > 2:
        assert (done.returncode, done.stdout) == (1, "")
        return
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    found = json.loads(done.stderr.splitlines()[-1])
    assert "page-faults:u" in found["events"] and "context-switches" not in found["events"]
    assert any(note.startswith("Counted outside the kernel only: ") for note in found["notes"])
    faults = [row["events"]["page-faults:u"]["total"] for row in found["tags"]]
    assert max(faults) > 0


# --- the tool's own affairs -------------------------------------------------------------


def test_the_tool_keeps_its_output_and_status(mlir_opt: str, source: str) -> None:
    bare = subprocess.run([mlir_opt, source, "--cse"], capture_output=True, text=True)
    done = command_line.run("stat", "--", mlir_opt, source, "--cse")
    assert (done.returncode, done.stdout) == (0, bare.stdout)
    assert "pass-execution (cse)" in done.stderr
    wrong = command_line.run("stat", "-o", "stat.txt", "--", mlir_opt, source, "--no-such-option")
    assert wrong.returncode == 1 and "--no-such-option" in wrong.stderr


def recording_of(process: int) -> tuple[int, Path]:
    """Wait for the tool that a process runs; return it, and where its recording is."""
    while True:
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            try:
                words = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue  # one that only looked at the tool, and is over
            for word in words:
                if word.startswith(b"ACTIONDBG_RECORD="):
                    return int(child), Path(os.fsdecode(word.partition(b"=")[2]))
        time.sleep(0.01)


def test_a_tool_that_is_killed_is_measured_up_to_then(mlir_opt: str, tmp_path: Path) -> None:
    source = many_functions(tmp_path / "large.mlir", 3000)
    tool = [mlir_opt, str(source), f"--pass-pipeline={PIPELINE}", "-o", "/dev/null"]
    command = [COMMAND, "stat", "--events", "page-faults", "--", *tool]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        child, path = recording_of(running.pid)
        # The file grows while a block is written: a kill then leaves no whole block.
        while path.stat().st_size < 100_000 or not open_recording(path).count:
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        _, said = running.communicate()
    assert running.returncode == 128 + signal.SIGKILL
    assert said.startswith("actiondbg: The tool was killed by SIGKILL.\n")
    assert "Unfinished actions, left out: " in said
    assert "apply-pattern (" in said
    assert not path.exists()


def test_missing_tool(tmp_path: Path) -> None:
    done = command_line.run("stat", "--", str(tmp_path / "nothing"))
    assert (done.returncode, done.stdout) == (3, "")
