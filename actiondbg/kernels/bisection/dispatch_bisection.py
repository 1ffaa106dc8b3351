"""The bisection of wrong kernels: of one, of the wrong rows of a sweep, and groups of culprits."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path

from actiondbg.bisection.api import bisect
from actiondbg.bisection.folder import FolderFile
from actiondbg.bisection.oracles import Crash, Diagnostic, Oracle
from actiondbg.bisection.progress import Progress
from actiondbg.bisection.result import Result
from actiondbg.bisection.verdict import Found, Mode
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.bisection.oracle import KernelJudge, KernelOracle, WrongKernel, write_kernel
from actiondbg.kernels.generated import CONFIGURED, GeneratedFolder, read_json, to_json
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.profiling.profiler import TimeLimit
from actiondbg.kernels.providers.provider import Provider, StepwiseProvider
from actiondbg.kernels.providers.steps import LOG
from actiondbg.kernels.results.entry import TIME_VERDICTS, Row, Verdict, Verification
from actiondbg.kernels.verification.verifier import DispatchVerifier
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.support.atomic_write import locked, write_whole
from actiondbg.support.globs import escape_glob
from actiondbg.version import VERSION

_EFFECTS: dict[Verdict, str] = {
    "FAILED": "wrong results",
    "CRASHED": "kernels that crash",
    "TIMED OUT": "kernels that do not end",
    "OUT OF MEMORY": "kernels that exhaust the memory",
    "NOT COMPILED": "compilations that fail",
    "TOO SLOW": "kernels that are slow",
    "TOO FAST": "kernels that are fast",
}
KERNEL, CULPRIT = "kernel.json", "culprit.json"
REPORT, LOCK = "bisection", ".bisection"
# Without these no pass has anything to do: the smallest set of skips would always be one of them.
_NEEDED = ("one-shot-bufferize", "convert-linalg-to-*")
_CRASH = "was killed by signal"
_ERROR = re.compile(r"\berror: (.*?)(?: \(see .*\))?\.?$")


@dataclass(frozen=True)
class KernelCulprit:
    """The result of the bisection of a kernel.

    Attributes:
        verdict: "found", or why there is no culprit, as in actiondbg.bisection.
        sentence: the culprit, or the reason; to display.
        tag: of the culprit's action, such as "pass-execution"; "" without a culprit.
        name: of the pattern, or the argument of the pass.
        pass_name: the argument of the pass that it is, or is in; "" for none.
        pipeline: that pass with its options and where it is nested, or "".
        location: of the operation in the source, or "".
        folder: of the report and the reproducer, or None.
    """

    verdict: Found
    sentence: str
    tag: str = ""
    name: str = ""
    pass_name: str = ""
    pipeline: str = ""
    location: str = ""
    folder: Path | None = None
    trials: int = 0
    seconds: float = 0.0

    @property
    def is_found(self) -> bool:
        return self.verdict == "found"

    @property
    def pass_text(self) -> str:
        """The pass with its options, such as ``canonicalize{max-iterations=10}``, or ""."""
        return self.pipeline.rpartition("(")[2].rstrip(")")

    @property
    def title(self) -> str:
        """The culprit in a few words, such as ``pass affine-scalrep``."""
        if not self.is_found:
            return "undecided"
        if self.tag == PASS_TAG:
            return f"pass {self.name}"
        kind = {PATTERN_TAG: "pattern"}.get(self.tag, self.tag)
        return f"{kind} {self.name}{f' in {self.pass_name}' if self.pass_name else ''}"


def kernel_culprit(result: Result) -> KernelCulprit:
    ended = KernelCulprit(
        result.verdict,
        result.message,
        folder=Path(result.reproducer) if result.reproducer else None,
        trials=result.trials,
        seconds=result.seconds,
    )
    culprit = result.culprit
    if culprit is None:
        return ended
    return replace(
        ended,
        tag=culprit.tag,
        name=culprit.name,
        pass_name=culprit.pass_name or "",
        pipeline=culprit.pass_pipeline or "",
        location=culprit.location or "",
    )


@dataclass(frozen=True)
class BisectedKernel:
    """A wrong kernel with its culprit."""

    dispatch: Dispatch
    verdict: Verdict
    culprit: KernelCulprit


@dataclass(frozen=True)
class CulpritGroup:
    """The kernels of one culprit.

    Attributes:
        title: the culprit and what it does, or why there is none.
        kernels: the smallest first.
    """

    title: str
    kernels: tuple[BisectedKernel, ...]

    @property
    def example(self) -> BisectedKernel:
        """The smallest kernel."""
        return self.kernels[0]

    @property
    def is_found(self) -> bool:
        return self.example.culprit.is_found


def triage(kernels: Iterable[BisectedKernel]) -> list[CulpritGroup]:
    """Group kernels by their culprits: the action's tag, its name, its pass, and the verdict.

    Returns:
        Groups with a culprit first, then the larger ones first.
    """
    groups: dict[tuple[str, ...], list[BisectedKernel]] = {}
    for each in kernels:
        culprit = each.culprit
        key = (each.verdict, culprit.verdict, culprit.tag, culprit.name, culprit.pass_name)
        groups.setdefault(key, []).append(each)
    found = [
        CulpritGroup(_title(members[0]), tuple(sorted(members, key=_size)))
        for members in groups.values()
    ]
    return sorted(found, key=lambda group: (not group.is_found, -len(group.kernels), group.title))


def _title(kernel: BisectedKernel) -> str:
    culprit = kernel.culprit
    effect = _EFFECTS.get(kernel.verdict, kernel.verdict.lower())
    return f"{culprit.title}: {effect}" if culprit.is_found else f"undecided: {effect}"


def _size(kernel: BisectedKernel) -> tuple[int, int, str]:
    """Return the arithmetic of a kernel and the length of its configuration."""
    configuration = kernel.dispatch.configuration
    return (
        kernel.dispatch.operation.flops,
        len(str(dict(configuration.parameters))),
        kernel.dispatch.name,
    )


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
    with locked(folder / LOCK):
        write_kernel(folder / KERNEL, kernel)
        key = _culprit_key(folder, mode)
        stored = read_json(folder / CULPRIT, _StoredCulprit)
        if stored is not None and stored.key == key and stored.has_report:
            return stored.culprit
        run = partial(
            bisect,
            provider.configured_step(dispatch).argv,
            oracle,
            mode=mode,
            always=_NEEDED if mode == "skip" else (),
            cwd=folder,
            progress=progress,
        )
        culprit = kernel_culprit(_find(run, folder / REPORT, verdict))
        write_whole(folder / CULPRIT, to_json(_StoredCulprit(key, culprit)))
    return culprit


def _event(folder: Path, kernel: WrongKernel, detail: str) -> Oracle | None:
    """Return the oracle of a configured step that fails: it judges the event, not an output."""
    if kernel.verdict != "NOT COMPILED" or count_steps(folder / LOG) > 1:
        return None
    error = compilation_error(detail)
    return Diagnostic(escape_glob(error)) if error else Crash()


def _find(run: Callable[..., Result], output: Path, verdict: Verdict) -> Result:
    """Find the action, or the pass that does more than its actions; ``run`` bisects the step.

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
    coarse = run(tag=PASS_TAG).culprit
    if coarse is None or coarse.ordinal == found.ordinal:
        return fine
    shutil.rmtree(output, ignore_errors=True)
    return run(output=output, tag=PASS_TAG)


def _continued(run: Callable[..., Result], output: Path) -> Result:
    """Continue an interrupted bisection, or begin one in an empty folder."""
    if (output / FolderFile.STATE).is_file():
        try:
            return run(output=output, resume=True)
        except UsageError:  # the state is of another compiler or source
            pass
    shutil.rmtree(output, ignore_errors=True)
    return run(output=output)


@dataclass(frozen=True)
class _StoredCulprit:
    """The culprit of a dispatch, in ``culprit.json``: of one kernel, source and actiondbg."""

    key: str
    culprit: KernelCulprit

    @property
    def has_report(self) -> bool:
        return self.culprit.folder is None or self.culprit.folder.is_dir()


def _culprit_key(folder: Path, mode: Mode) -> str:
    digest = hashlib.sha256(f"{VERSION} {mode}".encode())
    for name in (CONFIGURED, KERNEL):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()


@dataclass
class RowBisector:
    """Finds the culprits of wrong rows; a bisection that fails is a row without a culprit.

    Attributes:
        bisected: the kernels so far, with their culprits.
    """

    folder: GeneratedFolder
    providers: Mapping[str, Provider]
    verifier: DispatchVerifier
    _: KW_ONLY
    mode: Mode = "first"
    limit: TimeLimit | None = None
    progress: Callable[[Progress], None] | None = None
    bisected: list[BisectedKernel] = field(default_factory=list[BisectedKernel])

    def bisect(self, row: Row) -> Row:
        """Return the row with its culprit, and the folder of the report.

        Raises:
            OSError: the folder cannot be written.
        """
        verification = row.verification or Verification("FAILED")
        culprit = self._culprit(row, verification)
        self.bisected.append(BisectedKernel(row.dispatch, verification.verdict, culprit))
        text = culprit.title if culprit.is_found else f"{culprit.title}: {culprit.sentence}"
        return replace(row, culprit=text, culprit_folder=str(culprit.folder or ""))

    def _culprit(self, row: Row, verification: Verification) -> KernelCulprit:
        dispatch = row.dispatch
        try:
            return bisect_dispatch(
                dispatch,
                self.folder.of_dispatch(dispatch),
                self.providers[dispatch.configuration.provider],
                self.verifier,
                verdict=verification.verdict,
                detail=verification.detail,
                mode=self.mode,
                limit=self.limit,
                progress=self.progress,
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
