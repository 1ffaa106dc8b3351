"""The overhead of the agent, with and without breakpoints, also for ten times the input."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import actiondbg
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions
from scripts.benchmarks.wall_time import best_of

# One of each kind and then with conditions; none of them ever matches.
BREAKPOINTS: list[tuple[str, str | None]] = [
    ("tag:no-such-tag", None),
    ("pattern:NoSuch*", None),
    ("pass:no-such-pass", None),
    ("fold:no.such.*", None),
    ("op:no.such.*", None),
    ("func:no_such*", None),
    ("nosuch.mlir:3", None),
    ("many.mlir:99999999:1", None),
    ("#999999999", None),
    ("NoSuchName", None),
    ("tag:fold and op:arith.* and func:no_such", None),
    ("many.mlir:99999998-99999999 and tag:fold", None),
    ("tag:apply-pattern", "ordinal < 0"),
    ("tag:apply-pattern", "name ~ 'NoSuch*'"),
    ("tag:fold", "depth > 100"),
    ("tag:fold", "op == 'no.such'"),
    ("pass:*", "iteration > 1000"),
    ("op:arith.*", "file == 'nosuch.mlir' and line > 3"),
    ("op:memref.*", "func ~ 'no_such*'"),
    ("tag:*", "hits > 999999999"),
]


def attached(argv: list[str], breakpoints: list[tuple[str, str | None]]) -> int:
    """Run to the end with the agent in it; return how many actions there were."""
    with actiondbg.launch(argv) as session:
        for spec, condition in breakpoints:
            session.breakpoints.add(spec, condition)
        stop = session.run()
        if stop.when != "exit" or stop.status:
            raise SystemExit(f"the run did not end well: {stop}\n{session.target.errors()[:400]}")
        return stop.actions or 0


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    many = many_functions(directory / "many.mlir", 100 if quick else 2000)
    few = many_functions(directory / "few.mlir", 10 if quick else 200)
    path = str(find_tool(tool).path)

    def argv(source: Path) -> list[str]:
        flags = [f"--pass-pipeline={PIPELINE}", "-o", "/dev/null", "--mlir-disable-threading"]
        return [path, str(source), *flags]

    actions = attached(argv(many), [])
    taken = best_of(
        2 if quick else 7,
        bare=lambda: subprocess.run(argv(many), check=True),
        nothing=lambda: attached(argv(many), []),
        twenty=lambda: attached(argv(many), BREAKPOINTS),
    )
    yield (
        f"attached, nothing set: {actions:,} actions, wall against the bare tool's "
        f"{taken['bare']:.2f} s",
        f"{taken['nothing'] / taken['bare']:.2f}",
        "1.05",
    )
    yield ("20 breakpoints that never match", f"{taken['twenty'] / taken['bare']:.2f}", "1.15")
    small = best_of(
        3,
        bare=lambda: subprocess.run(argv(few), check=True),
        twenty=lambda: attached(argv(few), BREAKPOINTS),
    )
    yield (
        "ten times the input, the same breakpoints: times the wall (the tool alone: "
        f"{taken['bare'] / small['bare']:.1f})",
        f"{taken['twenty'] / small['twenty']:.1f}",
        "11",
    )
