"""The culprits of wrong kernels: one, and the groups of many with the same culprit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from actiondbg.bisection.result import Result
from actiondbg.bisection.verdict import Found
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.results.entry import Verdict
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG

_EFFECTS: dict[Verdict, str] = {
    "FAILED": "wrong results",
    "CRASHED": "kernels that crash",
    "TIMED OUT": "kernels that do not end",
    "OUT OF MEMORY": "kernels that exhaust the memory",
    "NOT COMPILED": "compilations that fail",
    "TOO SLOW": "kernels that are slow",
    "TOO FAST": "kernels that are fast",
}


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
