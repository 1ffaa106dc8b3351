"""The cost of record, log and trace, compared with the tool alone and its own options."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions, one_function
from scripts.benchmarks.memory import peak_of_run
from scripts.benchmarks.wall_time import beside, best_of, seconds

Row = tuple[str, str, str]

_FUNCTIONS = 1105  # about 300,000 actions when they are lowered
_QUERIES = {
    "name": "SELECT name, count(*), sum(duration_ns) FROM actions GROUP BY name",
    "function, with self times": "SELECT function, sum(self_ns) FROM actions GROUP BY function",
    "op, with changes": "SELECT op, sum(inserted), sum(erased) FROM actions GROUP BY op",
}
# Nothing but patterns and folds, and a pass that makes its patterns for each function: twice as
# many actions a second.
_DENSE = (
    "builtin.module(func.func(canonicalize,sccp,int-range-optimizations,canonicalize),"
    "convert-scf-to-cf,convert-to-llvm)"
)
_PER_FUNCTION = "builtin.module(func.func(canonicalize,cse,convert-scf-to-cf,canonicalize,cse))"


ACTIONDBG = str(Path(sys.executable).with_name("actiondbg"))


def command(*words: str) -> None:
    """Run a command of actiondbg; what it prints goes nowhere."""
    subprocess.run(
        [ACTIONDBG, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _run(argv: list[str]) -> None:
    subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)


def _lowering(tool: str, source: Path, pipeline: str = PIPELINE) -> list[str]:
    flags = [f"--pass-pipeline={pipeline}", "-o", "/dev/null", "--mlir-disable-threading"]
    return [tool, str(source), *flags]


def measure(tool: str, directory: Path, quick: bool) -> Iterator[Row]:
    """Yield the rows: name, figure, bar."""
    path = str(find_tool(tool).path)
    count = 100 if quick else _FUNCTIONS
    many = many_functions(directory / "recorded.mlir", count)
    yield from _beside_stock(_lowering(path, many), directory, 1 if quick else 9)
    yield from _dense(_lowering(path, many, _DENSE), directory, 1 if quick else 9)
    more = many_functions(directory / "more.mlir", 10 * count)
    yield from _long(_lowering(path, more), directory, 1 if quick else 3)
    yield from _one_function(path, directory, quick)
    yield from _threads(path, many, directory, quick)


def _times(argv: list[str], directory: Path) -> dict[str, Callable[[], object]]:
    run, log, trace = (str(directory / name) for name in ("run.adbrec", "run.log", "run.json"))
    return {
        "bare": lambda: _run(argv),
        "record": lambda: record(argv, run),
        "command": lambda: command("record", "-o", run, "--", *argv),
        "log": lambda: command("log", "-o", log, "--", *argv),
        "trace": lambda: command("trace", "-o", trace, "--", *argv),
    }


def _rows(taken: dict[str, float], what: str) -> Iterator[Row]:
    bare = taken["bare"]
    yield (f"record, {what}: wall against the bare tool's", f"{taken['record'] / bare:.2f}", "1.10")
    yield ("the same: the whole command", f"{taken['command'] / bare:.2f}", "")
    yield (f"log to a file, {what}: the whole command", f"{taken['log'] / bare:.2f}", "1.3")
    yield (f"trace, {what}: the whole command", f"{taken['trace'] / bare:.2f}", "")


def _beside_stock(argv: list[str], directory: Path, rounds: int) -> Iterator[Row]:
    stock = str(directory / "stock")
    taken = beside(
        rounds,
        **_times(argv, directory),
        stock_log=lambda: _run([*argv, f"--log-actions-to={stock}"]),
        stock_profile=lambda: _run([*argv, f"--profile-actions-to={stock}"]),
    )
    recording = directory / "run.adbrec"
    actions = open_recording(recording).count
    bare = taken["bare"]
    yield from _rows(taken, f"{actions:,} actions in {bare:.2f} s")
    yield (
        f"the stock --log-actions-to: {taken['stock_log'] / bare:.1f} of bare; times ahead of it",
        f"{taken['stock_log'] / taken['log']:.1f}",
        "at least 2",
    )
    ours = max(taken["log"] / bare - 1, 0.01)  # in the noise it may be nothing
    adds = (taken["stock_log"] / bare - 1) / ours
    yield ("what it adds to the run against what ours adds, times", f"{adds:.0f}", "")
    yield ("the stock --profile-actions-to, of bare", f"{taken['stock_profile'] / bare:.1f}", "")
    size = recording.stat().st_size
    yield ("the recording, bytes an action", f"{size / actions:.1f}", "40")


def _dense(argv: list[str], directory: Path, rounds: int) -> Iterator[Row]:
    run = str(directory / "dense.adbrec")
    taken = beside(rounds, bare=lambda: _run(argv), record=lambda: record(argv, run))
    what = f"{open_recording(run).count:,} actions of patterns and folds in {taken['bare']:.2f} s"
    yield (f"record, {what}", f"{taken['record'] / taken['bare']:.2f}", "1.10")


def _long(argv: list[str], directory: Path, rounds: int) -> Iterator[Row]:
    taken = beside(rounds, **_times(argv, directory))
    recording = directory / "run.adbrec"
    actions = open_recording(recording).count
    yield from _rows(taken, f"{actions:,} actions in {taken['bare']:.1f} s")
    held = peak_of_run([ACTIONDBG, "record", "-o", str(directory / "held.adbrec"), "--", *argv])
    yield ("record, the tool's memory, MB over bare", f"{held - peak_of_run(argv):.0f}", "64")
    for what, query in _QUERIES.items():
        wall = best_of(3, query=partial(command, "query", str(recording), query))["query"]
        yield (
            f"query over {actions:,} actions by {what}, the whole command, s",
            f"{wall:.2f}",
            "1",
        )
    page = directory / "report.html"
    wall = seconds(lambda: command("report", str(recording), "-o", str(page)))
    yield (f"report of it, made in {wall:.1f} s, MB", f"{page.stat().st_size / 1e6:.1f}", "5")


def _one_function(path: str, directory: Path, quick: bool) -> Iterator[Row]:
    operations = 1000 if quick else 8000
    source = one_function(directory / "one.mlir", operations)
    once = [path, str(source), "--canonicalize", "-o", "/dev/null", "--mlir-disable-threading"]
    # A start of Python takes as long as one canonicalize does.
    often = [*once, *["--canonicalize"] * 19]
    run, log = str(directory / "one.adbrec"), str(directory / "one.log")
    taken = beside(
        1 if quick else 9,
        bare=lambda: _run(often),
        once=lambda: _run(once),
        record=lambda: record(often, run),
        log=lambda: command("log", "-o", log, "--", *often),
    )
    theirs = seconds(lambda: _run([*once, f"--log-actions-to={directory / 'stock'}"]))
    what = f"one function of {operations:,} operations, 20 times, bare {taken['bare']:.2f} s"
    yield (f"{what}: record", f"{taken['record'] / taken['bare']:.2f}", "1.5")
    yield (
        f"the same: log to a file, the whole command (the stock log of one time: "
        f"{theirs / taken['once']:.0f})",
        f"{taken['log'] / taken['bare']:.2f}",
        "1.5",
    )


def _threads(path: str, source: Path, directory: Path, quick: bool) -> Iterator[Row]:
    argv = [path, str(source), f"--pass-pipeline={_PER_FUNCTION}", "-o", "/dev/null"]
    run = str(directory / "threads.adbrec")
    one = [*argv, "--mlir-disable-threading"]
    taken = best_of(
        1 if quick else 7,
        bare=lambda: _run(argv),
        bare_one=lambda: _run(one),
        record=lambda: record(argv, run),
        record_one=lambda: record(one, run),
    )
    bare, ours = taken["bare_one"] / taken["bare"], taken["record_one"] / taken["record"]
    threads = min(2, os.cpu_count() or 1)
    yield (
        f"record with {threads} threads keeps of bare's speed-up {bare:.2f}",
        f"{ours / bare:.2f}",
        "at least 0.9",
    )
