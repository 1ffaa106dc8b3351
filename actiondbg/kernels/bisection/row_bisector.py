"""The bisection of the wrong rows of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from actiondbg.bisection.progress import Progress
from actiondbg.bisection.verdict import Mode
from actiondbg.errors import ActiondbgError
from actiondbg.kernels.bisection.culprit import BisectedKernel, KernelCulprit
from actiondbg.kernels.bisection.dispatch_bisection import bisect_dispatch, is_compiler_fault
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.profiling.time_limit import TimeLimit
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.results.row import Row, Verification
from actiondbg.kernels.verification.verifier import DispatchVerifier


class RowBisector:
    """Finds the culprits of wrong rows; a bisection that fails is a row without a culprit."""

    def __init__(
        self,
        folder: GeneratedFolder,
        providers: Mapping[str, Provider],
        verifier: DispatchVerifier,
        *,
        mode: Mode = "first",
        limit: TimeLimit | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.bisected: list[BisectedKernel] = []
        self._folder = folder
        self._providers = providers
        self._verifier = verifier
        self._mode: Mode = mode
        self._limit = limit
        self._progress = progress

    def bisect(self, row: Row) -> Row:
        """Return the row with its culprit, and the folder of the report.

        Raises:
            OSError: the folder cannot be written.
        """
        verification = row.verification or Verification("FAILED")
        verdict = verification.verdict
        culprit = self._culprit(row, verification)
        self.bisected.append(BisectedKernel(row.dispatch, verdict, culprit))
        text = culprit.title if culprit.is_found else f"{culprit.title}: {culprit.sentence}"
        return replace(row, culprit=text, culprit_folder=str(culprit.folder or ""))

    def _culprit(self, row: Row, verification: Verification) -> KernelCulprit:
        dispatch = row.dispatch
        try:
            return bisect_dispatch(
                dispatch,
                self._folder.of_dispatch(dispatch),
                self._providers[dispatch.configuration.provider],
                self._verifier,
                verdict=verification.verdict,
                detail=verification.detail,
                mode=self._mode,
                limit=self._limit,
                progress=self._progress,
            )
        except ActiondbgError as error:
            return KernelCulprit("untestable", str(error))


def can_be_bisected(row: Row) -> bool:
    """Whether a kernel is wrong, or the compiler failed on it."""
    verification = row.verification
    if verification is None:
        return False
    if verification.verdict == "NOT COMPILED":
        return is_compiler_fault(verification.detail)
    return verification.is_wrong
