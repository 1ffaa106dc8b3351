"""Bisections of the real tool, by the API."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Entry
from actiondbg.bisection.verdict import Verdict
from actiondbg.errors import LaunchError, OracleError, UsageError
from tests.conftest import LIBRARY
from tests.fakes.folds import folded, write_folds

BUILDS = LIBRARY

COUNT = 50
MARK = f"BISECTED_BY={os.getpid()}."  # in the environment of our tools
Judge = Callable[[list[int]], "bool | Verdict"]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), COUNT)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No process of a bisection outlives it."""
    yield
    environments = Path("/proc").glob("[0-9]*/environ")
    assert [file for file in environments if _is_ours(file)] == []


def _is_ours(environment: Path) -> bool:
    try:
        return MARK.encode() in environment.read_bytes()
    except OSError:
        return False


def bisect(mlir_opt: str, source: str, judge: Judge, *flags: str, **options: object):
    name, _, value = MARK.partition("=")
    env = {**os.environ, name: value}
    return actiondbg.bisect(
        [mlir_opt, source, *(flags or ("--canonicalize",))],
        lambda output: judge(folded(output)),
        env=env,
        **options,  # pyright: ignore[reportArgumentType]
    )


def until(culprit: int) -> Judge:
    return lambda applied: culprit not in applied


# --- mode first ---------------------------------------------------------------------------


@pytest.mark.parametrize("culprit", [0, 1, 31, COUNT - 1])
def test_the_first_bad_action_is_found(mlir_opt: str, source: str, culprit: int) -> None:
    result = bisect(mlir_opt, source, until(culprit))
    assert (result.verdict, result.confirmed, result.candidates) == ("found", "good", COUNT)
    assert result.trials <= math.ceil(math.log2(COUNT)) + 3
    found = result.culprit
    assert found is not None
    assert (found.tag, found.name, found.op) == ("fold", "arith.addi", "arith.addi")
    assert (found.function, found.location) == (f"f{culprit}", f"folds.mlir:{5 * culprit + 3}:8")
    assert (found.pass_name, found.pass_ordinal) == ("canonicalize", 1)
    assert found.pass_pipeline is not None
    assert found.pass_pipeline.startswith("builtin.module(canonicalize{")
    assert [frame.tag for frame in found.stack] == [
        "fold",
        "GreedyPatternRewriteIteration",
        "pass-execution",
    ]
    assert found.outcome is not None and found.outcome.result == "succeeded"


def test_the_action_is_the_one_that_a_session_stops_at(mlir_opt: str, source: str) -> None:
    found = bisect(mlir_opt, source, until(20)).culprit
    assert found is not None
    with actiondbg.launch([mlir_opt, source, "--canonicalize"]) as session:
        session.breakpoints.add(f"#{found.ordinal}")
        stop = session.run()
        assert (stop.tag, stop.name, stop.function) == (found.tag, found.name, "f20")
        assert stop.nth == found.nth


def test_the_diff_is_of_the_pattern(mlir_opt: str, folds: str) -> None:
    result = actiondbg.bisect(
        [mlir_opt, folds, "--canonicalize"], lambda output: "c7_i32" not in output.read_text()
    )
    assert result.culprit is not None and result.culprit.diff is not None
    assert (result.culprit.tag, result.culprit.name) == ("apply-pattern", "AddIAddConstant")
    unified = "\n".join(result.culprit.diff.unified())
    assert "+  %c7_i32 = arith.constant 7 : i32" in unified


@pytest.mark.parametrize("jobs", [2, 4])
def test_parallel_trials_find_the_same_culprit(mlir_opt: str, source: str, jobs: int) -> None:
    for culprit in (0, 17, COUNT - 1):
        alone = bisect(mlir_opt, source, until(culprit)).as_json()
        together = bisect(mlir_opt, source, until(culprit), jobs=jobs).as_json()
        # How often the plain tool runs beside the search depends on the load.
        for key in ("trials", "oracle_runs", "seconds", "plain_bad", "plain_runs"):
            del alone[key], together[key]
        assert together == alone


def test_second_harmful_action_is_reported(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, lambda applied: 7 not in applied and 30 not in applied)
    assert result.culprit is not None and result.culprit.function == "f7"
    assert (result.verdict, result.confirmed) == ("found", "bad")
    assert "still bad" in result.message and "--mode skip" in result.message


@pytest.mark.parametrize("block", [range(20, 30), range(5, 45), range(24, 25)])
def test_untestable_candidates_are_avoided(mlir_opt: str, source: str, block: range) -> None:
    def judge(applied: list[int]) -> bool | Verdict:
        return "untestable" if len(applied) in block else len(applied) <= 45

    result = bisect(mlir_opt, source, judge)
    assert result.verdict == "found" and result.culprit is not None
    assert result.culprit.function == "f45"


def test_a_range_that_cannot_be_narrowed(mlir_opt: str, source: str) -> None:
    def judge(applied: list[int]) -> bool | Verdict:
        return "untestable" if 20 <= len(applied) < 30 else len(applied) < 20

    result = bisect(mlir_opt, source, judge)
    assert (result.verdict, result.culprit) == ("untestable", None)
    with actiondbg.launch([mlir_opt, source, "--canonicalize"]) as session:
        session.breakpoints.add("fold:arith.addi", outcome="changed")
        ordinals = [session.run().ordinal, *(session.continue_().ordinal for _ in range(29))]
    assert result.range == (ordinals[19], ordinals[29])
    assert f"#{ordinals[19]} to #{ordinals[29]}" in result.message
    assert "canonicalize" in result.message


# --- the other modes ----------------------------------------------------------------------


def numbers(entries: list[Entry]) -> list[int]:
    return [int((entry.function or "").removeprefix("f")) for entry in entries]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("group", [{3}, {0, 49}, {5, 17, 40}])
def test_the_smallest_bad_set(mlir_opt: str, source: str, group: set[int], jobs: int) -> None:
    result = bisect(
        mlir_opt, source, lambda applied: not group <= set(applied), mode="minimize", jobs=jobs
    )
    assert (result.verdict, result.mode) == ("found", "minimize")
    assert set(numbers(result.applied)) == group
    assert set(numbers(result.skips)) == set(range(COUNT)) - group
    assert result.culprit is not None and result.culprit.function == f"f{max(group)}"


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("group", [{3}, {0, 49}, {5, 17, 40}])
def test_the_smallest_set_of_skips(mlir_opt: str, source: str, group: set[int], jobs: int) -> None:
    result = bisect(
        mlir_opt, source, lambda applied: not group & set(applied), mode="skip", jobs=jobs
    )
    assert (result.verdict, result.mode, result.applied) == ("found", "skip", [])
    assert set(numbers(result.skips)) == group


def test_entries_name_actions_of_one_place(mlir_opt: str, tmp_path: Path) -> None:
    """Operations of one location and function are told apart by their number."""
    lines = [f"  %x{n} = arith.addi %a{n}, %c0 : i32 loc(#l)" for n in range(6)]
    arguments = ", ".join(f"%a{n}: i32" for n in range(6))
    results = ", ".join(f"%x{n}" for n in range(6))
    types = ", ".join(["i32"] * 6)
    text = f"""\
#l = loc("a.mlir":1:1)
func.func @f({arguments}) -> ({types}) {{
  %c0 = arith.constant 0 : i32
{chr(10).join(lines)}
  return {results} : {types}
}}
"""
    source = tmp_path / "one.mlir"
    source.write_text(text)
    for wanted in (2, 5):
        result = actiondbg.bisect(
            [mlir_opt, str(source), "--canonicalize"],
            lambda output, wanted=wanted: f"addi %arg{wanted}" in output.read_text(),
            mode="skip",
        )
        assert [(entry.location, entry.nth) for entry in result.skips] == [
            ("a.mlir:1:1", wanted + 1)
        ]


# --- which candidates ---------------------------------------------------------------------


def test_candidates_are_narrowed(mlir_opt: str, source: str) -> None:
    for options in ({"func": "f2?"}, {"tag": "fold"}, {"name": "arith.a*"}):
        result = bisect(mlir_opt, source, until(24), **options)
        assert result.culprit is not None and result.culprit.function == "f24"
        assert result.candidates == (10 if "func" in options else COUNT)


def test_harmless_candidates(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, until(24), func="f3?")
    assert (result.verdict, result.candidates) == ("not-good-at-start", 10)
    assert "widen --func 'f3?'" in result.message
    result = bisect(mlir_opt, source, until(24), name="no-such-name")
    assert (result.verdict, result.candidates) == ("not-good-at-start", 0)
    assert "no candidates with --name no-such-name" in result.message


def test_required_passes_are_not_skipped(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, until(24), always=["canonicalize"])
    assert result.verdict == "not-good-at-start" and result.always == ["canonicalize"]
    result = bisect(mlir_opt, source, until(24), "--cse", "--canonicalize", always=["cse"])
    assert result.culprit is not None and result.culprit.function == "f24"
    assert result.candidates == COUNT


def test_pass_without_patterns_is_the_culprit(mlir_opt: str, source: str) -> None:
    text = (
        Path(source).read_text().replace("return %x", "%y = arith.addi %a, %c0 : i32\n return %y")
    )
    Path(source).write_text(text)
    result = actiondbg.bisect(
        [mlir_opt, source, "--canonicalize", "--cse"],
        lambda output: output.read_text().count("func.func") == COUNT,
    )
    assert result.verdict == "not-bad"
    result = actiondbg.bisect(
        [mlir_opt, source, "--mem2reg", "--cse"],
        lambda output: output.read_text().count("addi") == 2 * COUNT,
    )
    assert result.culprit is not None
    assert (result.culprit.tag, result.culprit.name) == ("pass-execution", "cse")
    assert result.culprit.pass_name == "cse"


LOOP = """\
func.func @f(%m: memref<4xi32>) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  affine.for %i = 0 to 4 {
    %v = affine.load %m[%i] : memref<4xi32>
    %u = arith.addi %v, %c3 : i32
    %w = arith.addi %u, %c4 : i32
    affine.store %w, %m[%i] : memref<4xi32>
  }
  return
}
"""
LOWER = ("--canonicalize", "--lower-affine", "--convert-scf-to-cf", "--convert-arith-to-llvm")


def test_conversions_are_candidates_as_a_whole(mlir_opt: str, source: str) -> None:
    Path("loop.mlir").write_text(LOOP)
    argv = [mlir_opt, "loop.mlir", *LOWER]
    result = actiondbg.bisect(argv, lambda output: "cf.cond_br" not in output.read_text())
    assert result.culprit is not None and result.found
    assert (result.culprit.tag, result.culprit.name) == ("pass-execution", "convert-scf-to-cf")
    assert "convert-scf-to-cf" in result.units
    assert any("as a whole: if" in note for note in result.notes)
    assert any("ForLowering" in note for note in result.notes)
    assert result.culprit.diff is not None and "cf.cond_br" in result.culprit.diff.after
    result = actiondbg.bisect(argv, lambda output: "7 : i32" not in output.read_text())
    assert result.culprit is not None and result.culprit.name == "AddIAddConstant"


def test_a_start_that_only_conversions_make_testable(mlir_opt: str, source: str) -> None:
    """The oracle cannot judge what was not lowered."""

    def judge(output: Path) -> bool | Verdict:
        text = output.read_text()
        return "untestable" if "scf." in text or "affine." in text else "constant(7 :" not in text

    Path("loop.mlir").write_text(LOOP)
    result = actiondbg.bisect([mlir_opt, "loop.mlir", *LOWER], judge)
    assert result.culprit is not None and result.culprit.name == "AddIAddConstant"
    assert {"lower-affine", "convert-scf-to-cf"} <= set(result.held)
    assert any("must run" in note for note in result.notes)


# --- the verdicts that are none -----------------------------------------------------------


def test_an_end_that_is_not_bad(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, lambda applied: True)
    # The whole run, and once more in each of 8 random address layouts.
    assert (result.verdict, result.trials, result.culprit) == ("not-bad", 1 + 8, None)
    assert "nothing to bisect" in result.message


def test_bad_start(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, lambda applied: False)
    assert (result.verdict, result.candidates) == ("not-good-at-start", 1)
    assert "status 125" in result.message


def test_an_end_that_cannot_be_judged(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, lambda applied: "untestable")
    assert (result.verdict, result.trials) == ("untestable", 1)


def test_a_start_that_cannot_be_judged(mlir_opt: str, source: str) -> None:
    result = bisect(mlir_opt, source, lambda applied: False if applied else "untestable")
    assert result.verdict == "untestable" and "--always" in result.message
    assert result.range is not None


def test_flaky_oracle_is_reported(mlir_opt: str, source: str) -> None:
    answers: dict[int, int] = {}

    def judge(applied: list[int]) -> bool:
        answers[len(applied)] = answers.get(len(applied), 0) + 1
        return len(applied) < 20 or answers[len(applied)] % 2 == 0

    for options in ({"repeat": 2}, {}):  # at the end each end is judged once more
        answers.clear()
        result = bisect(mlir_opt, source, judge, **options)
        assert (result.verdict, result.culprit) == ("flaky", None)
        assert "judged bad" in result.message and "then good" in result.message


def test_an_oracle_that_cannot_run_is_an_error(mlir_opt: str, source: str) -> None:
    argv = [mlir_opt, source, "--canonicalize"]
    for jobs in (1, 2):
        with pytest.raises(OracleError, match="no-such-command"):
            actiondbg.bisect(argv, "no-such-command {}", jobs=jobs)
    with pytest.raises(OracleError, match="has to return a bool"):
        actiondbg.bisect(argv, lambda _: 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ZeroDivisionError):
        actiondbg.bisect(argv, lambda _: bool(1 / 0))


def test_wrong_arguments(mlir_opt: str, source: str) -> None:
    argv = [mlir_opt, source]
    for options in ({"jobs": 0}, {"repeat": 0}, {"timeout": 0}, {"mode": "last"}, {"tag": "[a"}):
        with pytest.raises(UsageError):
            actiondbg.bisect(argv, "true", **options)  # pyright: ignore[reportArgumentType]
    with pytest.raises(LaunchError):
        actiondbg.bisect(["no-such-tool", source], "true")


# --- the tool ends without an action ------------------------------------------------------


def test_tool_without_actions(mlir_opt: str, source: str) -> None:
    argv = [mlir_opt, source]
    assert actiondbg.bisect(argv, "true").verdict == "not-bad"
    assert actiondbg.bisect(argv, "false").verdict == "not-good-at-start"
    Path("bad.mlir").write_text("func.func @f( {\n")
    result = actiondbg.bisect([mlir_opt, "bad.mlir", "--cse"], "true")
    assert result.verdict == "untestable" and "error: " in result.message
