"""The files of a report: suffixes, tags, and what appending keeps."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.results.csv_file import read_csv
from actiondbg.kernels.results.entry import entries_of, entry_of
from actiondbg.kernels.results.report_files import ReportFiles, parse_tags
from actiondbg.support.recording_file import MAGIC
from tests.fakes.kernels.rows import BROKEN, FAST, ROWS, WRONG


def test_tags() -> None:
    assert parse_tags("commit:1a2b, at:12:30") == (("commit", "1a2b"), ("at", "12:30"))
    assert parse_tags("") == ()


@pytest.mark.parametrize(
    "text, message",
    [
        ("commit", "'commit' is not NAME:VALUE"),
        ("commit:", "'commit:' is not NAME:VALUE"),
        ("a:1,,b:2", "'' is not NAME:VALUE"),
        ("GFLOPs:1", "'GFLOPs' is a column of each report"),
        ("a:1,a:2", "'a' is given twice"),
    ],
)
def test_wrong_tags_are_named(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_tags(text)


def test_each_suffix_has_its_format(tmp_path: Path) -> None:
    files = [tmp_path / f"a{suffix}" for suffix in (".csv", ".md")]
    ReportFiles(files).write(entries_of(ROWS))
    assert read_csv(files[0]) == entries_of(ROWS)
    assert files[1].read_text().startswith("# Kernels\n")


def test_parquet_has_types(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "a.parquet"
    ReportFiles([file]).write(entries_of(ROWS))
    table = parquet.read_table(file)
    assert table["m"].to_pylist() == [512, None, 8, 8]
    assert table["config_m"].to_pylist() == [None, 4, None, 4]  # a parameter of that name
    assert table["min_ms"].to_pylist() == [4.0, 0.001, None, None]
    assert table["repetitions_s"].to_pylist()[0] == [0.0041, 0.0040, 0.0043]
    assert table["lhs"].to_pylist() == ["f32t", None, "f32t", "f32t"]


def test_unusable_outputs_are_refused_before_a_sweep(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'a.txt' has no known suffix"):
        ReportFiles([Path("a.txt")])
    with pytest.raises(UsageError, match="its directory does not exist"):
        ReportFiles([tmp_path / "missing/a.csv"])
    (tmp_path / "b").mkdir()
    with pytest.raises(UsageError, match="named twice"):
        ReportFiles([tmp_path / "a.csv", tmp_path / "." / "b" / ".." / "a.csv"])
    (tmp_path / "run.csv").write_bytes(MAGIC)
    with pytest.raises(UsageError, match="is a recording and is not overwritten"):
        ReportFiles([tmp_path / "run.csv"])
    with pytest.raises(UsageError, match="--append needs a CSV file"):
        ReportFiles([tmp_path / "a.md"], append=True)


def test_appended_entries_follow_those_of_another_kind(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    for row in (FAST, WRONG):
        ReportFiles([file], append=True).write(entries_of([row]))
    assert read_csv(file) == entries_of([FAST, WRONG])


def test_writing_again_replaces_what_this_run_appended(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    ReportFiles([file]).write(entries_of([FAST]))
    first, second = (ReportFiles([file], append=True) for _ in range(2))
    first.write(entries_of([WRONG]))
    second.write(entries_of([FAST]))
    first.write(entries_of([WRONG, BROKEN]))
    assert read_csv(file) == entries_of([FAST, FAST, WRONG, BROKEN])


def test_nothing_is_appended_to_a_foreign_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("date,price\n1,2\n")
    with pytest.raises(ActiondbgError, match=r"Nothing is appended: .* is not a report"):
        ReportFiles([file], append=True)
    assert file.read_text() == "date,price\n1,2\n"


def test_an_empty_file_can_be_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.touch()
    ReportFiles([file], append=True).write(entries_of([FAST]))
    assert read_csv(file) == entries_of([FAST])


def test_a_full_disk_is_an_error_with_the_name_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        ReportFiles([file]).write([])
    assert caught.value.filename == str(file)


def _append(file: Path, number: int) -> None:
    report = ReportFiles([file], append=True)
    for count in range(1, 6):
        report.write([replace(entry_of(FAST), dispatch=f"{number}")] * count)


def test_runs_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    runs = [multiprocessing.Process(target=_append, args=(file, number)) for number in range(4)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    names = [entry.dispatch for entry in read_csv(file)]
    assert sorted(names) == sorted(f"{number}" for number in range(4) for _ in range(5))
