"""The cost of outcomes and changes of all actions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import actiondbg
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions, one_function
from scripts.benchmarks.memory import peak_of_run, resident_peak
from scripts.benchmarks.wall_time import best_of


def _counted(argv: list[str]) -> int:
    """Run to the end with all actions counted; return their number."""
    with actiondbg.launch(argv) as session:
        session.options.count_actions = True
        stop = session.run()
        if stop.when != "exit" or stop.status:
            raise SystemExit(f"the run did not end well: {stop}\n{session.target.errors()[:400]}")
        return stop.actions or 0


def _filtered(argv: list[str]) -> None:
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pattern:NoSuch*", outcome="changed")
        stop = session.run()
        if stop.when != "exit" or stop.status:
            raise SystemExit(f"the run did not end well: {stop}")


def _added(argv: list[str], spec: str) -> tuple[float, int]:
    """Return the MB that the agent adds at the peak before an action, and the operations then."""
    with actiondbg.launch(argv) as session:
        session.breakpoints.add(spec)
        session.run()
        assert session.target.pid is not None
        return resident_peak(session.target.pid), session.ir.count("*")


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    source = many_functions(directory / "outcomes.mlir", 100 if quick else 2000)
    path = str(find_tool(tool).path)
    flags = [f"--pass-pipeline={PIPELINE}", "-o", "/dev/null", "--mlir-disable-threading"]
    argv = [path, str(source), *flags]
    actions = _counted(argv)
    taken = best_of(
        2 if quick else 7,
        bare=lambda: subprocess.run(argv, check=True),
        counted=lambda: _counted(argv),
        filtered=lambda: _filtered(argv),
    )
    yield (
        f"outcome and changes of {actions:,} actions counted, wall against the bare tool's "
        f"{taken['bare']:.2f} s",
        f"{taken['counted'] / taken['bare']:.2f}",
        "1.10",
    )
    yield (
        "break --outcome changed that never matches",
        f"{taken['filtered'] / taken['bare']:.2f}",
        "1.15",
    )
    large = one_function(directory / "live.mlir", 20_000 if quick else 400_000)
    # It fails at once, so that the tool does not print: that takes more than all the rest.
    fails = ["--transform-interpreter", "--mlir-print-op-on-diagnostic=false"]
    parse = [path, str(large), *fails, "--mlir-disable-threading"]
    peak, live = _added(parse, "pass:transform-interpreter")
    bare = peak_of_run(parse, fails=True)
    yield (
        f"memory added to the tool, bytes for each of {live:,} live operations",
        f"{max(0.0, (peak - bare) * 1e6 / live):.0f}",
        "48",
    )
