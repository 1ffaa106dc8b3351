"""The notes of processes and the index, from files as agents write them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from actiondbg.errors import UsageError
from actiondbg.recording import open_recording
from actiondbg.recording.query.database import open_database
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.index import SCHEMAS, build_index, connect, pass_options, summarize
from actiondbg.suite.processes import read_processes
from tests.elements import some
from tests.fakes.recording.recordings import fake_recording

SEPARATOR = "\x1f"


def process(key: str, parent: int, *argv: str, cwd: str = "/", stdin: str = "pipe:[1]") -> str:
    """A line of the notes."""
    return SEPARATOR.join(["process", key, str(parent), f"/bin/{argv[0]}", cwd, stdin, "", *argv])


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    folder = SuiteFolder(tmp_path / "suite")
    folder.make(resume=False)
    folder.describe(["driver"])
    return folder


def note(folder: SuiteFolder, *lines: str) -> None:
    with folder.notes.open("ab") as notes:
        notes.write("".join(f"{line}\n" for line in lines).encode(errors="surrogateescape"))


def test_notes(folder: SuiteFolder) -> None:
    note(
        folder,
        "ran /bin/sh",
        process("10-100", 1, "sh", "-c", "x\\x0ay\\x5cz"),
        process("11-200", 10, "tool", "\udcff"),
        "unobserved 12 tool in.mlir",
        "output 11-200 pipe:[7]",
        "lost /bin/other",
        "lost /bin/other",
        "shortened 11-200",
        f"process{SEPARATOR}cut",
        "unrecorded 13-400",
        "unobserved 13 tool out.mlir",
    )
    found = read_processes(folder)
    assert [one.argv for one in found.all] == [("sh", "-c", "x\ny\\z"), ("tool", "\udcff")]
    assert (found.forks, found.lost) == ([(12, "tool in.mlir")], {"/bin/other": 2})
    assert (found.shortened, found.unrecorded) == ({"11-200"}, {"13-400"})
    assert found.outputs == {"11-200": "pipe:[7]"}


def test_ancestors(folder: SuiteFolder) -> None:
    note(
        folder,
        process("10-100", 1, "lit"),
        process("20-200", 10, "bash"),
        process("20-300", 10, "tool"),  # by exec
        process("30-400", 20, "child"),
        process("20-500", 10, "later"),  # the number is used again
    )
    found = read_processes(folder)
    child = next(one for one in found.all if one.argv[0] == "child")
    assert [one.argv[0] for one in found.ancestors(child)] == ["tool", "bash", "lit"]


def test_summary_equals_a_query(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 3000, 1, threads=True)
    recording = open_recording(path)
    expected = (
        open_database(recording)
        .sql(
            """SELECT tag, name, op, outcome, coalesce(changed, false), rolled_back, count(*)
            FROM actions GROUP BY ALL"""
        )
        .fetchall()
    )
    summary = summarize(path)
    columns = ("tag", "name", "op", "outcome", "changed", "rolled_back", "times")
    found = [tuple(one[name] for name in columns) for one in summary.attempts]
    assert Counter(found) == Counter(expected)
    reasons = open_database(recording).sql(
        """SELECT tag, name, op, reasons.reason, count(*) FROM reasons JOIN actions USING (ordinal)
        GROUP BY ALL"""
    )
    counted = Counter(tuple(one.values()) for one in summary.reasons)
    assert counted == Counter(reasons.fetchall())
    assert summary.count == recording.count


def test_damaged_and_empty_recordings(folder: SuiteFolder, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        note(folder, process(f"{number}-{number}00", 9, "tool", f"{number}.mlir"))
    whole = fake_recording(tmp_path / "run.adbrec", 500, 1).read_bytes()
    (folder.runs / "1-100.adbrec").write_bytes(whole)
    (folder.runs / "2-200.adbrec").write_bytes(whole[: len(whole) // 2])
    (folder.runs / "3-300.adbrec").write_bytes(b"something else")
    build_index(folder)
    rows = connect(folder).sql("SELECT command, actions, missing FROM runs ORDER BY run").fetchall()
    assert [row[0] for row in rows] == ["tool 1.mlir", "tool 2.mlir", "tool 3.mlir"]
    assert rows[0][1] == 500 > rows[1][1]
    assert rows[0][2] is None
    assert "killed" in rows[1][2] and "is not a recording" in rows[2][2]


def test_a_later_part_replaces_the_same_command(folder: SuiteFolder, tmp_path: Path) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 10, 1).read_bytes()
    first = [("1-100", "a.mlir"), ("2-200", "a.mlir"), ("3-300", "b.mlir")]
    for key, word in first:
        note(folder, process(key, 9, "tool", word))
        (folder.runs / f"{key}.adbrec").write_bytes(whole)
    folder.describe(["driver"])
    note(folder, process("1-900", 9, "tool", "a.mlir"))
    (folder.runs / "1-900.adbrec").write_bytes(whole)
    build_index(folder)
    rows = connect(folder).sql("SELECT command, part FROM runs ORDER BY run").fetchall()
    assert rows == [("tool b.mlir", 1), ("tool a.mlir", 2)]


def test_a_later_part_keeps_the_same_command_of_other_tests(
    folder: SuiteFolder, tmp_path: Path
) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 10, 1).read_bytes()
    for name in ("a.mlir", "b.mlir"):
        (tmp_path / name).write_text("// RUN: tool %s | tool --cse | tool --cse\n")

    def run(began: int, *names: str) -> None:
        folder.describe(["driver"])
        for number, name in enumerate(some(names)):
            keys = [f"{pid}-{began + 3 * number + pid}" for pid in (1, 2, 3)]
            read, written = (f"pipe:[{2 * number + at}]" for at in (0, 1))
            note(
                folder,
                process(keys[0], 9, "tool", str(tmp_path / name), stdin="/dev/null"),
                process(keys[1], 9, "tool", "--cse", stdin=read),
                process(keys[2], 9, "tool", "--cse", stdin=written),
                f"output {keys[0]} {read}",
                f"output {keys[1]} {written}",
            )
            for key in keys:
                (folder.runs / f"{key}.adbrec").write_bytes(whole)

    def parts() -> dict[str, list[int]]:
        build_index(folder)
        query = "SELECT test, list(part ORDER BY run) FROM runs GROUP BY test"
        rows = connect(folder).sql(query).fetchall()
        return {Path(test).name: numbers for test, numbers in rows}

    run(100, "a.mlir", "b.mlir")
    first = parts()
    assert {name: len(numbers) for name, numbers in first.items()} == {"a.mlir": 3, "b.mlir": 3}
    run(200, "b.mlir")
    assert parts() == {"a.mlir": first["a.mlir"], "b.mlir": [first["b.mlir"][0] + 1] * 3}


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("--canonicalize", [("canonicalize", "")]),
        ("-canonicalize=max-iterations=3", [("canonicalize", "max-iterations=3")]),
        ("--pass-pipeline=builtin.module(cse,func.func(canonicalize{a=1 b=2}))", None),
        ("--cse-other", []),
        ("canonicalize", []),
    ],
)
def test_options_of_passes(word: str, found: list[tuple[str, str]] | None) -> None:
    both = [("canonicalize", "a=1 b=2"), ("cse", "")]
    passes = {"canonicalize", "cse"}
    assert sorted(pass_options(("tool", word), passes)) == (both if found is None else found)


def test_formats(folder: SuiteFolder) -> None:
    folder.check()
    (folder.path / "suite.json").write_text('{"format": 99, "commands": []}')
    with pytest.raises(UsageError, match="has format 99"):
        folder.check()


def test_the_index_needs_no_python_variable(folder: SuiteFolder) -> None:
    database = connect(folder)
    with pytest.raises(duckdb.Error):
        database.sql("SELECT * FROM folder")


def _with_two_recordings(folder: SuiteFolder) -> None:
    for key in ("10-100", "11-200"):
        note(folder, process(key, 1, "tool", key))
        fake_recording(folder.runs / f"{key}.adbrec", 50, 1)


def _actions(folder: SuiteFolder) -> list[tuple[int]]:
    with connect(folder) as database:
        return database.execute("SELECT actions FROM runs").fetchall()


@pytest.mark.parametrize("content", [None, b"", b"PAR1", bytes(4000)])
def test_a_damaged_index_is_built_anew(folder: SuiteFolder, content: bytes | None) -> None:
    _with_two_recordings(folder)
    expected = _actions(folder)
    assert len(expected) == 2
    for table in some(sorted(folder.index.glob("*.parquet"))):
        if content is None:
            table.unlink()
        else:
            table.write_bytes(content)
        assert _actions(folder) == expected


def test_an_index_of_other_columns_is_built_anew(
    folder: SuiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_two_recordings(folder)
    with monkeypatch.context() as earlier:
        columns = {name: kind for name, kind in SCHEMAS["runs"].items() if name != "actions"}
        earlier.setitem(SCHEMAS, "runs", columns)
        build_index(folder)
    assert _actions(folder) == [(50,), (50,)]


def test_a_flipped_bit_of_the_index_changes_no_answer(folder: SuiteFolder) -> None:
    _with_two_recordings(folder)
    expected = _actions(folder)
    table = folder.index / "runs.parquet"
    for place in some(range(0, table.stat().st_size, 97)):
        whole = bytearray(table.read_bytes())
        whole[place % len(whole)] ^= 4
        table.write_bytes(whole)
        assert _actions(folder) == expected


@pytest.mark.parametrize("kept", [None, 0, 1])
def test_recordings_without_a_note_are_runs(folder: SuiteFolder, kept: int | None) -> None:
    _with_two_recordings(folder)
    expected = _actions(folder)
    (folder.runs / "12-300.adbrec").write_bytes(b"no recording")
    if kept is None:
        folder.notes.unlink()
    else:
        lines = folder.notes.read_text().splitlines(keepends=True)
        folder.notes.write_text("".join(lines[:kept]))
    assert sorted(_actions(folder)) == [(0,), *sorted(expected)]
    with connect(folder) as database:
        [missing] = database.execute("SELECT missing FROM runs WHERE actions = 0").fetchall()
    assert "is not a recording" in missing[0]
