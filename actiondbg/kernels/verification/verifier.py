"""The verification of compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from actiondbg.kernels.errors import (
    KernelError,
    KernelOutOfMemory,
    KernelTimedOut,
    NotRunnable,
    ResultChanged,
    WroteOutOfBounds,
)
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.packages import np
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Verdict, Verification
from actiondbg.kernels.verification.expectation import Expectation, ReferenceCache
from actiondbg.kernels.verification.result_check import compare, error_map

_VERDICTS: dict[type[KernelError], Verdict] = {
    KernelTimedOut: "TIMED OUT",
    KernelOutOfMemory: "OUT OF MEMORY",
    NotRunnable: "NOT RUNNABLE HERE",
    WroteOutOfBounds: "FAILED",
    ResultChanged: "FAILED",
}


def verdict_of(error: KernelError) -> Verdict:
    return _VERDICTS.get(type(error), "CRASHED")


class DispatchVerifier(Protocol):
    """Compares the result of a kernel with its reference."""

    def identity(self, dispatch: Dispatch) -> str:
        """Return a digest of what the result is compared with."""
        ...

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        """Run a kernel in a child process; a fault of the kernel is a verdict, no error."""
        ...


class Verifier:
    """Runs kernels in processes of their own, and compares their results with references."""

    def __init__(
        self, *references: ReferenceCache, seconds: float = 60.0, memory: int | None = None
    ) -> None:
        self._references = references
        self._seconds = seconds
        self._memory = memory

    def identity(self, dispatch: Dispatch) -> str:
        """Return a digest of the references of a dispatch; "" if there is none.

        Raises:
            OSError: the reference cannot be written.
        """
        try:
            return " ".join(each.identity(dispatch.operation) for each in self._references)
        except KernelError:
            return ""

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        """Verify a kernel; a fault of the kernel is a verdict, no error.

        Returns:
            The verdict; of several references, that of the first that does not agree.

        Raises:
            OSError: the reference cannot be written.
        """
        verification = Verification("Not verified")
        for each in self._references:
            verification = self._compare(dispatch, compiled, each)
            if verification.verdict != "SUCCESS":
                break
        return verification

    def _compare(
        self, dispatch: Dispatch, compiled: CompiledKernel, references: ReferenceCache
    ) -> Verification:
        """Verify a kernel against one reference, with all its operands."""
        try:
            expectations = references.expectations(dispatch.operation)
        except KernelError as error:
            return Verification("Not verified", detail=str(error))
        if compiled.flushes_denormals:
            expectations = [each for each in expectations if each.run.kind != "denormals"]
        total = dispatch.operation.result.elements
        verification = self._run(compiled.verify, expectations, total)
        if verification.verdict != "SUCCESS" or compiled.profile == compiled.verify:
            return verification
        return _measured(self._run(compiled.profile, expectations, total), verification)

    def _run(
        self, binary: KernelBinary, expectations: Sequence[Expectation], total: int
    ) -> Verification:
        method, ratio = "", 0.0
        try:
            with KernelProcess(
                binary, seconds=self._seconds, memory=self._memory, caches=False
            ) as process:
                for each in expectations:
                    method = each.method
                    verification = _compared(process.run(each.operands), each)
                    if verification.verdict != "SUCCESS":
                        return verification
                    ratio = max(ratio, verification.error_ratio)
        except KernelError as error:
            return Verification(verdict_of(error), method, total=total, detail=str(error))
        methods = ", ".join(dict.fromkeys(each.method for each in expectations))
        return Verification("SUCCESS", methods, total=total, error_ratio=ratio)


def _measured(measured: Verification, verified: Verification) -> Verification:
    """Return the verdict on a right kernel whose times are those of another binary.

    One that repeats its dispatches may compute something else, although the kernel is right: such
    as a sum that each repetition adds to. Its time is then no time of the kernel.
    """
    if measured.verdict == "SUCCESS":
        ratio = max(measured.error_ratio, verified.error_ratio)
        return replace(verified, error_ratio=ratio)
    if not measured.wrong:
        return replace(measured, detail=f"The binary that is measured: {measured.detail}")
    return replace(
        verified,
        verdict="Not verified",
        detail=f"The kernel is right, but the binary that is measured, with repeated dispatches, "
        f"computes {measured.wrong:,} of {measured.total:,} elements otherwise: measure it without "
        "--batch-size.",
    )


def _compared(result: np.ndarray, expectation: Expectation) -> Verification:
    comparison = compare(result, expectation)
    wrong = int(comparison.wrong.sum())
    return Verification(
        "FAILED" if wrong else "SUCCESS",
        expectation.method,
        wrong=wrong,
        total=result.size,
        error_ratio=comparison.error_ratio,
        first=comparison.first,
        map=error_map(comparison.wrong),
        detail=comparison.pattern,
    )
