"""Triage of wrong kernels: one group for each distinct culprit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actiondbg.kernels.bisection.culprit import KernelCulprit
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.results.row import Verdict

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
class BisectedKernel:
    """A wrong kernel with its culprit.

    Attributes:
        dispatch: of the kernel.
        verdict: of its verification.
        culprit: the result of its bisection.
    """

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
        """Whether there is a culprit."""
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
