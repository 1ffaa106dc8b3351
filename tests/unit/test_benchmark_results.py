"""The results of the benchmarks: bars, stored runs, the table of docs/performance.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.benchmarks import __main__ as bench
from scripts.benchmarks.results import PAGE, StoredResults, misses, with_table


@pytest.mark.parametrize(
    ("figure", "bar", "expected"),
    [
        ("1.05", "1.05", False),
        ("1.06", "1.05", True),
        ("2.0", "at least 2", False),
        ("1.9", "at least 2", True),
        ("0 MB, 201 MB", "200 MB", True),
        ("0 MB, 3 MB", "200 MB", False),
        ("12,000", "9,000", True),
        ("7", "", False),
    ],
)
def test_figures_beyond_their_bars(figure: str, bar: str, expected: bool) -> None:
    assert misses(figure, bar) == expected


def test_the_table_is_that_of_the_stored_results() -> None:
    page = PAGE.read_text()
    assert with_table(page, StoredResults().table()) == page


def test_runs_are_stored_by_row(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    first = [("b of 2.9 s", "1.02", "1.05"), ("b of 30.0 s", "9", ""), ("gone", "1", "")]
    for rows in (first, [("b of 3.1 s", "1.10", "1.05"), ("b of 31.0 s", "11", "")]):
        stored = StoredResults(path)
        stored.add("running", rows, "2 cores")
        stored.save()
    assert StoredResults(path).table().splitlines()[2:] == [
        "| b of 3.1 s | **1.02 to 1.10** | 1.05 |",
        "| b of 31.0 s | 9 to 11 |  |",
    ]


@pytest.mark.parametrize(("figure", "status"), [("1.04", 0), ("1.06", 1)])
def test_a_missed_bar_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], figure: str, status: int
) -> None:
    def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
        yield ("what is measured", figure, "1.05")

    monkeypatch.setattr(bench, "_MEASURES", {"one": measure})
    monkeypatch.setattr(sys, "argv", ["bench"])
    before = PAGE.read_text()
    assert bench.main() == status
    written = capsys.readouterr()
    assert f"| what is measured | {figure} | 1.05 |" in written.out
    assert ("beyond its bar: what is measured" in written.err) == bool(status)
    assert PAGE.read_text() == before
