"""Limits of the search, with the best answer so far, and estimates of what is left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.bisection import Crash, Progress, Result, evaluator
from actiondbg.errors import UsageError
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.fakes.folds import folded, write_folds

BUILDS = LIBRARY

COUNT = 40
FIRST = {7, 18, 31}  # of these none may be folded


@pytest.fixture
def argv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return [mlir_opt, write_folds(Path("folds.mlir"), COUNT), "--canonicalize"]


def is_good(output: Path) -> bool:
    return not FIRST & set(folded(output))


def functions(result: Result) -> set[str | None]:
    return {entry.function for entry in result.skips}


WHOLE = {f"f{number}" for number in FIRST}


def test_a_set_that_is_not_the_smallest_is_the_answer(argv: list[str]) -> None:
    """It makes the output good, as does the smallest set, with which another search ends."""
    result = actiondbg.bisect(argv, is_good, mode="skip", max_trials=12, output="out")
    assert (result.verdict, result.trials, result.is_minimal) == ("found", 12, False)
    assert functions(result) > WHOLE
    assert "a smaller set" in result.message
    with actiondbg.launch(argv, skips="out/verdict.skips") as s:
        s.run()
        Path("skipped.mlir").write_text(s.target.output())
    assert is_good(Path("skipped.mlir"))
    again = actiondbg.bisect(argv, is_good, mode="skip", output="out", resume=True)
    assert (again.verdict, again.is_minimal, functions(again)) == ("found", True, WHOLE)
    assert not Path("out/state.json").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_range_is_the_answer(argv: list[str], jobs: int) -> None:
    whole = actiondbg.bisect(argv, is_good)
    result = actiondbg.bisect(argv, is_good, max_trials=5, output="out", jobs=jobs)
    assert result.verdict == "limit" and result.range is not None
    assert whole.culprit is not None
    assert result.range[0] <= whole.culprit.ordinal <= result.range[1]
    assert result.range[0] < result.range[1]
    assert os.listdir("out") == ["state.json"]
    again = actiondbg.bisect(argv, is_good, output="out", resume=True)
    assert again.culprit == whole.culprit


def test_no_trial_begins_after_the_time(argv: list[str]) -> None:
    result = actiondbg.bisect(argv, is_good, max_seconds=1e-6)
    assert (result.verdict, result.trials) == ("limit", 1)
    assert "has not begun" in result.message


def test_a_whole_run_that_takes_too_long_is_untestable(argv: list[str]) -> None:
    result = actiondbg.bisect(argv, is_good, timeout=1e-6)
    assert result.verdict == "untestable"
    assert "The whole run did not end in 1e-06 s: give a higher --timeout" in result.message
    assert result.trials == 1


def test_an_event_is_not_looked_for_in_other_layouts_of_a_run_without_an_end(
    argv: list[str],
) -> None:
    result = actiondbg.bisect(argv, Crash(), timeout=1e-6)
    assert (result.verdict, result.trials) == ("untestable", 1)
    assert "did not end in 1e-06 s" in result.message


def test_a_limit_is_positive(argv: list[str]) -> None:
    wrong: list[dict[str, Any]] = [{"max_trials": 0}, {"max_seconds": -1}]
    for limit in wrong:
        with pytest.raises(UsageError, match="must be"):
            actiondbg.bisect(argv, is_good, **limit)


@pytest.mark.parametrize("mode", ["first", "minimize", "skip"])
def test_estimates_are_kept(argv: list[str], mode: Any) -> None:
    """Of one job: a phase takes as many trials as was announced, or more if it said at least."""
    seen: list[Progress] = []
    result = actiondbg.bisect(argv, is_good, mode=mode, progress=seen.append)
    assert result.found
    ends = {each.phase: each.trials for each in seen}
    estimated = [each for each in seen if each.to_go]
    assert {each.phase for each in estimated} >= {"the search"}
    for each in estimated:
        assert each.to_go is not None
        if each.at_least:
            assert each.trials + each.to_go <= result.trials
        else:
            assert abs(each.trials + each.to_go - ends["the confirmation"]) <= 1
    if mode != "first":
        sizes = [each.best for each in seen if each.best is not None]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] == len(result.applied or result.skips)
        assert all(each.at_least for each in estimated)


def test_a_whole_run_that_does_not_end_is_noted_and_can_be_interrupted(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "_LONG_SECONDS", 0.0)
    source = tmp_path / "cycle.mlir"
    source.write_text(stock.CYCLE)
    argv = [mlir_opt, str(source), "--transform-interpreter"]
    notes: list[str] = []

    def on_progress(progress: Progress) -> None:
        if progress.note:
            notes.append(progress.note)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        actiondbg.bisect(argv, Crash(), progress=on_progress)
    assert notes == [
        "The whole run has not ended in a minute, and nothing limits it: --timeout SECONDS would."
    ]
    result = actiondbg.bisect(argv, Crash(), progress=on_progress, timeout=0.5)
    assert not result.found and len(notes) == 1, "it has a limit"


def test_a_plug_in_that_exits_in_its_pass_is_no_crash(
    mlir_opt: str, pattern_plugin: Path, folds: str
) -> None:
    """The exit handlers of the tool unload the plug-in before the agent reports the end."""
    Path(folds).write_text("func.func @f() { return }")
    pipeline = "builtin.module(canonicalize,exits,cse)"
    argv = [mlir_opt, folds, f"--load-pass-plugin={pattern_plugin}"]
    result = actiondbg.bisect([*argv, f"--pass-pipeline={pipeline}"], is_good, jobs=1)
    assert result.verdict == "untestable"
    assert "The tool ended with status 3 after " in result.message


def test_a_child_of_a_pass_leaves_the_record_of_a_trial_alone(
    mlir_opt: str, pattern_plugin: Path, argv: list[str]
) -> None:
    tool = [mlir_opt, argv[1], f"--load-pass-plugin={pattern_plugin}"]
    plain = actiondbg.bisect([*tool, "--pass-pipeline=builtin.module(canonicalize)"], is_good)
    pipeline = "builtin.module(canonicalize,forks-once)"
    result = actiondbg.bisect([*tool, f"--pass-pipeline={pipeline}"], is_good)
    assert plain.culprit is not None and result.culprit is not None, result.message
    assert result.candidates == plain.candidates + 1  # the pass
    assert result.culprit.entry.location == plain.culprit.entry.location
