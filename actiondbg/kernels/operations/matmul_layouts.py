"""Row-major and column-major operands of matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Layout = Literal["t", "n"]  # as in BLAS and CUTLASS: t is row-major, n is column-major


@dataclass(frozen=True)
class OperandLayouts:
    """Shapes and indexing maps of the operands of ``result = lhs * rhs``.

    Attributes:
        lhs: "n" if the left operand is k x m in memory.
        rhs: "n" if the right operand is n x k in memory.
    """

    lhs: Layout
    rhs: Layout

    @property
    def row_major(self) -> bool:
        """Whether neither operand is transposed."""
        return self.lhs == self.rhs == "t"

    def shapes(self, m: int, n: int, k: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the shapes in memory."""
        return (m, k) if self.lhs == "t" else (k, m), (k, n) if self.rhs == "t" else (n, k)

    def indexing_maps(self, lhs_batch: bool = False, rhs_batch: bool = False) -> str:
        """Return ``indexing_maps = [...]``.

        Args:
            lhs_batch: the left operand has a leading dimension of batches.
            rhs_batch: the right operand has one; the result has one if either operand has.
        """
        batch = lhs_batch or rhs_batch
        dimensions = "b, m, n, k" if batch else "m, n, k"
        lhs = ["m", "k"] if self.lhs == "t" else ["k", "m"]
        rhs = ["k", "n"] if self.rhs == "t" else ["n", "k"]
        each = [_batched(lhs, lhs_batch), _batched(rhs, rhs_batch), _batched(["m", "n"], batch)]
        maps = ", ".join(f"affine_map<({dimensions}) -> ({', '.join(one)})>" for one in each)
        return f"indexing_maps = [{maps}]"


def _batched(names: Sequence[str], batch: bool) -> list[str]:
    return ["b", *names] if batch else list(names)
