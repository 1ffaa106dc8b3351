"""The text of a search."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.commands.render.kernels.search import (
    SearchDisplay,
    progress_line,
    search_object,
    search_text,
)
from actiondbg.kernels.model import Configuration
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.results.entry import Profile
from actiondbg.kernels.search.search import (
    Finalist,
    Origin,
    SearchProgress,
    SearchResult,
    SearchTrial,
)

OPERATION = Matmul(64, 64, 64)


def finalist(name: str, *seconds: float, origin: Origin = "found") -> Finalist:
    """Return a finalist."""
    return Finalist(Configuration("mlir", name), Profile(seconds), origin)


def trial(name: str, seconds: float | None) -> SearchTrial:
    """Return a right trial, or a wrong one without a time."""
    configuration = Configuration("mlir", name)
    if seconds is None:
        return SearchTrial(configuration, "FAILED", detail="3 of 4,096 elements are wrong")
    return SearchTrial(configuration, "SUCCESS", seconds)


def result(*finalists: Finalist, wrong: int = 0) -> SearchResult:
    """Return a result with these finalists, the fastest first."""
    trials = [trial(each.configuration.name, each.seconds) for each in finalists]
    trials += [trial(f"wrong_{number}", None) for number in range(wrong)]
    return SearchResult(OPERATION, trials, list(finalists), "budget", Path("search.jsonl"))


DEFAULT = finalist("mlir_default", 0.002, 0.0021, 0.0022, origin="default")
PREDEFINED = finalist("mlir_a", 0.00125, 0.0013, 0.0014, origin="predefined")
FASTEST = finalist("mlir_b", 0.001, 0.0011, 0.0012)


def test_the_best_is_compared_with_the_fastest_that_needs_no_search() -> None:
    assert search_text(result(FASTEST, PREDEFINED, DEFAULT)).splitlines() == [
        "matmul_64x64x64_f32t_f32t_f32t: 3 configurations tried; the budget is used up.",
        "least ms  median ms  GFLOP/s  speed-up  configuration",
        "   1.000      1.100    0.524      1.25  mlir_b",
        "   1.250      1.300    0.419      1.00  mlir_a (predefined)",
        "   2.000      2.100    0.262      0.62  mlir_default (default)",
        "Best: mlir_b, 1.25 times as fast as the fastest without a search, mlir_a; confirmed by "
        "3 repetitions, in turn with the others.",
        "Configured: mlir_b/configured.mlir",
        "Log: search.jsonl",
    ]


def test_a_plain_default_is_no_baseline() -> None:
    plain = replace(result(FASTEST, DEFAULT), plain_default=True)
    lines = search_text(plain).splitlines()
    assert lines[2].split() == ["1.000", "1.100", "0.524", "mlir_b"]
    assert "There is nothing to compare with" in lines[4]


def test_a_baseline_that_is_faster_does_not_win() -> None:
    loops = Finalist(Configuration("c", "c_loops"), Profile((0.0005, 0.0006)), "baseline")
    found = result(loops, FASTEST, DEFAULT)
    assert found.best == FASTEST
    text = search_text(found)
    assert "c_loops (baseline)" in text
    assert "Best: mlir_b, confirmed by 3 repetitions" in text
    assert "but c_loops is 2.00 times as fast." in text


def test_times_that_overlap_are_no_gain() -> None:
    close = finalist("mlir_a", 0.00105, 0.0013, 0.0014, origin="predefined")
    text = search_text(result(FASTEST, close, DEFAULT))
    assert "not clearly faster than the fastest without a search, mlir_a" in text


def test_a_default_that_wins_is_no_gain() -> None:
    slower = finalist("mlir_b", 0.003, 0.004)
    text = search_text(result(DEFAULT, slower))
    assert "Best: the default, confirmed by 3 repetitions" in text
    assert text.count("no configuration is faster") == 1


def test_wrong_configurations_are_named() -> None:
    lines = search_text(result(FASTEST, DEFAULT, wrong=7)).splitlines()
    assert lines[0].startswith("matmul_64x64x64_f32t_f32t_f32t: 9 configurations tried, 7 wrong; ")
    assert "Wrong: wrong_0: FAILED, 3 of 4,096 elements are wrong" in lines
    assert "... and 2 more in the log" in lines
    assert "'actiondbg kernels bisect' finds the actions that make them wrong." in lines


def test_nothing_right_has_no_best() -> None:
    text = search_text(result(wrong=1))
    assert "No kernel is right, so there is no best configuration." in text
    assert search_object(result(wrong=1))["best"] is None


def test_json_has_the_parameters_of_the_best() -> None:
    configuration = Configuration("mlir", "mlir_b", {"vector": [4, 16, 1]})
    found = search_object(result(replace(FASTEST, configuration=configuration), DEFAULT))
    assert found["best"] == "mlir_b"
    assert found["parameters"] == {"vector": [4, 16, 1]}


def test_the_progress_names_the_last_and_the_best() -> None:
    progress = SearchProgress(3, 50, trial("mlir_c", None), trial("mlir_b", 0.001), 12.4)
    assert progress_line(progress, OPERATION.flops) == (
        "3/50; mlir_c: FAILED; best 1.000 ms (0.524 GFLOP/s) mlir_b; about 12 s left"
    )


def test_a_file_gets_a_line_for_each_trial() -> None:
    out = io.StringIO()
    display = SearchDisplay(out, OPERATION.flops)
    display.report(SearchProgress(1, None, trial("mlir_b", 0.001), None, None))
    display.clear()
    assert out.getvalue() == "1; mlir_b: 1.000 ms\n"


def test_a_terminal_gets_one_line_that_does_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    display = SearchDisplay(out, OPERATION.flops)
    display.report(SearchProgress(1, 50, trial("mlir_c", 0.002), trial("mlir_b" * 9, 0.001), 3.0))
    display.clear()
    shown, cleared = out.getvalue().removeprefix("\r\033[K").split("\r\033[K")
    assert shown == "1/50; best 1.000 ms (0.524 GFLOP/s) mlir_bmlir_b"[:39]
    assert cleared == ""


def test_the_times_of_a_small_kernel_have_digits() -> None:
    small = finalist("mlir_b", 2.889e-8, 3.1e-8)
    assert search_text(result(small)).splitlines()[2].split()[:2] == ["0.00002889", "0.00002995"]
    progress = SearchProgress(1, None, trial("mlir_b", 2.889e-8), None, None)
    assert progress_line(progress, OPERATION.flops) == "1; mlir_b: 0.00002889 ms"
