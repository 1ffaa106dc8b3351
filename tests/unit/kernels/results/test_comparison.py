"""The comparison of two reports, and the command that prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg import cli
from actiondbg.kernels.results.csv_file import to_csv
from actiondbg.kernels.results.entry import Entry, Verdict, Verification, entry_of
from actiondbg.kernels.results.report_comparison import Change, compare
from tests.fakes.kernels.rows import FAST, WRONG


def _entry(name: str = "a", *seconds: float, verdict: Verdict = "SUCCESS", total: int = 8) -> Entry:
    verification = Verification(verdict, "equal", 0, total)
    return replace(
        entry_of(FAST), dispatch=name, seconds=seconds, confirmed=None, verification=verification
    )


@pytest.mark.parametrize(
    "old, new, change",
    [
        ((1.0, 1.1, 1.2), (1.3, 1.3, 1.3), Change.SLOWER),
        ((1.3, 1.3, 1.3), (1.0, 1.1, 1.2), Change.FASTER),
        ((1.0, 1.1, 1.2), (1.04, 1.2, 1.3), Change.SAME),  # below the threshold
        ((1.0, 1.2, 1.3), (1.1, 1.1, 1.1), Change.SAME),  # within the noise of the first
        ((1.1, 1.1, 1.1), (1.0, 1.2, 1.3), Change.SAME),
        ((1.0, 1.0, 9.0), (1.2, 1.2, 1.2), Change.SLOWER),  # one outlier hides nothing
        ((), (1.0,), Change.SAME),
    ],
)
def test_times_differ_beyond_noise(
    old: Sequence[float], new: Sequence[float], change: Change
) -> None:
    (difference,) = compare([_entry("a", *old)], [_entry("a", *new)]).differences
    assert difference.changes == (change,)


@pytest.mark.parametrize(
    "verdicts, change",
    [
        (("FAILED", "FAILED"), Change.STILL_WRONG),
        (("SUCCESS", "FAILED"), Change.WRONG),
    ],
)
@pytest.mark.parametrize("times", [(1.0, 9.0), (9.0, 1.0)])
def test_the_time_of_a_wrong_result_is_not_compared(
    verdicts: tuple[Verdict, Verdict], change: Change, times: tuple[float, float]
) -> None:
    old, new = (
        _entry("a", time, time, verdict=verdict)
        for time, verdict in zip(times, verdicts, strict=True)
    )
    assert compare([old], [new]).differences[0].changes == (change,)


@pytest.mark.parametrize("disturbed", ["old", "new"])
def test_a_disturbed_time_has_to_exceed_all_of_the_other(disturbed: str) -> None:
    entries = {"old": _entry("a", 1.0, 1.0, 1.3), "new": _entry("a", 1.2, 1.2, 1.2)}
    assert compare([entries["old"]], [entries["new"]]).is_worse
    entries[disturbed] = replace(entries[disturbed], switches=3)
    assert not compare([entries["old"]], [entries["new"]]).is_worse
    entries["old"] = replace(entries["old"], seconds=(1.0, 1.0, 1.1))
    assert compare([entries["old"]], [entries["new"]]).is_worse


@pytest.mark.parametrize(
    "old, new, change, is_worse",
    [
        ("SUCCESS", "FAILED", Change.WRONG, True),
        ("Not verified", "CRASHED", Change.WRONG, True),
        ("FAILED", "NOT COMPILED", Change.STILL_WRONG, False),
        ("FAILED", "SUCCESS", Change.FIXED, False),
        ("SUCCESS", "NOT RUNNABLE HERE", Change.UNVERIFIED, False),
        ("Not verified", "SUCCESS", Change.SAME, False),
    ],
)
def test_verdicts(old: Verdict, new: Verdict, change: Change, is_worse: bool) -> None:
    comparison = compare([_entry(verdict=old)], [_entry(verdict=new)])
    assert comparison.differences[0].changes == (change,)
    assert comparison.is_worse == is_worse


def test_a_dispatch_can_be_fixed_and_slower() -> None:
    old, new = _entry("a", 1.0, verdict="FAILED"), _entry("a", 2.0)
    comparison = compare([old], [new])
    assert comparison.differences[0].changes == (Change.FIXED, Change.SLOWER)
    assert comparison.is_worse


def test_new_and_gone_dispatches() -> None:
    wrong = _entry("wrong", verdict="FAILED")
    comparison = compare([_entry("gone")], [_entry("new"), wrong])
    assert [(each.name, each.changes) for each in comparison.differences] == [
        ("new", (Change.NEW,)),
        ("wrong", (Change.NEW, Change.WRONG)),
        ("gone", (Change.GONE,)),
    ]
    assert comparison.is_worse
    assert not compare([_entry("gone")], []).is_worse


def _run(tmp_path: Path, *reports: Sequence[Entry], options: Sequence[str] = ()) -> int:
    files: list[str] = []
    for number, entries in enumerate(reports):
        file = tmp_path / f"{number}.csv"
        file.write_text(to_csv(entries))
        files.append(str(file))
    return cli.main(["kernels", "report", *files, *options])


def test_the_command_prints_the_worst_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = [_entry("a", 1e-3), _entry("b", 1e-3), _entry("c", 4e-3), _entry("d")]
    new = [
        _entry("a", 1.5e-3),
        _entry("b", 2e-3),
        _entry("c", 1e-3),
        _entry("d", verdict="FAILED"),
    ]
    assert _run(tmp_path, old, new) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Wrong: 1",
        "  d  SUCCESS -> FAILED",
        "",
        "Slower: 2",
        "  b  SUCCESS  1.000 ms  2.000 ms  2.00 times",
        "  a  SUCCESS  1.000 ms  1.500 ms  1.50 times",
        "",
        "Faster: 1",
        "  c  SUCCESS  4.000 ms  1.000 ms  0.25 times",
        "",
        "0 of 4 dispatches are the same.",
        "Slower or faster: the least times differ by more than 5 %, and the larger one exceeds the "
        "median of the other report; if context switches disturbed either, its largest time.",
    ]


def test_the_threshold_is_an_option(tmp_path: Path) -> None:
    reports = [_entry("a", 1.0)], [_entry("a", 1.5)]
    assert _run(tmp_path, *reports) == 1
    assert _run(tmp_path, *reports, options=["--threshold", "60%"]) == 0


def test_one_report_is_printed_and_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "a.md"
    report = [entry_of(FAST), entry_of(WRONG)]
    assert _run(tmp_path, report, options=["--output", str(output)]) == 0
    out = capsys.readouterr().out
    assert "Verification  : SUCCESS\nRuntime(ms)   : 4.000\nGFLOPs        : 67.11\n" in out
    assert out.endswith("2 dispatches: 1 right, 1 wrong.\n")
    assert output.read_text().startswith("# Kernels")


def test_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        _run(tmp_path, [_entry()], options=["--threshold", "much"])
    assert caught.value.code == 2
    assert "'much' is not a non-negative number of per cent" in capsys.readouterr().err
    assert _run(tmp_path, [_entry()], options=["--output", "a.txt"]) == 2
    assert "has no known suffix" in capsys.readouterr().err


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    assert _run(tmp_path, [_entry()], options=["--output", str(tmp_path / "0.csv")]) == 2


def test_a_foreign_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a,b\n")
    assert cli.main(["kernels", "report", str(file)]) == 1
    assert "is not a report of actiondbg kernels: its columns are a, b" in capsys.readouterr().err
