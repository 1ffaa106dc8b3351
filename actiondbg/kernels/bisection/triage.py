"""Triage of wrong kernels: one group for each distinct culprit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actiondbg.kernels.bisection.culprit import KernelCulprit
from actiondbg.kernels.model.dispatch import Dispatch


@dataclass(frozen=True)
class BisectedKernel:
    """A wrong kernel with its culprit."""

    dispatch: Dispatch
    culprit: KernelCulprit


@dataclass(frozen=True)
class CulpritGroup:
    """The kernels of one culprit.

    Attributes:
        title: the culprit, or why there is none.
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
    """Group kernels by their culprits: the action's tag, its name and its pass.

    Returns:
        Groups with a culprit first, then the larger ones first.
    """
    groups: dict[tuple[str, ...], list[BisectedKernel]] = {}
    for each in kernels:
        culprit = each.culprit
        key = (culprit.verdict, culprit.tag, culprit.name, culprit.pass_name)
        groups.setdefault(key, []).append(each)
    found = [
        CulpritGroup(_title(members[0].culprit), tuple(sorted(members, key=_size)))
        for members in groups.values()
    ]
    return sorted(found, key=lambda group: (not group.is_found, -len(group.kernels), group.title))


def _title(culprit: KernelCulprit) -> str:
    return culprit.title if culprit.is_found else f"undecided ({culprit.verdict})"


def _size(kernel: BisectedKernel) -> tuple[int, int, str]:
    """Return the arithmetic of a kernel and the length of its configuration."""
    configuration = kernel.dispatch.configuration
    return (
        kernel.dispatch.operation.flops,
        len(str(dict(configuration.parameters))),
        kernel.dispatch.name,
    )
