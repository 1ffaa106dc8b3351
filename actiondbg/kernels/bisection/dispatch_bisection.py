"""The bisection of one wrong kernel."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from actiondbg.bisection.api import bisect
from actiondbg.bisection.oracles import Crash, Diagnostic, Oracle
from actiondbg.bisection.progress import Progress
from actiondbg.bisection.result import Result
from actiondbg.bisection.verdict import Mode
from actiondbg.bisection.verdict_store import STATE_FILE
from actiondbg.errors import UsageError
from actiondbg.kernels.bisection.culprit import KernelCulprit, kernel_culprit
from actiondbg.kernels.bisection.oracle import KernelJudge, KernelOracle, WrongKernel, write_kernel
from actiondbg.kernels.generated.layout import CONFIGURED
from actiondbg.kernels.generated.plain_data import from_json, to_json
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.profiling.time_limit import TimeLimit
from actiondbg.kernels.providers.provider import Provider, StepwiseProvider
from actiondbg.kernels.providers.steps import LOG
from actiondbg.kernels.results.row import TIME_VERDICTS, Verdict
from actiondbg.kernels.verification.verifier import DispatchVerifier
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.support.atomic_write import locked, write_whole
from actiondbg.support.globs import escape_glob
from actiondbg.version import VERSION

KERNEL, CULPRIT = "kernel.json", "culprit.json"
REPORT, LOCK = "bisection", ".bisection"
# Without these no pass has anything to do: the smallest set of skips would always be one of them.
_NEEDED = ("one-shot-bufferize", "convert-linalg-to-*")
_CRASH = "was killed by signal"
_ERROR = re.compile(r"\berror: (.*?)(?: \(see .*\))?\.?$")


def compilation_error(sentence: str) -> str:
    """Return the text of the diagnostic in the sentence on a failed step; "" for a crash."""
    found = None if _CRASH in sentence else _ERROR.search(sentence)
    return found[1] if found else ""


def is_compiler_fault(sentence: str) -> bool:
    """Whether a sentence on a failed step names a crash or a diagnostic."""
    return _CRASH in sentence or bool(compilation_error(sentence))


def count_steps(log: Path) -> int:
    """Return how many steps the log of a compilation has; 0 without a log."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return 0
    return sum(line.startswith("$ ") for line in lines)


def bisect_dispatch(
    dispatch: Dispatch,
    folder: Path,
    provider: Provider,
    verifier: DispatchVerifier,
    *,
    verdict: Verdict = "FAILED",
    detail: str = "",
    mode: Mode = "first",
    limit: TimeLimit | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> KernelCulprit:
    """Find the action that makes a kernel wrong.

    An interrupted bisection is continued.

    Args:
        folder: of the dispatch; contains ``configured.mlir``, and gets ``kernel.json`` and, with a
            culprit, the folder ``bisection`` with the report and the reproducer.
        verdict: of the kernel's verification. "NOT COMPILED" looks for what makes the configured
            step fail, or a later one, as the log of the compilation shows.
        detail: of the verification: names the error.
        limit: of the kernel's time, with the verdicts "TOO SLOW" and "TOO FAST".

    Returns:
        The culprit, or why there is none.

    Raises:
        ActiondbgError: the tool could not be started, or does not repeat its run.
        OSError: the folder cannot be written.
    """
    if not isinstance(provider, StepwiseProvider):
        return KernelCulprit(
            "untestable",
            f"The provider {provider.name} compiles in one step, which cannot be bisected: "
            "use 'actiondbg bisect' on its compiler.",
        )
    folder = folder.absolute()
    kernel = WrongKernel(dispatch, verdict, provider.identity(), limit)
    judge = KernelJudge(kernel, provider, verifier)
    oracle = _event(folder, kernel, detail) or KernelOracle(judge, folder / KERNEL)

    def run(output: Path | None, resume: bool = False, tag: str | None = None) -> Result:
        return bisect(
            provider.configured_step(dispatch).argv,
            oracle,
            mode=mode,
            tag=tag,
            always=_NEEDED if mode == "skip" else (),
            output=output,
            resume=resume,
            cwd=folder,
            progress=progress,
        )

    with locked(folder / LOCK):
        write_kernel(folder / KERNEL, kernel)
        stored = StoredCulprit(folder, mode)
        culprit = stored.read()
        if culprit is None:
            culprit = kernel_culprit(_find(run, folder / REPORT, verdict))
            stored.write(culprit)
    return culprit


def _event(folder: Path, kernel: WrongKernel, detail: str) -> Oracle | None:
    """Return the oracle of a configured step that fails: it judges the event, not an output."""
    if kernel.verdict != "NOT COMPILED" or count_steps(folder / LOG) > 1:
        return None
    error = compilation_error(detail)
    return Diagnostic(escape_glob(error)) if error else Crash()


class _Run(Protocol):
    """Bisects the configured step."""

    def __call__(
        self, output: Path | None, resume: bool = False, tag: str | None = None
    ) -> Result: ...


def _find(run: _Run, output: Path, verdict: Verdict) -> Result:
    """Find the action, or the pass that does more than its actions.

    Patterns and folds are candidates instead of their pass, which runs then whatever is skipped.
    What it does beside them would be attributed to a pass before it: so a pass is searched for
    again among passes alone. So is a pattern without which the output is still bad, if several
    of one pass make a kernel slow together.
    """
    fine = _continued(run, output)
    found = fine.culprit
    if found is None or fine.mode != "first":
        return fine
    if found.tag != PASS_TAG and (verdict not in TIME_VERDICTS or fine.confirmed == "good"):
        return fine
    coarse = run(None, tag=PASS_TAG).culprit
    if coarse is None or coarse.ordinal == found.ordinal:
        return fine
    shutil.rmtree(output, ignore_errors=True)
    return run(output, tag=PASS_TAG)


def _continued(run: _Run, output: Path) -> Result:
    """Continue an interrupted bisection, or begin one in an empty folder."""
    if (output / STATE_FILE).is_file():
        try:
            return run(output, resume=True)
        except UsageError:  # the state is of another compiler or source
            pass
    shutil.rmtree(output, ignore_errors=True)
    return run(output)


class StoredCulprit:
    """The culprit of a dispatch, in ``culprit.json``: of one kernel, source and actiondbg."""

    def __init__(self, folder: Path, mode: Mode) -> None:
        self._path = folder / CULPRIT
        digest = hashlib.sha256(f"{VERSION} {mode}".encode())
        for name in (CONFIGURED, KERNEL):
            digest.update((folder / name).read_bytes())
        self._key = digest.hexdigest()

    def read(self) -> KernelCulprit | None:
        """Return the culprit; None if there is none of this kernel, or its report is missing."""
        try:
            stored = from_json(self._path.read_bytes(), _Stored)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        folder = stored.culprit.folder
        if stored.key != self._key or (folder is not None and not folder.is_dir()):
            return None
        return stored.culprit

    def write(self, culprit: KernelCulprit) -> None:
        write_whole(self._path, to_json(_Stored(self._key, culprit)))


@dataclass(frozen=True)
class _Stored:
    key: str
    culprit: KernelCulprit
