"""Traces of recordings that are made up, read strictly."""

from __future__ import annotations

import dataclasses
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.trace import writer as writing
from actiondbg.recording.trace.formats import tracy
from actiondbg.recording.trace.options import Failed, Format, SliceSelection, format_of
from actiondbg.recording.trace.writer import write_trace
from tests.elements import some
from tests.fakes.recording.nesting import ActionGenerator, leave_open, write_chunks
from tests.fakes.recording.recordings import (
    Action,
    Change,
    Operation,
    fake_recording,
    write_recording,
)
from tests.fakes.recording.traces import (
    Slice,
    by_ordinal,
    check_slices,
    chrome_slices,
    expected,
    nest,
    read_json,
    read_perfetto,
    tracy_zones,
)

FAILED: tuple[Failed, ...] = ("fold", "keep", "drop")


def _write(path: Path, seed: int, *, killed: bool = False, chunk: int = 7) -> Path:
    generator = ActionGenerator(seed, 150)
    actions = generator.make()
    if killed:
        actions = leave_open(actions[: 100 + seed])
    operations = list(generator.operations.values())
    return write_chunks(path, actions, operations, chunk=chunk, killed=killed)


def _read(recording: Path, kind: Format, **how: Any) -> list[Slice]:
    path = recording.with_suffix({"chrome": ".json", "perfetto": ".pftrace"}[kind])
    write_trace(recording, str(path), kind, SliceSelection(**how))
    if kind == "chrome":
        return chrome_slices(read_json(path))
    trace = read_perfetto(path)
    slices = [dataclasses.replace(each, parent=0) for each in trace.slices]
    nest(slices)
    assert slices == trace.slices  # by their times they nest as by begins and ends
    return trace.slices


def _check(recording: Path, kind: Format, minimum: int = 0, failed: Failed = "fold") -> None:
    wanted = expected(open_recording(recording), failed, minimum)
    assert wanted
    check_slices(by_ordinal(_read(recording, kind, failed=failed, minimum=minimum)), wanted)


@pytest.mark.parametrize("kind", ["chrome", "perfetto"])
@pytest.mark.parametrize("failed", FAILED)
@pytest.mark.parametrize("seed", range(4))
def test_slices_equal_the_recorded_actions(
    tmp_path: Path, kind: Format, failed: Failed, seed: int
) -> None:
    _check(_write(tmp_path / "run.adbrec", seed), kind, failed=failed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chrome", "perfetto"])
@pytest.mark.parametrize("size", [1, 10, 64])
@pytest.mark.parametrize("seed", range(4))
def test_trace_in_parts_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Format, size: int, seed: int
) -> None:
    monkeypatch.setattr(writing, "PART", size)
    _check(_write(tmp_path / "run.adbrec", seed), kind)
    _check(_write(tmp_path / "run.adbrec", seed, killed=True), kind)


def _stacks(recording: Path, slices: list[Slice]) -> Counter[str]:
    """Return the self times of the distinct stacks of slices, by the recorded durations."""
    known, own = by_ordinal(slices), Counter[str]()
    columns = open_recording(recording).table("actions", ("ordinal", "duration_ns"))
    recorded = dict(zip(*(column.to_pylist() for column in columns.columns), strict=True))

    def stack(each: Slice) -> str:
        around = stack(known[each.parent]) if each.parent else _thread(each.thread)
        return f"{around};{each.name.replace(';', ':')}"

    for ordinal, each in known.items():
        time = recorded[ordinal]
        time = each.end - each.start if time is None else time
        own[stack(each)] += time
        if each.parent:
            own[stack(known[each.parent])] -= time
    return +own


def _thread(number: int) -> str:
    return f"worker {number}" if number else "main"


@pytest.mark.parametrize("size", [10, 1 << 19])
@pytest.mark.parametrize("failed", FAILED)
@pytest.mark.parametrize("seed", range(3))
def test_collapsed_stacks_have_the_self_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failed: Failed, seed: int, size: int
) -> None:
    monkeypatch.setattr(writing, "PART", size)
    paths = [_write(tmp_path / "a.adbrec", seed), _write(tmp_path / "b.adbrec", seed, killed=True)]
    paths.append(fake_recording(tmp_path / "c.adbrec", actions=300, seed=seed, threads=True))
    for recording in paths:
        output = recording.with_suffix(".folded")
        write_trace(recording, str(output), format_of(str(output)), SliceSelection(failed))
        lines = output.read_text().splitlines()
        found = {stack: int(own) for stack, _, own in (line.rpartition(" ") for line in lines)}
        kept: Failed = "keep" if failed == "fold" else failed
        assert found == _stacks(recording, _read(recording, "chrome", failed=kept))
        assert len(found) == len(lines)


def test_collapsed_stacks_leave_out_the_time_of_recording_the_ir(tmp_path: Path) -> None:
    # Recording the IR takes 300 ns before the pattern, and 500 ns after it.
    actions = [
        Action("outer", "pass-execution", start=0, duration=200),
        Action("P", depth=1, start=400, duration=100),
        Action("next", "pass-execution", start=1000, duration=50),
    ]
    path = tmp_path / "run.adbrec"
    write_recording(path, actions, ir="function")
    write_trace(path, str(path.with_suffix(".folded")), "folded")
    lines = path.with_suffix(".folded").read_text().splitlines()
    assert lines == ["main;outer 100", "main;outer;P 100", "main;next 50"]


@pytest.mark.parametrize("kind", ["chrome", "perfetto"])
@pytest.mark.parametrize("minimum", [1, 40, 5000])
def test_short_actions_are_omitted(tmp_path: Path, kind: Format, minimum: int) -> None:
    recording = _write(tmp_path / "run.adbrec", 5)
    _check(recording, kind, minimum)
    assert len(_read(recording, kind, minimum=minimum)) < len(_read(recording, kind))


@pytest.mark.parametrize("kind", ["chrome", "perfetto"])
def test_threads_nest_by_themselves(tmp_path: Path, kind: Format) -> None:
    recording = fake_recording(tmp_path / "run.adbrec", actions=2000, seed=3, threads=True)
    _check(recording, kind)
    assert {each.thread for each in _read(recording, kind)} == {0, 1, 2}


# --- what else a trace holds --------------------------------------------------------------


def _flowing(path: Path, size: int = 1 << 19) -> dict[int, list[int]]:
    trace = path.with_suffix(".pftrace")
    writing_size = writing.PART
    try:
        writing.PART = size
        write_trace(path, str(trace), "perfetto")
    finally:
        writing.PART = writing_size
    return {flow: sorted(ends) for flow, ends in read_perfetto(trace).flows.items()}


@pytest.mark.parametrize("size", [1, 1000])
def test_flows_lead_from_a_creation_to_later_actions(tmp_path: Path, size: int) -> None:
    actions = [
        Action("pass", "pass-execution", duration=90_000, patched=True),
        Action("Make", depth=1, changes=[Change("inserted", 7), Change("inserted", 8)]),
        Action("Touch", depth=1, changes=[Change("modified", 7), Change("moved", 8)]),
        Action("Hold", depth=1, duration=20_000, patched=True, changes=[Change("erased", 9)]),
        Action("Inner", depth=2, changes=[Change("inserted", 9), Change("replaced", 7, 9)]),
        Action("Erase", depth=1, changes=[Change("erased", 7), Change("erased", 7)]),
        Action("Other", depth=1, changes=[Change("erased", 3)]),  # it was in the input
    ]
    operations = [Operation(number) for number in (3, 7, 8, 9)]
    recording = write_chunks(tmp_path / "run.adbrec", actions, operations, chunk=2)
    # What holds a slice is before it: nothing flows back to Hold, which erased what Inner made.
    assert _flowing(recording, size) == {7: [2, 3, 5, 6], 8: [2], 9: [5]}


def test_each_process_thread_and_place_is_described(tmp_path: Path) -> None:
    recording = fake_recording(tmp_path / "run.adbrec", actions=2000, threads=True)
    path = tmp_path / "run.pftrace"
    write_trace(recording, str(path), "perfetto")
    trace = read_perfetto(path)
    process = next(track.process for track in trace.tracks.values() if track.HasField("process"))
    assert process.process_name == "mlir-opt"
    assert list(process.cmdline) == ["mlir-opt", "in.mlir", "--canonicalize"]
    threads = {t.thread.tid: t.thread.thread_name for t in trace.tracks.values() if t.parent_uuid}
    assert threads == {4711: "main", 4712: "worker 1", 4713: "worker 2"}
    for each in some(trace.slices):
        if "location" in each.arguments:
            file, line, _ = each.arguments["location"].rsplit(":", 2)
            assert trace.places[each.ordinal] == (file, int(line))


def test_json_names_the_run_and_its_end(tmp_path: Path) -> None:
    recording = _write(tmp_path / "run.adbrec", 1, killed=True)
    path = tmp_path / "run.json"
    write_trace(recording, str(path), "chrome")
    content = read_json(path)
    assert content["otherData"]["command"] == ["mlir-opt", "in.mlir", "--canonicalize"]
    assert "killed" in content["otherData"]["note"]
    about = {each["name"]: each["args"] for each in content["traceEvents"] if each["ph"] == "M"}
    assert about["process_name"] == {"name": "mlir-opt"}
    assert about["thread_name"] == {"name": "main"}
    last = max(chrome_slices(content), key=lambda each: each.ordinal)
    assert last.arguments["unfinished"] is True


@pytest.mark.parametrize("suffix", [".json", ".pftrace", ".tracy.json"])
def test_recording_without_actions_makes_a_trace(tmp_path: Path, suffix: str) -> None:
    recording = write_recording(tmp_path / "run.adbrec")
    path = tmp_path / f"run{suffix}"
    assert write_trace(recording, str(path), format_of(str(path))).slices == 0
    if suffix == ".pftrace":
        assert read_perfetto(path).slices == []
    else:
        assert chrome_slices(read_json(path)) == []


def test_the_same_recording_gives_the_same_bytes(tmp_path: Path) -> None:
    recording = _write(tmp_path / "run.adbrec", 2)
    plain, packed, again = (tmp_path / name for name in ("a.json", "b.json.gz", "c.json.gz"))
    for path in (plain, packed, again):
        write_trace(recording, str(path), "chrome")
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.read_bytes() == again.read_bytes()


def test_failed_write_of_a_trace_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = _write(tmp_path / "run.adbrec", 2)
    path = tmp_path / "run.json"
    path.write_text("before")

    def fail(*_: object) -> bytes:
        raise OSError("no space")

    monkeypatch.setattr(writing.ChromeTrace, "tail", fail)
    with pytest.raises(OSError, match="no space"):
        write_trace(recording, str(path), "chrome")
    assert path.read_text() == "before"
    assert {each.name for each in tmp_path.iterdir()} == {"run.adbrec", "run.json"}


# --- Tracy --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_tracy_imports_the_same_zones(tmp_path: Path, seed: int) -> None:
    recording = _write(tmp_path / "run.adbrec", seed)
    path = tmp_path / "run.tracy.json"
    write_trace(recording, str(path), "tracy")
    wanted = expected(open_recording(recording))
    zones = tracy_zones(read_json(path))
    assert len(zones) == len(wanted)
    for name, file, line, text, depth in zones:
        said = dict(each.split(": ", 1) for each in text.split("\n") if ": " in each)
        want = wanted[int(said["ordinal"])]
        assert name == want.name
        assert depth == len(list(_around(wanted, want)))
        if "location" in want.arguments:
            assert (file, line) == _place(want.arguments["location"])
        else:
            assert (file, line) == ("", 0)


def _around(slices: dict[int, Slice], each: Slice) -> Iterator[Slice]:
    while each.parent:
        each = slices[each.parent]
        yield each


def _place(location: str) -> tuple[str, int]:
    file, line, _ = location.rsplit(":", 2)
    return file, int(line)


def test_locations_for_tracy_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracy, "MOST_LINES", 40)
    monkeypatch.setattr(tracy, "MOST_FILES", 50)
    monkeypatch.setattr(writing, "PART", 20)
    actions = [Action(f"A{number % 3}", operation=number + 1) for number in range(200)]
    operations = [Operation(n + 1, line=n + 1, file=f"f{n // 50}.mlir") for n in range(200)]
    recording = write_chunks(tmp_path / "run.adbrec", actions, operations, chunk=20)
    path = tmp_path / "run.tracy.json"
    write_trace(recording, str(path), "tracy")
    locations = {(name, file, line) for name, file, line, _, _ in tracy_zones(read_json(path))}
    assert len({each for each in locations if each[1]}) <= 50
    assert {("A0", "f0.mlir", 1), ("A0", "f2.mlir", 0), ("A0", "", 0)} <= locations
