"""Reports as CSV files: their columns, and that they are read back."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.csv_file import read_csv, to_csv
from actiondbg.kernels.results.entry import entries_of
from tests.fakes.kernels.rows import FAST, ROWS, WRONG


def _cells(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_the_columns_of_the_dispatch_profiler_come_first() -> None:
    header = to_csv(entries_of([replace(FAST, tags=(("commit", "1a"),))])).splitlines()[0]
    assert header.startswith(
        "commit,Provider,batch_count,m,n,k,lhs,rhs,result,Configuration,tile,unroll,"
        "Verification,Runtime(ms),GFLOPs,dispatch,kind,"
    )


def test_values_follow_from_the_fastest_repetition() -> None:
    (cells,) = _cells(to_csv(entries_of([FAST])))
    assert cells["tile"] == "8x8"
    assert cells["unroll"] == "true"
    assert cells["Runtime(ms)"] == "4.0"
    assert cells["median_ms"] == "4.1"
    assert float(cells["GFLOPs"]) == pytest.approx(2 * 512**3 / 4e6, rel=1e-4)
    assert float(cells["percent_of_peak"]) == pytest.approx(67.109, rel=1e-4)
    # 85.3 operations a byte: 10 GB/s would allow 853 GFLOP/s, so the peak is the roof.
    assert cells["percent_of_roof"] == cells["percent_of_peak"]


def test_the_roof_is_the_bandwidth_at_a_low_intensity() -> None:
    (cells,) = _cells(to_csv(entries_of([WRONG])))
    assert float(cells["flops_per_byte"]) == 0.125
    assert float(cells["percent_of_roof"]) == pytest.approx(80)  # 1 of 1.25 GFLOP/s


def test_kinds_share_a_file() -> None:
    cells = _cells(to_csv(entries_of([FAST, WRONG])))
    assert [each["size"] for each in cells] == ["", "1000"]
    assert [each["k"] for each in cells] == ["512", ""]
    assert cells[1]["passes"] == "cse canonicalize"


def test_a_file_is_read_back(tmp_path: Path) -> None:
    entries = entries_of([replace(row, tags=(("commit", "1a"),)) for row in ROWS])
    file = tmp_path / "a.csv"
    file.write_text(to_csv(entries))
    assert read_csv(file) == entries
    file.write_text(to_csv(entries), encoding="utf-8-sig")  # as a spreadsheet saves it
    assert read_csv(file) == entries
    assert len(file.read_text().splitlines()) == len(entries) + 1


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "its columns are missing"),
        ("a,b,c,d,e\n1,2,3,4,5\n", "its columns are a, b, c, d, ...; name a CSV file that"),
    ],
)
def test_a_foreign_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(content)
    with pytest.raises(ActiondbgError, match=message):
        read_csv(file)


def test_a_binary_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ActiondbgError, match="is not text"):
        read_csv(file)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "0.0041",
            "fast",
            "line 2, column 'repetitions_s': 'fast 0.004 0.0043' is not a finite number of at",
        ),
        ("0.0041", "nan", "'nan 0.004 0.0043' is not a finite number of at least 0"),
        ("0.0041", "-0.0041", "'-0.0041 0.004 0.0043' is not a finite number of at least 0"),
        ("0.0041", "inf", "'inf 0.004 0.0043' is not a finite number of at least 0"),
        ("0.0041", "1e999", "'1e999 0.004 0.0043' is not a finite number of at least 0"),
        (",268435456,", ",many,", "line 2, column 'flops': 'many' is not an integer"),
        (",268435456,", ",-268435456,", "column 'flops': '-268435456' is not an integer of at"),
        (",SUCCESS", "", "line 2: 46 cells, but the header has 47 columns"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "a.csv"
    text = to_csv(entries_of([FAST]))
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(ActiondbgError, match=message):
        read_csv(file)


def test_a_report_of_another_version_is_read(tmp_path: Path) -> None:
    rows = list(csv.reader(to_csv(entries_of(ROWS)).splitlines()))
    dropped = rows[0].index("confirmed_s")
    rows = [[*row[:dropped], *row[dropped + 1 :], "later"] for row in rows]
    path = tmp_path / "old.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    expected = [replace(each, confirmed=None) for each in entries_of(ROWS)]
    assert read_csv(path) == expected


def test_a_column_may_have_no_name(tmp_path: Path) -> None:
    """Such as the index that pandas writes before the others; it is a tag like them."""
    entries = entries_of([replace(FAST, tags=(("commit", "1a"),))])
    header, line = to_csv(entries).splitlines()
    path = tmp_path / "a.csv"
    path.write_text(f",{header}\n0,{line}\n")
    (entry,) = read_csv(path)
    assert entry == replace(entries[0], tags={"": "0", "commit": "1a"})
    assert to_csv([entry]) == path.read_text()
