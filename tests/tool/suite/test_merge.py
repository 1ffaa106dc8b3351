"""The merge of suites: the shards of a lit suite, and suites that ran the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import COMMAND
from tests.tool.suite.conftest import ADDS, query, record, run, runs

BUILDS = ("pypi",)


def merged(*suites: str) -> list[tuple[str, int | None, str, int]]:
    """The runs of suites that are merged."""
    shutil.rmtree("merged", ignore_errors=True)
    done = run(COMMAND, "suite", "merge", "-o", "merged", *suites)
    assert done.returncode == 0, done.stderr
    return sorted(
        (one["test"] or one["command"], one["run_line"], one["ended"], one["actions"])
        for one in runs("merged")
    )


def test_shards(lit_suite: Callable[[bool], list[str]]) -> None:
    lit = lit_suite(False)
    for number in (1, 2):
        # Else lit orders by the times of the run before.
        record(*lit, "--order=lexical", "--num-shards", "2", "--run-shard", str(number))
        Path("suite").rename(f"suite-{number}")
    together = merged("suite-1", "suite-2")
    record(*lit)
    assert together == sorted(
        (one["test"], one["run_line"], one["ended"], one["actions"]) for one in runs()
    )
    names = "SELECT DISTINCT name FROM registered JOIN patterns USING (pattern_set) ORDER BY name"
    assert query(names, "merged") == query(names)
    assert merged("suite-2", "suite-1") == together


def test_the_same_command_counts_once(adds: str, mlir_opt: str) -> None:
    for number in (1, 2):
        assert record(mlir_opt, adds, "--cse", "-o", "out.mlir").returncode == 0
        Path("suite").rename(f"suite-{number}")
    assert len(merged("suite-1", "suite-2")) == 1
    assert query("SELECT part FROM runs", "merged") == [{"part": 2}]


def test_the_same_command_of_several_tests(
    lit_suite: Callable[[bool], list[str]], mlir_opt: str
) -> None:
    """The second process of each test has the command of the others."""
    lit = lit_suite(False)
    for test in Path("tests").glob("*.mlir"):
        test.unlink()
    for name in ("a.mlir", "b.mlir", "c.mlir"):
        run_line = f"// RUN: {mlir_opt} %s -cse | {mlir_opt} -canonicalize\n"
        Path("tests", name).write_text(run_line + ADDS)

    def found(folder: str) -> dict[str, list[int]]:
        parts = "SELECT test, list(part ORDER BY run) AS parts FROM runs GROUP BY test"
        return {Path(row["test"]).name: row["parts"] for row in query(parts, folder)}

    record(*lit, "--filter", "b.mlir")
    Path("suite").rename("suite-b")
    record(*lit)
    shutil.copytree("suite", "suite-all")
    merged("suite-all", "suite-b")
    expected = {"a.mlir": [1, 1], "b.mlir": [2, 2], "c.mlir": [1, 1]}
    assert found("merged") == expected
    record(*lit, "--filter", "b.mlir", options=("--resume",))
    assert found("suite") == expected


@pytest.mark.parametrize("words", [("missing",), ("suite", "merged")])
def test_what_is_no_suite(adds: str, mlir_opt: str, words: tuple[str, ...]) -> None:
    assert record(mlir_opt, adds, "--cse", "-o", "out.mlir").returncode == 0
    done = run(COMMAND, "suite", "merge", "-o", "merged", *words)
    assert (done.returncode, "is not a suite" in done.stderr) == (2, True)
    assert not Path("merged").exists()
