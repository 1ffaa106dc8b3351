"""The text of wrong kernels with their culprits."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.commands.render.kernels.culprits import (
    culprit_lines,
    row_line,
    triage_object,
    triage_text,
)
from actiondbg.kernels.bisection.dispatch_bisection import (
    BisectedKernel,
    KernelCulprit,
    can_be_bisected,
    triage,
)
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.results.entry import Row, Verdict, Verification

PASS = KernelCulprit(
    "found",
    "#5 pass-execution (affine-scalrep) turns good to bad.",
    "pass-execution",
    "affine-scalrep",
    "affine-scalrep",
    "builtin.module(func.func(affine-scalrep))",
    folder=Path("bisection"),
    trials=7,
    seconds=2.34,
)
UNDECIDED = KernelCulprit("untestable", "No run without it can be judged.")


def dispatch(size: int) -> Dispatch:
    """Return a dispatch with a pipeline."""
    configuration = Configuration("mlir", "mlir_p", {"pipeline": "func.func(affine-scalrep)"})
    return Dispatch(Matmul(size, 8, 8), configuration)


def row(size: int, verdict: Verdict, wrong: int = 0, detail: str = "") -> Row:
    """Return a verified row."""
    verification = Verification(verdict, wrong=wrong, total=64, detail=detail)
    return Row(dispatch(size), verification=verification)


def test_a_row_has_its_verdict_and_what_is_wrong() -> None:
    name = "matmul_8x8x8_f32t_f32t_f32t_mlir_p"
    assert row_line(row(8, "FAILED", 3)) == f"{name}: FAILED, 3 of 64 elements are wrong"
    pattern = row_line(row(8, "FAILED", 3, "Rows 1 to 3 are wrong."))
    assert pattern == f"{name}: FAILED, 3 of 64 elements are wrong. Rows 1 to 3 are wrong."
    assert row_line(row(8, "CRASHED", detail="SIGSEGV")) == f"{name}: CRASHED, SIGSEGV"
    assert row_line(row(8, "SUCCESS", detail="equal")) == f"{name}: SUCCESS"


def test_a_culprit_has_its_pass_and_its_report() -> None:
    assert culprit_lines(BisectedKernel(dispatch(8), "FAILED", PASS)) == [
        "  Culprit: #5 pass-execution (affine-scalrep) turns good to bad.",
        "  Pass: builtin.module(func.func(affine-scalrep))",
        "  7 trials, 2.3 s.",
        "  Report: bisection/report.md",
    ]
    assert culprit_lines(BisectedKernel(dispatch(8), "FAILED", UNDECIDED)) == [
        "  Undecided (untestable): No run without it can be judged."
    ]


def test_triage_has_a_paragraph_for_each_culprit() -> None:
    rows = [row(size, "FAILED", 3) for size in (16, 8, 4)] + [row(32, "SUCCESS")]
    kernels = [
        BisectedKernel(dispatch(16), "FAILED", PASS),
        BisectedKernel(dispatch(8), "FAILED", PASS),
        BisectedKernel(dispatch(4), "FAILED", UNDECIDED),
    ]
    assert triage_text(rows, triage(kernels)).splitlines() == [
        "4 kernels: 3 wrong, 2 of 3 bisected to 1 culprit.",
        "1. pass affine-scalrep: wrong results, 2 kernels",
        "   smallest: matmul_8x8x8_f32t_f32t_f32t_mlir_p",
        "   pipeline: func.func(affine-scalrep)",
        "   pass: affine-scalrep",
        "   report: bisection/report.md",
        "   also: matmul_16x8x8_f32t_f32t_f32t_mlir_p: affine-scalrep",
        "2. undecided: wrong results, 1 kernel",
        "   smallest: matmul_4x8x8_f32t_f32t_f32t_mlir_p",
        "   pipeline: func.func(affine-scalrep)",
        "   No run without it can be judged.",
    ]


def test_nothing_wrong_is_one_line() -> None:
    assert triage_text([row(8, "SUCCESS")], []) == "1 kernel: 0 wrong."


def test_json_lists_kernels_and_culprits() -> None:
    found = triage_object(
        [row(8, "FAILED", 3)], triage([BisectedKernel(dispatch(8), "FAILED", PASS)])
    )
    assert found["culprits"] == [
        {
            "title": "pass affine-scalrep: wrong results",
            "verdict": "found",
            "tag": "pass-execution",
            "name": "affine-scalrep",
            "pass": "affine-scalrep",
            "pipeline": "builtin.module(func.func(affine-scalrep))",
            "example": "matmul_8x8x8_f32t_f32t_f32t_mlir_p",
            "report": "bisection",
            "message": PASS.sentence,
            "kernels": ["matmul_8x8x8_f32t_f32t_f32t_mlir_p"],
        }
    ]


@pytest.mark.parametrize(
    ("verdict", "detail", "expected"),
    [
        ("FAILED", "", True),
        ("CRASHED", "SIGSEGV", True),
        ("TIMED OUT", "", True),
        ("SUCCESS", "", False),
        ("Not verified", "", False),
        ("NOT COMPILED", "mlir-opt failed with exit status 1.", False),
        ("NOT COMPILED", "mlir-opt was killed by signal 6.", True),
        ("NOT COMPILED", "mlir-opt failed with exit status 1: a.mlir:7:11: error: no.", True),
    ],
)
def test_wrong_kernels_and_faults_of_the_compiler_can_be_bisected(
    verdict: Verdict, detail: str, expected: bool
) -> None:
    assert can_be_bisected(row(8, verdict, detail=detail)) is expected
