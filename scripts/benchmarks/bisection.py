"""A bisection against the same binary search by cold runs of the stock tool."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import actiondbg
from actiondbg.bisection.result import Result
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import additions
from scripts.benchmarks.wall_time import best_of


def _oracle(function: int) -> str:
    """Return a test that is bad once the first two additions of a function are merged."""
    return f"! sed -n '/@f{function}(/,/return/p' {{}} | grep -q 'constant 3 '"


class _Stock:
    """A manual binary search, with MLIR's debug counters."""

    def __init__(self, argv: list[str], oracle: str, output: Path, applications: int) -> None:
        self._argv = argv
        self._oracle = oracle.replace("{}", os.fspath(output))
        self._output = output
        self._applications = applications
        self.runs = 0

    def is_bad(self, count: int) -> bool:
        """Run the tool with so many pattern applications, and look at what it wrote."""
        self.runs += 1
        counter = f"--mlir-debug-counter=apply-pattern-skip=0,apply-pattern-count={count}"
        flags = ["--mlir-disable-threading", "-o", os.fspath(self._output), counter]
        subprocess.run([*self._argv, *flags], check=True)
        return subprocess.run(self._oracle, shell=True).returncode != 0

    def search(self) -> int:
        """Return the application that turns good to bad."""
        self.runs = 0
        good, bad = 0, self._applications
        if self.is_bad(good) or not self.is_bad(bad):
            raise SystemExit("the stock search has no good start and bad end")
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (good, middle) if self.is_bad(middle) else (middle, bad)
        return bad


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    functions = 60 if quick else 4500
    source = additions(directory / "additions.mlir", functions)
    argv = [os.fspath(find_tool(tool).path), os.fspath(source), "--canonicalize"]
    with actiondbg.launch(argv, stdout=os.devnull) as session:
        actions = session.run().actions or 0
        applications = sum(row.attempts for row in session.past.statistics("pattern"))
    for words, culprit in (("a third", functions // 3), ("two thirds", functions * 2 // 3)):
        stock = _Stock(argv, _oracle(culprit), directory / "stock.mlir", applications)
        about = f"bisect, {actions:,} actions, bad after {words}"
        yield from _compare(argv, culprit, stock, about, 1 if quick else 3)


def _compare(
    argv: list[str], culprit: int, stock: _Stock, about: str, rounds: int
) -> Iterator[tuple[str, str, str]]:
    """Measure one bisection in both ways; ``culprit`` is the number of the function."""
    found: list[Result] = []

    def bisect(jobs: int) -> None:
        found.append(actiondbg.bisect(argv, _oracle(culprit), jobs=jobs))

    taken = best_of(
        rounds, stock=stock.search, one=lambda: bisect(jobs=1), two=lambda: bisect(jobs=2)
    )
    for result in found:
        if result.culprit is None or result.culprit.function != f"f{culprit}":
            raise SystemExit(f"the bisection did not find it: {result}")
    yield (
        f"{about}: times ahead of {stock.runs} cold runs ({taken['stock']:.1f} s)",
        f"{taken['stock'] / taken['one']:.1f}",
        "at least 2",
    )
    yield (f"{about}, -j 2", f"{taken['stock'] / taken['two']:.1f}", "at least 3")
    candidates = found[0].candidates
    most = math.ceil(math.log2(candidates)) + 3
    yield (f"trials for {candidates:,} candidates", f"{found[0].trials}", f"{most}")
