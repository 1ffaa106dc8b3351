"""The culprit of a wrong kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from actiondbg.bisection.result import Result
from actiondbg.bisection.verdict import Found
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG


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
        trials: of the bisection.
        seconds: the bisection took.
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
        """Whether there is a culprit."""
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
    """Return the culprit of a bisection's result."""
    culprit = result.culprit
    folder = Path(result.reproducer) if result.reproducer else None
    if culprit is None:
        return KernelCulprit(
            result.verdict,
            result.message,
            folder=folder,
            trials=result.trials,
            seconds=result.seconds,
        )
    return KernelCulprit(
        result.verdict,
        result.message,
        culprit.tag,
        culprit.name,
        culprit.pass_name or "",
        culprit.pass_pipeline or "",
        culprit.location or "",
        folder,
        result.trials,
        result.seconds,
    )
