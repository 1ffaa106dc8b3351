"""Recordings of several threads: one order, and parents over threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.recording import Recording
from tests.fakes.recording.recordings import (
    Action,
    Change,
    Operation,
    fake_recording,
    write_recording,
)


def column(recording: Recording, name: str) -> list[Any]:
    return recording.table("actions", [name]).column(0).to_pylist()


def parallel() -> list[Action]:
    """A pass of thread 0 during which two threads work, one of them with a helper of its own."""
    return [
        Action("outer", "pass-execution", start=1000, duration=10_000),
        Action("a", depth=0, thread=1, start=2000, duration=3000),
        Action("b", depth=0, thread=2, start=2500, duration=5000),
        Action("a1", depth=1, thread=1, start=3000, duration=1000),
        Action("b1", depth=1, thread=2, start=3000, duration=500),
        Action("c", depth=0, thread=1, start=6000, duration=4000),
        Action("after", "pass-execution", start=12_000),
        Action("alone", depth=0, thread=2, start=20_000, duration=2000),
        Action("guest", depth=0, thread=1, start=21_000, duration=500),
        Action("guest1", depth=1, thread=1, start=21_100, duration=100),
    ]


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_the_order_and_the_nesting(tmp_path: Path, chunk: int) -> None:
    recording = open_recording(write_recording(tmp_path / "x", parallel(), chunk=chunk))
    actions = parallel()
    assert column(recording, "ordinal") == list(range(1, 11))
    assert column(recording, "name") == [action.name for action in actions]
    assert column(recording, "thread") == [action.thread for action in actions]
    assert column(recording, "parent") == [None, 1, 1, 2, 3, 1, None, None, 8, 9]
    assert column(recording, "depth") == [0, 1, 1, 2, 2, 1, 0, 0, 1, 2]
    assert column(recording, "start_ns") == [(action.start or 0) - 1000 for action in actions]


def test_self_time_of_a_pass_excludes_its_threads(tmp_path: Path) -> None:
    recording = open_recording(write_recording(tmp_path / "x", parallel()))
    # From 2000 to 10,000 one of the threads is at work.
    assert column(recording, "self_ns")[0] == 10_000 - 8000
    assert column(recording, "self_ns")[1:3] == [2000, 4500]
    assert column(recording, "self_ns")[7:9] == [1500, 400]


def test_threads_that_begin_at_once(tmp_path: Path) -> None:
    """What began in one tick is ordered by thread, and a parent stands before its children."""
    actions = [
        Action("x", thread=0, start=1000, duration=5000),
        Action("y", thread=1, start=1000, duration=4000),
        Action("z", thread=2, start=1000, duration=3000),
    ]
    recording = open_recording(write_recording(tmp_path / "x", actions))
    assert column(recording, "name") == ["x", "y", "z"]
    assert column(recording, "parent") == [None, 1, 1]


def test_without_a_thread_that_waits(tmp_path: Path) -> None:
    """Thread 0 made the context, and did nothing else."""
    actions = [
        Action("a", thread=3, start=1000, duration=9000),
        Action("b", thread=5, start=2000, duration=1000),
        Action("c", thread=3, depth=1, start=3000),
    ]
    recording = open_recording(write_recording(tmp_path / "x", actions))
    assert column(recording, "thread") == [3, 5, 3]
    assert column(recording, "parent") == [None, 1, 1]
    assert column(recording, "depth") == [0, 1, 1]


def test_an_operation_that_another_thread_has_defined(tmp_path: Path) -> None:
    """A definition is good in all threads; a newer one of any of them replaces it."""
    operations = [
        Operation(1, "a.b", line=3, function="f"),
        Operation(1, "a.b", line=3, function="g", row=1, thread=2),
    ]
    actions = [
        Action("P", operation=1, thread=1, start=1000),
        Action("Q", thread=2, start=2000),
        Action("R", operation=1, thread=1, start=3000),
        Action("S", operation=1, thread=2, start=4000, changes=[Change("modified", 1)]),
        Action("T", operation=1, thread=1, start=5000),
    ]
    recording = open_recording(write_recording(tmp_path / "x", actions, operations))
    assert column(recording, "op") == ["a.b", None, *["a.b"] * 3]
    assert column(recording, "function")[3:] == ["g", "g"]
    assert recording.table("changes", ["function"]).to_pylist() == [{"function": "g"}]


def test_strings_of_threads_are_one(tmp_path: Path) -> None:
    actions = [Action("A", thread=i % 3, reasons=[f"r{i % 2}"]) for i in range(9)]
    recording = open_recording(write_recording(tmp_path / "x", actions, chunk=1))
    names = recording.table("actions", ["name"]).column(0).combine_chunks()
    assert len(names.dictionary) == 1
    assert column(recording, "reason") == [f"r{i % 2}" for i in range(9)]
    assert column(recording, "nth") == list(range(1, 10))


def test_the_same_actions_with_threads_and_without(tmp_path: Path) -> None:
    """Of each function: what was done, in its order; only the order of functions differs."""
    alone = open_recording(fake_recording(tmp_path / "alone", 3000, seed=4))
    threads = open_recording(fake_recording(tmp_path / "threads", 3000, seed=4, threads=True))
    assert set(column(threads, "thread")) == {0, 1, 2}

    def of_functions(recording: Recording) -> dict[str, list[tuple[Any, ...]]]:
        names = ("function", "tag", "name", "op", "outcome", "depth", "fold", "reason")
        table = recording.table("actions", names)
        found: dict[str, list[tuple[Any, ...]]] = {}
        for function, *rest in zip(*(c.to_pylist() for c in table.columns), strict=True):
            found.setdefault(function, []).append(tuple(rest))
        return found

    ours, theirs = of_functions(alone), of_functions(threads)
    whole = {function for function, rows in ours.items() if rows[-1][1] == "cse"}
    assert len(whole) > 10
    for function in whole:
        assert theirs[function] == ours[function]
