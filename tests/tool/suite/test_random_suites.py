"""Random lit suites, whose processes are known beforehand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.random_lit_suite import PlantedRun, write_random_suite
from tests.tool.suite.conftest import TESTS, query, record, run

BUILDS = ("pypi",)


@pytest.mark.parametrize(("seed", "external"), [(1, False), (2, True), (3, False)])
def test_each_process_is_listed_with_its_test_and_line(
    lit_suite: Callable[[bool], list[str]], seed: int, external: bool
) -> None:
    lit = lit_suite(external)
    for name in TESTS:
        (Path("tests") / name).unlink()
    planted = write_random_suite(Path("tests"), seed, 12)
    bare = run(*lit)
    assert re.findall(r"^FAIL.*", bare.stdout, re.M) == [], bare.stdout
    assert record(*lit).returncode == 0
    rows = query(
        """SELECT test, run_line, status, coalesce(sum(times), 0)::INT AS passes
        FROM runs LEFT JOIN attempts ON runs.run = attempts.run AND tag = 'pass-execution'
        WHERE recording IS NOT NULL AND tool = 'mlir-opt'
        GROUP BY runs.run, test, run_line, status"""
    )
    found = [
        PlantedRun(Path(row["test"] or "").name, row["run_line"], row["status"], row["passes"])
        for row in rows
    ]
    assert Counter(found) == Counter(planted)
