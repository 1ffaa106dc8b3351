"""Totals of attempts, outcomes and changes, compared with what the stock tool counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import actiondbg
from actiondbg import errors
from actiondbg.protocol import Statistic
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.elements import some
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]

LOGGED = re.compile(rf"begins .* Action `apply-pattern pattern: {stock.ANONYMOUS}(\S+) \(")
TRYING = re.compile(rf'Trying to match "{stock.ANONYMOUS}([^"]*)"')


def rows(session: actiondbg.Session, kind: str | None = None) -> dict[str, Statistic]:
    """The rows at the end of a run, which is not spoilt by a stop."""
    if session.state == "not-running":
        assert session.run().when == "exit"
    found = session.past.statistics(kind)  # pyright: ignore[reportArgumentType]
    by_name = {row.name if kind else f"{row.tag} {row.name}".strip(): row for row in found}
    assert len(by_name) == len(found)
    for row in found:
        assert row.attempts == row.succeeded + row.failed + row.skipped > 0
        assert 0 <= row.unchanged <= row.succeeded
        assert row.seconds is not None and row.seconds >= 0
    return by_name


@pytest.fixture(params=["mixed", "many"])
def said(request: pytest.FixtureRequest, folds: str) -> tuple[list[str], list[str]]:
    """A command of the build with assertions, and its debug output."""
    argv = ["mlir-opt", stock.write("mixed.mlir", stock.MIXED), "--canonicalize"]
    if request.param == "many":
        many_functions(Path("many.mlir"), 12)
        argv = ["mlir-opt", "many.mlir", f"--pass-pipeline={PIPELINE}"]
    with actiondbg.launch(argv) as session:
        path = str(session.target.tool.path)
    flags = ["--debug-only=greedy-rewriter,pattern-application", "--mlir-disable-threading"]
    debug = stock.run([path, *argv[1:], *flags, "-o", "/dev/null"], check=True).stderr
    return argv, debug.splitlines()


def test_patterns_are_those_of_the_debug_output(said: tuple[list[str], list[str]]) -> None:
    argv, debug = said
    tried, succeeded = Counter[str](), Counter[str]()
    name = ""
    for line in some(debug):
        if match := TRYING.search(line):
            name = match[1]
            tried[name] += 1
        elif line.endswith("-> matchAndRewrite successful"):
            succeeded[name] += 1
    assert sum(tried.values()) > 10 and sum(succeeded.values()) > 1
    with actiondbg.launch(argv) as session:
        ours = rows(session, "pattern")
    assert {name: row.attempts for name, row in ours.items()} == tried
    assert {name: row.succeeded for name, row in ours.items() if row.succeeded} == succeeded
    assert all(row.skipped == 0 and row.unchanged == 0 for row in ours.values())


@pytest.mark.parametrize("said", ["mixed"], indirect=True)
def test_folds_are_those_of_the_debug_output(said: tuple[list[str], list[str]]) -> None:
    """Of the greedy driver alone: dialect conversion folds too, and says it elsewhere."""
    argv, debug = said
    folded = Counter[str]()
    op = ""
    for line in some(debug):
        if match := re.search(r"Processing operation : '(\S+)'", line):
            op = match[1]
        elif line.endswith("} -> success : operation was folded"):
            folded[op] += 1
    assert sum(folded.values()) > 3
    with actiondbg.launch(argv) as session:
        ours = rows(session, "fold")
    assert {name: row.succeeded for name, row in ours.items() if row.succeeded} == folded
    assert "arith.constant" not in ours


def test_attempts_are_those_that_the_log_of_actions_has(launch: Launch) -> None:
    """In both builds; upstream's log tells of no outcome."""
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    flags = ["--log-actions-to=log.txt", "--mlir-disable-threading"]
    stock.run([*session.target.argv, *flags], check=True)
    log = Path("log.txt").read_text().splitlines()
    attempts = Counter(match[1] for line in log if (match := LOGGED.search(line)))
    iterations = sum("begins" in line and "GreedyPatternRewriteIteration" in line for line in log)
    passes = sum("begins" in line and "`pass-execution`" in line for line in log)
    ours = rows(session)
    patterns = {row.name: row.attempts for row in ours.values() if row.tag == "apply-pattern"}
    assert patterns == attempts
    assert ours["GreedyPatternRewriteIteration"].attempts == iterations
    assert sum(r.attempts for r in ours.values() if r.tag == "pass-execution") == passes


def test_passes_that_change_nothing(launch: Launch) -> None:
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    flags = ["--mlir-print-ir-after-all", "--mlir-disable-threading"]
    dumped = re.compile(r"IR Dump After \w+ \(([\w-]+)\)")
    every = Counter(dumped.findall(stock.run([*session.target.argv, *flags], check=True).stderr))
    flags.append("--mlir-print-ir-after-change")
    changed = Counter(dumped.findall(stock.run([*session.target.argv, *flags], check=True).stderr))
    ours = {name: row for name, row in rows(session, "pass").items() if name in every}
    assert {name: row.attempts for name, row in ours.items()} == every
    changing = {name: row.succeeded - row.unchanged for name, row in ours.items()}
    assert {name: n for name, n in changing.items() if n} == changed


def test_totals_are_those_of_the_stops(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    stop = session.start()
    seen: Counter[tuple[str, str]] = Counter()
    changes: Counter[str] = Counter()
    while stop.when != "exit":
        if stop.outcome is not None and stop.tag in ("apply-pattern", "fold"):
            seen[stop.name, stop.outcome.result] += 1
            changes[stop.name] += stop.change_count
        stop = session.step()
    ours = rows(session, "pattern") | rows(session, "fold")
    for name, row in ours.items():
        assert row.failed == seen[name, "failed"]
        assert row.unchanged == seen[name, "unchanged"]
        assert row.succeeded - row.unchanged == seen[name, "succeeded"]
        if row.tag != "fold":
            assert row.changes == changes[name]
    assert {name for name, _ in seen} == set(ours)


def test_skips_and_failures_are_counted(launch: Launch) -> None:
    session = launch("--canonicalize=test-convergence=true max-iterations=1")
    session.breakpoints.add("pattern:AddIAddConstant", "line == 14")
    session.run()
    before = session.past.statistics("pattern")
    skips = 0
    while session.skip().when != "exit":
        skips += 1
    ours = rows(session)
    assert ours["apply-pattern AddIAddConstant"].skipped == skips + 1
    assert ours["pass-execution canonicalize"].failed == 1
    then = {row.name: row.attempts for row in before}
    assert all(ours[f"apply-pattern {name}"].attempts >= n for name, n in some(then.items()))


def test_statistics_are_of_this_run(launch: Launch) -> None:
    session = launch()
    with pytest.raises(errors.NotStopped):
        session.past.statistics()
    session.start()
    assert session.past.statistics() == []
    session.next()
    [first] = [row.attempts for row in session.past.statistics("pass")]
    session.run()
    assert [row.attempts for row in session.past.statistics("pass")] == [first] == [1]


def test_count_is_that_of_the_printed_module(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("pattern:AddIAddConstant")
    for _ in some(stock.each(session)):
        now = stock.operations(stock.module(session))
        assert session.ir.count("*") == sum(now.values())
        assert session.ir.count("arith.*") == sum(n for op, n in now.items() if "arith." in op)
        assert session.ir.count("scf.if") == now["scf.if"]
        assert session.ir.count("func.return", function=True) == 1
        assert session.ir.count("func.return") == now["func.return"] == 3
        assert session.ir.count("no.such") == 0


def test_counts_are_the_same_live_and_by_a_replay(launch: Launch) -> None:
    """A run that counts as it goes, and one that was never asked to."""
    found: list[list[Statistic]] = []
    for counting in (True, False):
        session = launch("--canonicalize", "--cse")
        session.options.count_actions = counting
        session.breakpoints.add("pass:cse", after=True)
        session.run()
        rows = [msgspec.structs.replace(row, seconds=0.0) for row in session.past.statistics()]
        found.append(sorted(rows, key=lambda row: (row.tag, row.name)))
        assert session.stop is not None
        assert session.status().ordinal == session.stop.ordinal  # it stands where it stood
    assert found[0] == found[1]
    assert sum(row.attempts for row in found[0]) == session.status().ordinal
