"""Reading what the preloaded library writes, and the CSV files made of it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.counting.measurement import (
    COLUMNS,
    CountsUnreadable,
    Function,
    has_counts,
    nodes_of_cpus,
    read_calls,
    write_csv_files,
)
from actiondbg.lineage.profiles import read_profile
from tests.fakes.counts import write_process, write_thread

ROWS = [(1000, 50, 0, 3, 60, 0), (1100, 70, 1, 3, 80, 2), (2_001_000, 90, 0, 5, 95, 1)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_process(tmp_path)
    write_thread(tmp_path, ROWS)
    return tmp_path


def test_calls_are_columns(folder: Path) -> None:
    assert has_counts(folder)
    calls = read_calls(folder)
    assert calls.functions == [Function("model", "dot", True), Function("model", "sum", True)]
    assert calls.threads == [(100, 100, "worker")]
    assert calls.function.tolist() == [0, 1, 0]
    assert calls.cpu.tolist() == [3, 3, 5]
    assert calls.start.tolist() == [0, 100, 2_000_000]
    assert calls.duration.tolist() == [50, 70, 90]
    assert {name: values.tolist() for name, values in calls.events.items()} == {
        "task-clock": [60, 80, 95],
        "page-faults": [0, 2, 1],
    }
    assert calls.notes == []


def test_threads_of_processes_with_one_number_are_told_apart(folder: Path) -> None:
    """A program that starts another in its place keeps its number."""
    write_process(folder, "100-1", ["sum", "max"])
    write_thread(folder, [(7, 1, 0, 0, 1, 1), (8, 2, 1, 0, 1, 1)], "100-1")
    calls = read_calls(folder)
    assert [function.name for function in calls.functions] == ["dot", "sum", "max"]
    assert calls.function.tolist() == [0, 1, 0, 1, 2]
    assert calls.thread.tolist() == [0, 0, 0, 1, 1]
    assert len(write_csv_files(calls, folder / "csv")) == 2 + 1


def test_a_thread_without_an_event(folder: Path) -> None:
    write_thread(folder, [(1, 5, 0, 0, 4)], number=101, mask=0b10)
    calls = read_calls(folder)
    assert np.isnan(calls.events["task-clock"][3]) and calls.events["page-faults"][3] == 4
    assert calls.counted.tolist() == [True, True, True, False]


def test_events_outside_the_kernel_have_perfs_suffix(tmp_path: Path) -> None:
    write_process(tmp_path)
    write_thread(tmp_path, [(1, 5, 0, 0, 4, 3)], users=0b10)
    assert list(read_calls(tmp_path).events) == ["task-clock", "page-faults:u"]


def test_the_end_of_a_killed_program(folder: Path) -> None:
    path = write_thread(folder, [(1, 5, 0, 0, 4, 3)] * 5, number=101, lost=7, running=2)
    path.write_bytes(path.read_bytes()[: 4096 + 2 * 40 + 13])  # the disk was full
    write_thread(folder, [], number=102).write_bytes(b"")
    calls = read_calls(folder)
    assert calls.size == 3 + 2
    assert calls.notes == [
        "Calls of thread 101 that were not kept, for lack of space: 7.",
        "The program ended within a call of sum, in thread 101.",
    ]


def test_notes_of_the_library_come_once(folder: Path) -> None:
    (folder / "100-0.notes").write_text("A library is strange.\nA library is strange.\n")
    assert read_calls(folder).notes == ["A library is strange."]


def test_files_of_another_version(folder: Path) -> None:
    path = write_thread(folder, ROWS)
    path.write_bytes(b"ADBCALL\0\2" + path.read_bytes()[9:])
    with pytest.raises(CountsUnreadable, match="was not written by this version of actiondbg"):
        read_calls(folder)


def test_selections(folder: Path) -> None:
    calls = read_calls(folder)
    assert calls.named("d*").duration.tolist() == [50, 90]
    late = calls.from_time(1)
    assert late.duration.tolist() == [90]
    assert late.notes == ["Calls within --skip-start, left out: 2."]


def test_csv_files(folder: Path) -> None:
    write_thread(folder, [(1, 5, 0, 0, 4)], number=101, name="a/b c", mask=0b10)
    paths = write_csv_files(read_calls(folder), folder / "csv")
    names = ["calls-100-100-worker.csv", "calls-100-101-a_b_c.csv", "functions.csv"]
    assert [path.name for path in paths] == names
    with paths[0].open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == [*COLUMNS, "task-clock", "page-faults"]
    nodes = nodes_of_cpus()
    assert rows[1] == ["dot", "model", "worker", "3", str(nodes.get(3, 0)), "999", "50", "60", "0"]
    with paths[1].open() as file:
        assert list(csv.reader(file))[1][-3:] == ["5", "", "4"]
    assert paths[2].read_text().splitlines() == [
        "dispatch,library,calls,total_ns,task-clock,page-faults",
        "dot,model,3,145,155,5",
        "sum,model,1,70,80,2",
    ]


@pytest.mark.parametrize("name", ["calls-100-100-worker.csv", "functions.csv"])
def test_cost_reads_the_csv(folder: Path, name: str) -> None:
    write_csv_files(read_calls(folder), folder / "csv")
    profile = read_profile(folder / "csv" / name)
    assert profile.unit == "ns"
    times = {entry.frames[0].function: (entry.time, entry.occurrences) for entry in profile.entries}
    assert times == {"dot": (140, 2), "sum": (70, 1)}


def test_memory_nodes(tmp_path: Path) -> None:
    for node, cpus in ((0, "0-1,4"), (1, "2-3"), (2, "")):
        path = tmp_path / f"node{node}" / "cpulist"
        path.parent.mkdir()
        path.write_text(cpus + "\n")
    assert nodes_of_cpus(tmp_path) == {0: 0, 1: 0, 4: 0, 2: 1, 3: 1}
