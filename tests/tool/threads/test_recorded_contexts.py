"""Recordings of tools with several threads and contexts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.fakes.threads import build

FOLD = """\
func.func @sum(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %x = arith.addi %a, %c0 : i32
  return %x : i32
}
"""


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threads")
    (folder / "sum.mlir").write_text(FOLD)
    return build(folder)


def _recorded(tool: Path, mode: str) -> Recording:
    path = tool.parent / f"{mode}.adbrec"
    path.unlink(missing_ok=True)
    source = str(tool.parent / "sum.mlir")
    done = record([str(tool), mode, source], str(path), stdout=os.devnull)
    assert done.status == 0 and done.path is not None
    return open_recording(done.path)


def _pairs(recording: Recording) -> list[tuple[str, int]]:
    table = recording.table("actions", ("context", "thread"))
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_actions_have_the_context_of_their_thread(tool: Path) -> None:
    pairs = _pairs(_recorded(tool, "each"))
    assert list(dict.fromkeys(pairs)) == [("c0", 0), ("c1", 1), ("c2", 2), ("c3", 3)]
    assert len({pairs.count(pair) for pair in pairs}) == 1


def test_contexts_of_threads_at_the_same_time(tool: Path) -> None:
    pairs = _pairs(_recorded(tool, "race"))
    threads = dict(pairs)
    assert sorted(threads) == ["c0", "c1", "c2", "c3"]
    assert {(context, threads[context]) for context in threads} == set(pairs)


def test_contexts_that_one_thread_makes_one_after_the_other(mlir_opt: str, tmp_path: Path) -> None:
    source, path = tmp_path / "parts.mlir", tmp_path / "parts.adbrec"
    source.write_text(f"{FOLD}// -----\n{FOLD}")
    tool = [mlir_opt, str(source), "--split-input-file", "--canonicalize"]
    done = record([*tool, "--mlir-disable-threading"], str(path), stdout=os.devnull)
    assert done.status == 0
    contexts = [context for context, _ in _pairs(open_recording(path))]
    assert len(set(contexts)) == 2
    half = len(contexts) // 2
    assert [len(set(part)) for part in (contexts[:half], contexts[half:])] == [1, 1]


def test_a_recorded_session_stops_in_a_context(tool: Path) -> None:
    with RecordedSession(_recorded(tool, "each")) as session:
        session.breakpoints.add("context:c[23] and pass:cse")
        session.breakpoints.add("tag:fold", "context == 'c1'")
        stops = [session.run()]
        while stops[-1].when != "exit":
            stops.append(session.continue_())
        passes = [stop for stop in stops if stop.tag == "pass-execution"]
        assert [(stop.context, stop.thread) for stop in passes] == [("c2", "t2"), ("c3", "t3")]
        folds = [stop.context for stop in stops if stop.tag == "fold"]
        assert folds and set(folds) == {"c1"}


def test_a_recorded_session_lists_contexts(tool: Path) -> None:
    with RecordedSession(_recorded(tool, "each")) as session:
        session.breakpoints.add("context:c1 and pass:cse")
        stop = session.run()
        c0, c1 = session.contexts
        assert (c0.name, c0.thread, c0.state) == ("c0", "t0", "idle")
        assert (c1.name, c1.thread, c1.state) == ("c1", "t1", "stopped")
        assert c0.actions + c1.actions == stop.ordinal
