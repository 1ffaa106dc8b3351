"""The agent in IREE's, upstream's, Triton's and JAX's compilers, beside them alone."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import actiondbg
from actiondbg.recording.capture.recorder import record
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions
from scripts.benchmarks.wall_time import beside, seconds
from tests.paths import INPUTS
from tests.tool.targets.targets import TARGETS

Row = tuple[str, str, str]

# iree-opt has few of upstream's passes.
_IREE_PIPELINE = (
    "builtin.module(canonicalize,cse,convert-scf-to-cf,expand-strided-metadata,"
    "fold-memref-alias-ops,loop-invariant-code-motion,canonicalize,cse,"
    "iree-util-optimize-int-arithmetic,canonicalize)"
)
_STEPS = 2000


def _attached(argv: list[str], env: Mapping[str, str], counts: bool = False) -> int:
    """Run to the end of all processes with the agent; return how many actions there were."""
    with actiondbg.launch(argv, env=env) as session:
        session.options.count_actions = counts
        stop = session.run()
        actions = stop.actions or 0
        while stop.status is None:
            stop = session.continue_()
            actions += stop.actions or 0
        if stop.status:
            raise SystemExit(f"the run did not end well: {stop}\n{session.target.errors()[:400]}")
        return actions


def _ratios(
    argv: list[str], env: Mapping[str, str], directory: Path, rounds: int
) -> dict[str, float]:
    """Return the wall time of a program alone, counted, with outcomes and recorded."""
    null = subprocess.DEVNULL
    return beside(
        rounds,
        bare=lambda: subprocess.run(argv, check=True, env=env, stdout=null, stderr=null),
        counted=lambda: _attached(argv, env),
        outcomes=lambda: _attached(argv, env, counts=True),
        recorded=lambda: record(argv, directory / "run.adbrec", env=env, stdout=null, stderr=null),
    )


def _tool(name: str, argv: list[str], directory: Path, quick: bool) -> Iterator[Row]:
    actions = _attached(argv, os.environ)
    taken = _ratios(argv, os.environ, directory, 1 if quick else 7)
    alone = taken["bare"]
    yield (
        f"agent in {name}: {actions:,} actions, wall against {alone:.2f} s without it",
        f"{taken['counted'] / alone:.2f}",
        "1.05",
    )
    outcomes, recorded = (taken[one] / alone for one in ("outcomes", "recorded"))
    yield (f"the same in {name}, outcomes and changes counted", f"{outcomes:.2f}", "1.10")
    yield (f"the same in {name}, recorded", f"{recorded:.2f}", "1.15")


def _steps(argv: list[str], quick: bool) -> Iterator[Row]:
    with actiondbg.launch(argv) as session:
        session.start()
        count = 100 if quick else _STEPS
        step = statistics.median(seconds(session.step) for _ in range(count))
    yield ("step there and back in iree-opt, median, ms", f"{step * 1000:.3f}", "0.3")


def _triton(directory: Path, quick: bool) -> Iterator[Row]:
    target = TARGETS["triton"]
    program = INPUTS / "tools" / "triton" / "kernels.py"
    argv = [str(target.programs["python"]), str(program), "matmul"]
    env = {**target.env(), "TRITON_CACHE_DIR": str(directory / "cache")}
    with contextlib.chdir(directory):
        actions = _attached(argv, env)
        taken = _ratios(argv, env, directory, 3 if quick else 15)
    alone = taken["bare"]
    what = (
        f"a Triton program that compiles a matmul, {actions:,} actions, wall against {alone:.2f} s"
    )
    yield (f"{what} alone", f"{taken['counted'] / alone:.2f}", "1.25")
    outcomes, recorded = (taken[one] / alone for one in ("outcomes", "recorded"))
    yield ("the same with Triton, outcomes and changes counted", f"{outcomes:.2f}", "1.25")
    yield ("the same with Triton, recorded", f"{recorded:.2f}", "1.25")


def _jax(directory: Path, quick: bool) -> Iterator[Row]:
    """The time that the agent needs for a library in whose symbols nothing was looked up yet."""
    target = TARGETS["jax"]
    program = INPUTS / "tools" / "jax" / "functions.py"
    argv = [str(target.programs["python"]), str(program), "slope"]
    env = {**target.env(), "XLA_FLAGS": ""}

    def cold() -> None:
        for path in cache_directory().rglob("symbols-*"):
            path.unlink()
        _attached(argv, env)

    _attached(argv, env)
    null = subprocess.DEVNULL
    with contextlib.chdir(directory):
        taken = beside(
            2 if quick else 9,
            bare=lambda: subprocess.run(argv, check=True, env=env, stdout=null, stderr=null),
            warm=lambda: _attached(argv, env),
            cold=cold,
        )
    yield (
        f"attach to jaxlib, its symbols not looked up before: added to a run of "
        f"{taken['bare']:.2f} s, s",
        f"{taken['cold'] - taken['bare']:.2f}",
        "0.5",
    )
    yield (
        "the same with the symbols of a run before, s",
        f"{taken['warm'] - taken['bare']:.2f}",
        "",
    )


def measure(tool: str, directory: Path, quick: bool) -> Iterator[Row]:
    """Yield the rows: name, figure, bar; compilers that are not installed are left out."""
    source = many_functions(directory / "any.mlir", 100 if quick else 2000)
    flags = [str(source), "--mlir-disable-threading", "-o", "/dev/null"]
    upstream = [str(find_tool(tool).path), *flags, f"--pass-pipeline={PIPELINE}"]
    yield from _tool("mlir-opt", upstream, directory, quick)
    iree = TARGETS["iree"]
    if iree.missing is None:
        argv = [str(iree.programs["iree-opt"]), *flags, f"--pass-pipeline={_IREE_PIPELINE}"]
        yield from _tool("iree-opt", argv, directory, quick)
        yield from _steps(argv, quick)
    if TARGETS["triton"].missing is None:
        yield from _triton(directory, quick)
    if TARGETS["jax"].missing is None:
        yield from _jax(directory, quick)
