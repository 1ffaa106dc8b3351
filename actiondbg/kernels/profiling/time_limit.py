"""Kernels that are right, but slower or faster than a limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.profiling.profiler import StartKernel, calibrated_calls
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.row import Verdict, Verification
from actiondbg.kernels.results.words import milliseconds
from actiondbg.kernels.verification.verifier import DispatchVerifier

_REPETITIONS = 20  # noise only adds to the least of them
_PROCESSES = 3  # the layout of memory in a process adds, too, and noise comes in bursts


@dataclass(frozen=True)
class TimeLimit:
    """A limit of the time of a call.

    Attributes:
        verdict: of kernels beyond it: "TOO SLOW", or "TOO FAST".
    """

    seconds: float
    verdict: Verdict = "TOO SLOW"

    def exceeds(self, seconds: float) -> bool:
        return (seconds > self.seconds) == (self.verdict == "TOO SLOW")


class TimedVerifier:
    """Verifies kernels, and measures the right kernels."""

    def __init__(self, verifier: DispatchVerifier, limit: TimeLimit, start: StartKernel) -> None:
        self._verifier = verifier
        self._limit = limit
        self._start = start

    def identity(self, dispatch: Dispatch) -> str:
        return f"{self._verifier.identity(dispatch)} {self._limit}"

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        verification = self._verifier.verify(dispatch, compiled)
        if verification.verdict != "SUCCESS":
            return verification
        try:
            seconds = self._seconds(dispatch, compiled)
        except KernelError as error:
            return replace(verification, verdict="CRASHED", detail=str(error))
        if not self._limit.exceeds(seconds):
            return verification
        detail = f"a call takes {milliseconds(seconds)} ms, and the limit is "
        detail += f"{milliseconds(self._limit.seconds)}"
        return replace(verification, verdict=self._limit.verdict, detail=detail)

    def _seconds(self, dispatch: Dispatch, compiled: CompiledKernel) -> float:
        """Measure a call; a time above the limit counts if no other process takes less."""
        least = math.inf
        for _ in range(_PROCESSES):
            least = min(least, self._least_of_process(dispatch, compiled))
            if least <= self._limit.seconds:
                break
        return least

    def _least_of_process(self, dispatch: Dispatch, compiled: CompiledKernel) -> float:
        from actiondbg.kernels.verification.operands import make_operands  # needs NumPy

        with self._start(compiled.profile) as kernel:
            kernel.load(make_operands(dispatch.operation, "integers"))
            calls = calibrated_calls(kernel)
            return min(kernel.time(calls)[0] / calls for _ in range(_REPETITIONS))
