"""What a recording says, read back from files that recorded.py has written."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import RecordingError, is_recording, open_recording
from actiondbg.recording.query.database import open_database
from actiondbg.recording.recording import Recording
from actiondbg.recording.tables.snapshots import Snapshot
from tests.elements import some
from tests.fakes.recording.recordings import (
    Action,
    Change,
    Operation,
    fake_recording,
    write_recording,
)

OPERATIONS = [
    Operation(1, "builtin.module", line=0, function="", location="unknown"),
    Operation(2, "func.func", line=1, column=1, function="f"),
    Operation(3, "arith.addi", line=3, column=8, function="f"),
    Operation(4, "arith.constant", line=2, column=8, function="f", location='"a"("b":1:2)'),
]
PASS = Action("canonicalize", "pass-execution", "Canonicalizer", operation=2, duration=9000)


def opened(path: Path, *args: Any, **how: Any) -> Recording:
    return open_recording(write_recording(path / "run.adbrec", *args, **how))


def column(recording: Recording, name: str, table: str = "actions") -> list[Any]:
    return recording.table(table, [name]).column(0).to_pylist()


def rows(recording: Recording, table: str, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(column(recording, name, table) for name in names), strict=True))


def nested() -> list[Action]:
    """A pass, in it an iteration, in it a pattern and a fold; then a second pass."""
    return [
        Action("canonicalize", "pass-execution", "Canonicalizer", operation=2, duration=9000),
        Action("iteration 1", "GreedyPatternRewriteIteration", depth=1, duration=6000),
        Action("P", full_name="(anonymous namespace)::P", labels=["a", "b"], depth=2, operation=3),
        Action("arith.addi", "fold", depth=2, operation=3, outcome="succeeded", fold="constants"),
        Action("iteration 2", "GreedyPatternRewriteIteration", depth=1, start=8000),
        Action("cse", "pass-execution", "CSE", operation=2, start=12_000),
    ]


# --- the columns of the actions ---------------------------------------------------------


def test_the_nesting(tmp_path: Path) -> None:
    recording = opened(tmp_path, nested(), OPERATIONS)
    assert recording.count == 6
    assert column(recording, "ordinal") == [1, 2, 3, 4, 5, 6]
    assert column(recording, "parent") == [None, 1, 2, 2, 1, None]
    assert column(recording, "depth") == [0, 1, 2, 2, 1, 0]
    assert set(column(recording, "thread")) == {0}


def test_names_and_labels(tmp_path: Path) -> None:
    recording = opened(tmp_path, nested(), OPERATIONS)
    assert rows(recording, "actions", "tag", "nth")[:5] == [
        ("pass-execution", 1),
        ("GreedyPatternRewriteIteration", 1),
        ("apply-pattern", 1),
        ("fold", 1),
        ("GreedyPatternRewriteIteration", 2),
    ]
    assert rows(recording, "actions", "name", "full_name", "labels")[:3] == [
        ("canonicalize", "Canonicalizer", None),
        ("iteration 1", "iteration 1", None),
        ("P", "(anonymous namespace)::P", "a,b"),
    ]


def test_the_operations_of_actions(tmp_path: Path) -> None:
    recording = opened(tmp_path, nested(), OPERATIONS)
    assert rows(recording, "actions", "operation", "op", "file", "line", "col", "function")[
        1:4
    ] == [
        (None,) * 6,
        (3, "arith.addi", "in.mlir", 3, 8, "f"),
        (3, "arith.addi", "in.mlir", 3, 8, "f"),
    ]


def test_times_in_nanoseconds(tmp_path: Path) -> None:
    """Ticks become nanoseconds, and are counted from the first action."""
    actions = nested()
    for how in ({}, {"unit": 8, "ticks_per_ns": 16}):
        recording = opened(tmp_path, actions, OPERATIONS, **how)
        assert rows(recording, "actions", "start_ns", "duration_ns", "self_ns") == [
            (0, 9000, 2500),
            (1000, 6000, 5000),
            (2000, 500, 500),
            (3000, 500, 500),
            (7000, 500, 500),
            (11_000, 500, 500),
        ]


def test_the_outcomes(tmp_path: Path) -> None:
    actions = [
        Action(outcome="succeeded"),
        Action(outcome="unchanged"),
        Action(outcome="failed", reasons=["no", "never"]),
        Action(outcome="skipped"),
        Action(outcome="failed", changed=True, rolled_back=True),
        Action(outcome="succeeded", fold="in-place"),
        Action(outcome="succeeded", fold="constants and values"),
    ]
    recording = opened(tmp_path, actions)
    assert column(recording, "outcome") == [action.outcome for action in actions]
    assert column(recording, "changed") == [True, False, False, False, True, True, True]
    assert column(recording, "rolled_back") == [False] * 4 + [True] + [False] * 2
    assert column(recording, "fold") == [None] * 5 + ["in-place", "constants and values"]
    assert column(recording, "reason") == [None, None, "no"] + [None] * 4
    assert rows(recording, "reasons", "ordinal", "reason") == [(3, "no"), (3, "never")]


def test_events_are_columns(tmp_path: Path) -> None:
    actions = [Action(samples=[5, -1]), Action(), Action(samples=[7, 8])]
    recording = opened(tmp_path, actions, events=["page-faults", "cycles:u"])
    assert recording.header.events == ("page-faults", "cycles:u")
    assert recording.columns("actions")[-2:] == ["page_faults", "cycles_u"]
    assert rows(recording, "actions", "page_faults", "cycles_u") == [(5, -1), (None, None), (7, 8)]


# --- changes, operations, IR ------------------------------------------------------------


def changing() -> list[Action]:
    """A pattern that replaces 3 by 4 in a pass that erases 4; one that is rolled back."""
    return [
        Action("cse", "pass-execution", operation=2, changes=[Change("erased", 4)], duration=9000),
        Action(
            "P",
            depth=1,
            operation=3,
            outcome="succeeded",
            changes=[
                Change("inserted", 4),
                Change("replaced", 3, by=4, result=1),
                Change("erased", 3),
                Change("erased", 2, block=True, guess=True),
            ],
        ),
        Action("Q", outcome="failed", rolled_back=True, changes=[Change("erased", 2)]),
    ]


def test_the_changes(tmp_path: Path) -> None:
    recording = opened(tmp_path, changing(), OPERATIONS)
    wanted = ("ordinal", "seq", "kind", "operation", "op", "line", "by", "by_result")
    assert rows(recording, "changes", *wanted) == [
        (1, 1, "erased", 4, "arith.constant", 2, None, None),
        (2, 2, "inserted", 4, "arith.constant", 2, None, None),
        (2, 3, "replaced", 3, "arith.addi", 3, 4, 1),
        (2, 4, "erased", 3, "arith.addi", 3, None, None),
        (2, 5, "erased", 2, "func.func", 1, None, None),
        (3, 6, "erased", 2, "func.func", 1, None, None),
    ]
    assert rows(recording, "changes", "block", "guess")[3:5] == [(False, False), (True, True)]
    kinds = ("inserted", "erased", "replaced", "modified", "moved")
    counts = [(0, 1, 0, 0, 0), (1, 2, 1, 0, 0), (0, 1, 0, 0, 0)]
    assert rows(recording, "actions", *kinds) == counts


def test_the_lives_of_operations(tmp_path: Path) -> None:
    """A block is not its operation, and what is rolled back has erased nothing."""
    recording = opened(tmp_path, changing(), OPERATIONS)
    wanted = ("operation", "op", "created_by", "erased_by", "location")
    assert rows(recording, "operations", *wanted) == [
        (2, "func.func", None, None, "in.mlir:1:1"),
        (3, "arith.addi", None, 2, "in.mlir:3:8"),
        (4, "arith.constant", 2, 1, '"a"("b":1:2)'),
    ]


def test_an_operation_without_a_place(tmp_path: Path) -> None:
    recording = opened(tmp_path, [Action(operation=1)], OPERATIONS)
    wanted = ("operation", "file", "line", "col", "function", "location")
    assert rows(recording, "operations", *wanted) == [(1, None, None, None, None, "unknown")]


def test_an_operation_that_moves(tmp_path: Path) -> None:
    """What holds at an action is the newest definition before it."""
    moved = Operation(3, "arith.addi", line=3, column=8, function="g", row=2)
    actions = [Action(operation=3) for _ in range(4)]
    recording = opened(tmp_path, actions, [*OPERATIONS, moved], chunk=1)
    assert column(recording, "function") == ["f", "f", "g", "g"]
    assert column(recording, "function", "operations") == ["g"]


def test_an_operation_that_moves_often(tmp_path: Path) -> None:
    moved = [Operation(3, function=f"g{row}", row=row) for row in range(2, 40, 2)]
    actions = [Action(operation=3 + i % 2) for i in range(40)]
    recording = opened(tmp_path, actions, [*OPERATIONS, *moved], chunk=7)
    told = column(recording, "function")
    assert told[::2] == ["f", *(f"g{row}" for row in range(2, 40, 2))]
    assert set(told[1::2]) == {"f"}


def test_recorded_ir(tmp_path: Path) -> None:
    long = "x" * 5000 + "\n"
    actions = [
        Action(),
        Action(ir=[(2, long, "ü\n"), (3, None, long)]),
        Action(ir=[(2, "ü\n", None)]),
    ]
    recording = opened(tmp_path, actions, OPERATIONS, ir="changed")
    assert recording.header.ir == "changed"
    assert rows(recording, "ir", "ordinal", "operation", "when", "text") == [
        (2, 2, "before", long),
        (2, 2, "after", "ü\n"),
        (2, 3, "after", long),
        (3, 2, "before", "ü\n"),
    ]
    assert recording.snapshots(1) == recording.snapshots(99) == []
    assert recording.snapshots(2) == [Snapshot(2, long, "ü\n"), Snapshot(3, None, long)]
    assert recording.path != "" and Path(recording.path).stat().st_size < 2000


# --- whole recordings ----------------------------------------------------------------------


def test_actions_finished_in_a_later_chunk(tmp_path: Path) -> None:
    actions = [
        Action(duration=80_000, outcome="succeeded", patched=True),
        *(Action(depth=1) for _ in range(9)),
        Action(duration=None),
    ]
    recording = opened(tmp_path, actions, chunk=3)
    assert column(recording, "outcome") == ["succeeded", *["unchanged"] * 9, "unfinished"]
    assert column(recording, "duration_ns") == [80_000, *[500] * 9, None]
    assert column(recording, "self_ns") == [80_000 - 9 * 500, *[500] * 9, None]
    assert column(recording, "changed")[0] is True


@pytest.mark.parametrize("actions", [0, 1])
def test_few_actions(tmp_path: Path, actions: int) -> None:
    recording = opened(tmp_path, [Action()] * actions)
    assert recording.count == actions
    for table in recording.tables:
        assert recording.table(table).num_rows == (actions if table == "actions" else 0)
    assert recording.table("actions").schema == recording.tables["actions"].schema()


def test_the_header_and_the_end(tmp_path: Path) -> None:
    recording = opened(tmp_path, [Action()], header={"argv": ["x", "--y"], "threads": True})
    assert (recording.header.argv, recording.header.llvm) == (("x", "--y"), "22.1.8")
    assert recording.header.threads is True
    assert (recording.ending.ended, recording.ending.status) == ("exit", 0)
    assert recording.cut is None


def test_a_crash(tmp_path: Path) -> None:
    ending = {"ended": "crash", "signal": 11, "row": 1}
    recording = opened(tmp_path, [Action(), Action(duration=None)], ending=ending)
    assert (recording.ending.ended, recording.ending.signal) == ("crash", 11)
    assert recording.ending.ordinal == 2
    assert recording.cut is None


def test_the_signal_that_ended_a_run_is_no_status(tmp_path: Path) -> None:
    recording = opened(tmp_path, [Action()], ending={"ended": "exit", "status": -15})
    with contextlib.closing(open_database(recording)) as database:
        ended = database.sql("SELECT ended, status, signal FROM runs").fetchall()
    assert ended == [("exit", None, 15)]


def test_a_tool_that_was_killed(tmp_path: Path) -> None:
    recording = opened(tmp_path, [Action(), Action(duration=None)], killed=True)
    assert (recording.ending.ended, recording.ending.status) == ("killed", None)
    assert recording.cut is not None and "2 actions" in recording.cut
    assert column(recording, "outcome") == ["unchanged", "unfinished"]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    odd = Operation(1, "a.\udcff", file="\udcfe.mlir", function="ü")
    recording = opened(tmp_path, [Action("\udcff", operation=1)], [odd])
    assert rows(recording, "actions", "name", "op", "file", "function") == [
        ("\ufffd", "a.\ufffd", "\ufffd.mlir", "ü")
    ]


def test_unknown_sections_are_ignored(tmp_path: Path) -> None:
    """A later version may add kinds of sections without a new number."""
    from tests.fakes.recording.chunks import chunk_bytes

    path = write_recording(tmp_path / "run.adbrec", [Action()])
    with path.open("ab") as file:
        file.write(chunk_bytes(0, [(77, 3, 2, b"abcdef")], first_row=1))
    assert open_recording(path).count == 1


def test_missing_table_or_column(tmp_path: Path) -> None:
    recording = opened(tmp_path, [Action()])
    with pytest.raises(RecordingError, match="no table 'action': use actions, changes"):
        recording.table("action")
    with pytest.raises(RecordingError, match="no column 'tags' in actions: use ordinal"):
        recording.table("actions", ["ordinal", "tags"])


def test_only_recordings_are_recordings(tmp_path: Path) -> None:
    assert is_recording(write_recording(tmp_path / "run.adbrec"))
    (tmp_path / "short").write_bytes(b"ADBR")
    for other in ("short", "", "nowhere", "a\0b"):
        assert not is_recording(f"{tmp_path}/{other}")


@pytest.mark.parametrize("how", [{}, {"threads": True}, {"killed": True, "events": ["a"]}])
def test_columns_of_a_long_recording_agree(tmp_path: Path, how: dict[str, Any]) -> None:
    """What is told of the actions in several columns agrees."""
    recording = open_recording(fake_recording(tmp_path / "x", 5000, ir="changed", **how))
    assert recording.count == 5000
    depths: dict[int | None, int] = {None: -1}
    times: dict[int | None, tuple[int, float]] = {}
    names = ("ordinal", "parent", "depth", "start_ns", "duration_ns", "self_ns")
    for ordinal, parent, depth, start, duration, own in some(rows(recording, "actions", *names)):
        depths[ordinal] = depth
        assert depth == depths[parent] + 1
        end = float("inf") if duration is None else start + duration
        times[ordinal] = start, end
        if duration is not None:
            assert 0 <= own <= duration
        if parent is not None:
            assert times[parent][0] <= start <= times[parent][1]
    starts = column(recording, "start_ns")
    assert starts == sorted(starts) and starts[0] == 0


def test_the_database(tmp_path: Path) -> None:
    recording = opened(tmp_path, changing(), OPERATIONS)
    with contextlib.closing(open_database(recording)) as database:
        found = database.sql("SELECT name, erased FROM actions WHERE depth = 0 AND line = 1")
        assert found.fetchall() == [("cse", 1)]
        replaced = 'SELECT a.name FROM changes JOIN actions a USING (ordinal) WHERE "by" = 4'
        assert database.sql(replaced).fetchall() == [("P",)]
        assert database.sql("SELECT actions, ended FROM runs").fetchall() == [(3, "exit")]


def test_database_builds_tables_on_demand(tmp_path: Path) -> None:
    recording = opened(tmp_path, nested(), OPERATIONS)
    with contextlib.closing(open_database(recording)) as database:
        query = "SELECT tag, max(depth) FROM actions WHERE outcome <> 'failed' GROUP BY tag"
        assert len(database.sql(query).fetchall()) == 4
        built = set(recording.tables["actions"]._built)  # pyright: ignore[reportPrivateUsage]
    assert built == {"tag", "depth", "outcome"}


def test_unused_texts_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from actiondbg.recording.tables.snapshots import IRText, IRTexts

    actions = [Action(ir=[(2, f"a{i}", f"b{i}")]) for i in range(1000)]
    recording = opened(tmp_path, actions, OPERATIONS, ir="changed")
    read: list[int] = []
    get = IRTexts.__getitem__

    def count(texts: IRTexts, hash: int) -> IRText:
        read.append(hash)
        return get(texts, hash)

    monkeypatch.setattr(IRTexts, "__getitem__", count)
    with contextlib.closing(open_database(recording)) as database:
        asked: Sequence[tuple[str, list[tuple[Any, ...]]]] = (
            ("SELECT text FROM ir WHERE ordinal = 7 AND \"when\" = 'after'", [("b6",)]),
            ("SELECT ordinal FROM ir WHERE text = 'a9'", [(10,)]),
            ("SELECT count(*), count(text) FROM ir WHERE operation = 3", [(0, 0)]),
        )
        needed: list[int] = []
        for query, answer in asked:
            assert database.sql(query).fetchall() == answer
            needed.append(len(read))
        assert list(itertools.pairwise([0, *needed])) == [(0, 1), (1, 2001), (2001, 2001)]


def test_a_header_with_halves_of_characters(tmp_path: Path) -> None:
    recording = opened(tmp_path, [Action()], header={"argv": ["x", "\udcff"], "cwd": "\udc80"})
    assert recording.header.argv == ("x", "?")
    with contextlib.closing(open_database(recording)) as database:
        assert database.sql("SELECT command FROM runs").fetchall() == [("x '?'",)]
