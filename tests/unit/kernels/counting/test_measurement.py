"""Totals, statistics and their text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actiondbg.commands.render.kernels.counts import counts_text
from actiondbg.kernels.counting.measurement import (
    Calls,
    CallSelection,
    NothingCounted,
    cost_of,
    read_calls,
)
from actiondbg.statistics.event_probe import choose_available, try_event
from actiondbg.statistics.events import KNOWN
from tests.elements import some
from tests.fakes.counts import write_process, write_thread


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    """64 calls of one function, slower with each page fault, and 2 of another."""
    write_process(tmp_path)
    rows = [(1_000_000 * i, 1000 + 100 * i, 0, i % 2, 2000 + 90 * i, i // 8) for i in range(64)]
    write_thread(tmp_path, rows)
    write_thread(tmp_path, [(5, 10, 1, 7, 11, 0), (6, 30, 1, 7, 31, 0)], number=101)
    return read_calls(tmp_path)


def text_of(calls: Calls, selection: CallSelection, tables: bool = True, gamma: float = 0.5) -> str:
    return counts_text(cost_of(calls, selection), ["model", "a b"], 30, tables, gamma)


def test_totals(calls: Calls) -> None:
    cost = cost_of(calls, CallSelection())
    assert [(one.function.name, one.calls, one.duration) for one in cost.functions] == [
        ("dot", 64, 64_000 + 100 * 63 * 32),
        ("sum", 2, 40),
    ]
    assert cost.functions[0].events["page-faults"] == sum(i // 8 for i in range(64))
    assert cost.functions[1].means == {"task-clock": 21, "page-faults": 0}
    assert [(one.thread.number, one.cpus) for one in cost.threads] == [
        (100, {0: 32, 1: 32}),
        (101, {7: 2}),
    ]
    assert cost.statistics == []


def test_text_of_totals(calls: Calls) -> None:
    lines = text_of(calls, CallSelection()).splitlines()
    assert lines[0] == "66 calls of 2 functions in 2 threads: model 'a b'"
    # Calls, duration and events, and each of them for a call.
    assert " ".join(lines[3].split()) == "64 266 us 4.15 us 309 us 4.83 us 224 3.5 dot"
    assert " ".join(lines[6].split()) == "calls duration process thread calls on each CPU"
    assert " ".join(lines[7].split()) == "64 266 us 100 worker (100) 0: 32, 1: 32"
    assert lines[-1].startswith("--name GLOB prints the statistics")


def test_functions_of_one_name_have_their_library(tmp_path: Path) -> None:
    for process, library in (("1-0", "a.so"), ("2-0", "b.so")):
        write_process(tmp_path, process, ["dot"])
        names = tmp_path / f"{process}.names"
        names.write_text(names.read_text().replace("model", library))
        write_thread(tmp_path, [(1, 5, 0, 0, 9, 4)], process)
    lines = text_of(read_calls(tmp_path), CallSelection()).splitlines()
    assert [line.split("  ")[-1] for line in lines[3:5]] == ["dot (a.so)", "dot (b.so)"]


def test_each_two_quantities_are_related(calls: Calls) -> None:
    (statistics,) = cost_of(calls, CallSelection("dot", buckets=8)).statistics
    assert statistics.calls == 64
    pairs = [(one.first.name, one.second.name) for one in statistics.relations]
    assert pairs == [
        ("duration", "task-clock"),
        ("duration", "page-faults"),
        ("task-clock", "page-faults"),
    ]
    assert all(one.pearson is not None and one.pearson > 0.99 for one in some(statistics.relations))
    # Each bucket of page faults is one of the duration.
    faults = statistics.relations[1]
    assert faults.first_given_second.tolist() == faults.second_given_first.tolist()
    assert faults.first_given_second.diagonal().tolist() == [1.0] * 8


def test_text_of_statistics(calls: Calls) -> None:
    text = text_of(calls, CallSelection("dot", buckets=8))
    for expected in (
        "Correlation of page-faults with the duration: 0.99, of their ranks: 0.99",
        "Correlation of page-faults with task-clock: 0.99",
        "P(bucket of duration | bucket of page-faults); each row sums to 1:",
        "P(bucket of page-faults | bucket of task-clock); each row sums to 1:",
    ):
        assert expected in text
    assert "P(bucket" not in text_of(calls, CallSelection("dot"), tables=False)


def test_gamma_brightens_small_probabilities(calls: Calls) -> None:
    selection = CallSelection("dot", buckets=3)
    normal, bright = (text_of(calls, selection, gamma=gamma) for gamma in (0.5, 0.1))
    assert "██ from 64 %, ▓▓ 36 %, ▒▒ 16 %, ░░ 4 %" in normal
    assert "██ from 10.7 %" in bright
    assert bright.count("██") > normal.count("██")


def test_one_function_has_statistics_without_a_name(calls: Calls) -> None:
    assert len(cost_of(calls.named("sum"), CallSelection()).statistics) == 1


def test_statistics_of_each_thread(calls: Calls) -> None:
    text = text_of(calls, CallSelection(by_thread=True), tables=False)
    assert "Thread worker (100) of process 100, 64 calls:" in text
    assert "Thread worker (101) of process 100, 2 calls:" in text
    assert "duration: 2 of 16 buckets, because there are 2 calls." in text


def test_json(calls: Calls) -> None:
    found = json.loads(json.dumps(cost_of(calls, CallSelection("dot", buckets=2)).as_json()))
    assert found["calls"] == 64 and found["events"] == ["task-clock", "page-faults"]
    assert found["functions"][0]["events"]["page-faults"] == {"total": 224, "per_call": 3.5}
    assert found["threads"][0]["cpus"] == {"0": 32, "1": 32}
    (statistics,) = found["statistics"]
    assert len(statistics["quantities"]["duration"]["buckets"]) == 2
    assert statistics["relations"][2]["first"] == "task-clock"


def test_an_event_that_a_thread_could_not_count(tmp_path: Path) -> None:
    write_process(tmp_path)
    write_thread(tmp_path, [(1, 5, 0, 0, 4)] * 3, mask=0b10)
    write_thread(tmp_path, [(1, 5, 0, 0, 9, 4)] * 2, number=101)
    cost = cost_of(read_calls(tmp_path), CallSelection())
    assert cost.functions[0].means == {"task-clock": 9, "page-faults": 4}
    assert cost.statistics[0].calls == 2
    first, second = cost_of(read_calls(tmp_path), CallSelection(by_thread=True)).statistics
    assert [one.name for one in first.quantities] == ["duration"]
    assert [one.name for one in second.quantities] == ["duration", "task-clock", "page-faults"]


def test_nothing_was_counted(tmp_path: Path, calls: Calls) -> None:
    with pytest.raises(NothingCounted, match=r"^All 66 calls began in the first 1e\+06 ms: give"):
        cost_of(calls, CallSelection(skip_start=1e6))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NothingCounted, match="the program loaded no module of IREE and no kernel"):
        cost_of(read_calls(empty), CallSelection())
    write_process(empty)
    with pytest.raises(NothingCounted, match=r"^No function was called: the program loaded dot"):
        cost_of(read_calls(empty), CallSelection())
    names = (empty / "100-0.names").read_text().replace("\t1\t", "\t0\t")
    (empty / "100-0.names").write_text(names)
    with pytest.raises(NothingCounted, match=r"^No function matches 'd': the program has dot, sum"):
        cost_of(read_calls(empty), CallSelection("d"))


def test_events_that_cannot_be_counted_do_not_stop_the_others() -> None:
    if try_event(KNOWN["task-clock"]).counted is None:
        pytest.skip("the kernel does not let us count software events")
    if try_event(KNOWN["cycles"]).counted is not None:
        pytest.skip("this machine has hardware counters")
    events, notes = choose_available(["cycles", "task-clock"], "actiondbg kernels count")
    assert [event.name for event in events] == ["task-clock"]
    assert len(notes) == 1 and notes[0].startswith("'cycles' is not counted: ")
    events, notes = choose_available(["cycles"], "actiondbg kernels count")
    assert events and notes[1].startswith("Software events are counted instead: task-clock")
    events, (note,) = choose_available(["default"], "actiondbg kernels count")
    assert events and note.startswith("Software events are counted (task-clock")
