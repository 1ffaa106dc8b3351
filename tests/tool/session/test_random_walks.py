"""A run that went to and fro at random ends as one that nobody disturbed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.process.stop import Stop
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.fakes import stock_tool as stock
from tests.fakes.random_walk import RandomWalk
from tests.paths import ROOT

MOVES = 30
CONVERGES = "canonicalize{test-convergence=true max-iterations=1}"
LOWER = f"--pass-pipeline={PIPELINE}"
PRINTS = ("--mlir-print-ir-after-all", "--mlir-pass-statistics")
CASES = {
    "fold": ("fold.mlir", "--canonicalize", "--cse"),
    "stderr": ("folds.mlir", "--canonicalize", "--cse", *PRINTS),
    "lowering": ("many.mlir", LOWER),
    "lowering into a file": ("many.mlir", LOWER, "-o", "out.mlir"),
    "all of them": ("many.mlir", "--canonicalize", *PRINTS, "--cse", "-o", "out.mlir"),
    "passes": ("mixed.mlir", stock.PASSES, "--mlir-print-ir-before-all"),
    "fails": ("folds.mlir", f"--pass-pipeline=builtin.module(cse,{CONVERGES})", "-o", "out.mlir"),
}


@pytest.fixture(autouse=True)
def _inputs(folds: str) -> None:
    shutil.copy(ROOT / "examples/fold.mlir", ".")
    stock.write("mixed.mlir", stock.MIXED)
    many_functions(Path("many.mlir"), 3)


def outcome(run: subprocess.CompletedProcess[str]) -> tuple[object, ...]:
    return run.stdout, run.stderr, run.returncode, written()


def written() -> str | None:
    file = Path("out.mlir")
    text = file.read_text() if file.exists() else None
    file.unlink(missing_ok=True)
    return text


def random_walk(argv: list[str], seed: int) -> tuple[tuple[object, ...], RandomWalk]:
    """Walk; return what the tool wrote, and its status."""
    with actiondbg.launch(argv) as session:
        actions = session.run().actions
        assert actions is not None
        session.timeline.checkpoints.spacing = seed % 3  # none, and as often as can be
        session.breakpoints.add("pattern:*Constant*")
        session.breakpoints.add("pass:cse", after=True)
        session.breakpoints.add("tag:pass-execution", outcome="unchanged")
        walk = RandomWalk(session, seed, actions)
        end: Stop = walk.walk(MOVES)
        text = session.target.output(), session.target.errors()
    return (*text, end.status, written()), walk


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("case", CASES)
def test_walk_ends_as_the_plain_tool(mlir_opt: str, case: str, seed: int) -> None:
    # Threads print in any order.
    argv = [mlir_opt, *CASES[case], "--mlir-disable-threading"]
    alone = outcome(stock.run(argv))
    ours, walk = random_walk(argv, seed)
    assert ours == alone, f"{case}, {seed}: {walk.way}"
    backwards = [move for move in walk.way if move.startswith(("reverse", "goto", "restart"))]
    assert len(backwards) > MOVES // 4


def test_remarks_are_printed_once(debian: Callable[[str], str]) -> None:
    flags = "--pass-pipeline=builtin.module(func.func(test-interface-pass),cse,canonicalize)"
    argv = [debian("mlir-opt"), "folds.mlir", flags, "--mlir-disable-threading"]
    alone = outcome(stock.run(argv))
    assert "remark" in str(alone[1])
    for seed in range(1, 5):
        assert random_walk(argv, seed)[0] == alone


def test_a_compiler_writes_the_same_file(debian: Callable[[str], str]) -> None:
    stock.write("s.f90", FORTRAN)
    argv = [debian("flang-22"), "-O1", "-S", "-emit-llvm", "s.f90", "-o", "out.mlir"]
    alone = outcome(stock.run(argv))
    for seed in range(1, 3):
        assert random_walk(argv, seed)[0] == alone


FORTRAN = """\
subroutine scale(a, n)
  integer :: n
  real :: a(n)
  a = a * 2.0 + 1.0
  print *, sum(a)
end subroutine
"""


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("case", ["stderr", "passes", "all of them"])
def test_walk_with_skips_equals_a_run_with_these_skips(mlir_opt: str, case: str, seed: int) -> None:
    argv = [mlir_opt, *CASES[case], "--mlir-disable-threading"]
    with actiondbg.launch(argv) as session:
        actions = session.run().actions
        assert actions is not None
        session.timeline.checkpoints.spacing = seed % 3
        session.breakpoints.add("pattern:*Constant*")
        session.breakpoints.add("tag:pass-execution")
        walk = RandomWalk(session, seed, actions, answers=True)
        end = walk.walk(MOVES)
        ours = session.target.output(), session.target.errors(), end.status, written()
        session.skips.save("my.skips")
    assert any(move.startswith("skip") for move in walk.way)
    with actiondbg.launch(argv, skips="my.skips") as session:
        end = session.run()
        straight = session.target.output(), session.target.errors(), end.status, written()
    assert ours == straight, walk.way
