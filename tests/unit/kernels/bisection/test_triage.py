"""Triage: one group for each distinct culprit."""

from __future__ import annotations

from typing import Literal

from actiondbg.kernels.bisection.dispatch_bisection import BisectedKernel, KernelCulprit, triage
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.results.entry import Verdict


def wrong(
    size: int, pipeline: str, culprit: KernelCulprit, verdict: Verdict = "FAILED"
) -> BisectedKernel:
    """Return a wrong kernel."""
    configuration = Configuration("mlir", f"mlir_{size}", {"pipeline": pipeline})
    return BisectedKernel(Dispatch(Matmul(size, 8, 8), configuration), verdict, culprit)


def by_pass(name: str) -> KernelCulprit:
    """Return a culprit that is a pass."""
    return KernelCulprit("found", "a sentence", "pass-execution", name, name)


def by_pattern(name: str, around: str) -> KernelCulprit:
    """Return a culprit that is a pattern in a pass."""
    return KernelCulprit("found", "a sentence", "apply-pattern", name, around)


def undecided(verdict: Literal["untestable", "flaky"]) -> KernelCulprit:
    """Return the result of a bisection that found nothing."""
    return KernelCulprit(verdict, "a sentence")


def test_each_culprit_has_one_group_with_the_smallest_kernel_as_its_example() -> None:
    kernels = [
        wrong(64, "a", by_pass("affine-scalrep")),
        wrong(8, "a,b", by_pass("affine-scalrep")),
        wrong(8, "a", by_pass("affine-scalrep")),
        wrong(8, "a", by_pass("affine-loop-fusion")),
    ]
    groups = triage(kernels)
    titles = [(group.title, len(group.kernels)) for group in groups]
    assert titles == [
        ("pass affine-scalrep: wrong results", 3),
        ("pass affine-loop-fusion: wrong results", 1),
    ]
    assert groups[0].example == kernels[2]


def test_a_pattern_is_told_apart_by_its_pass() -> None:
    kernels = [
        wrong(8, "a", by_pattern("FoldX", "canonicalize")),
        wrong(8, "b", by_pattern("FoldX", "convert-vector-to-scf")),
    ]
    assert [group.title for group in triage(kernels)] == [
        "pattern FoldX in canonicalize: wrong results",
        "pattern FoldX in convert-vector-to-scf: wrong results",
    ]


def test_kernels_without_a_culprit_come_last_by_their_reason() -> None:
    kernels = [
        wrong(8, "a", undecided("untestable")),
        wrong(8, "b", undecided("untestable")),
        wrong(8, "c", undecided("flaky")),
        wrong(8, "d", by_pass("cse")),
    ]
    groups = triage(kernels)
    assert [group.title for group in groups] == [
        "pass cse: wrong results",
        "undecided: wrong results",
        "undecided: wrong results",
    ]
    assert [group.is_found for group in groups] == [True, False, False]


def test_a_pass_that_fails_is_told_apart_from_one_that_miscompiles() -> None:
    culprit = by_pass("affine-loop-fusion")
    kernels = [wrong(8, "a", culprit), wrong(8, "b", culprit, "NOT COMPILED")]
    assert [group.title for group in triage(kernels)] == [
        "pass affine-loop-fusion: compilations that fail",
        "pass affine-loop-fusion: wrong results",
    ]


def test_nothing_wrong_has_no_groups() -> None:
    assert triage([]) == []
