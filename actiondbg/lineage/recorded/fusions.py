"""The edges from operations that a pattern fuses with its root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

_DEPTH = 3  # operations between the root of a pattern and one that it fuses
_MOST = 16  # operations of the same distance, and replacements of one


class Fusion(NamedTuple):
    """An operation that a pattern fused into its user.

    Args:
        old: the operation, which defines an operand of the root, directly or not.
        new: the one that the pattern inserted.
        pattern: the ordinal.
    """

    old: int
    new: int
    pattern: int


class Fusions:
    """Finds the operations that patterns fuse with their roots, such as a product with a sum.

    The operands show it: the new operation takes all those of the old one, and the root has
    nothing to do with some of them, so that the pattern read them from the old one.

    Args:
        operands: of an operation, by number, its definers; 0 for arguments of blocks.
        replaced: by number, what took the uses of an operation, and the ordinal of the action.
    """

    def __init__(
        self,
        operands: Callable[[int], Sequence[int]],
        replaced: Mapping[int, tuple[int, int]],
    ) -> None:
        self._operands = operands
        self._replaced = replaced

    def of(self, inserted: Iterable[tuple[int, int, int]]) -> Iterator[Fusion]:
        """Iterate over the fusions.

        Args:
            inserted: the root of a pattern, what it inserted, and the ordinal.
        """
        for root, new, pattern in inserted:
            taken, own = (self._definers(one, pattern) for one in (new, root))
            if len(taken) > 1 and taken - own:
                found = self._read(own, taken, pattern)
                yield from (Fusion(old, new, pattern) for old in found)

    def _read(self, own: Counter[int], taken: Counter[int], pattern: int) -> Iterator[int]:
        """Iterate over the operations behind a root all of whose operands are taken."""
        around = self._around(own, taken, pattern)
        uses = sum(around.values(), own)
        for one, inner in around.items():
            if inner.total() < 2 or not inner <= taken:
                continue
            read = inner.keys() - own.keys() - {0}
            # All arguments that the root does not take itself are of this operation.
            if inner[0] and uses[0] == taken[0] == own[0] + inner[0]:
                read.add(0)
            elif inner[0]:
                read = {each for each in read if uses[each] == 1}
            if read:
                yield one

    def _around(
        self, own: Counter[int], taken: Counter[int], pattern: int
    ) -> dict[int, Counter[int]]:
        """Return the operations behind a root that are not taken themselves, and their definers."""
        found: dict[int, Counter[int]] = {}
        fresh = own.keys() - taken.keys() - {0}
        for _ in range(_DEPTH):
            found |= {one: self._definers(one, pattern) for one in sorted(fresh)[:_MOST]}
            fresh = {inner for one in fresh & found.keys() for inner in found[one]}
            fresh -= taken.keys() | found.keys() | {0}
        return found

    def _definers(self, number: int, pattern: int) -> Counter[int]:
        return Counter(self._current(one, pattern) for one in self._operands(number))

    def _current(self, number: int, pattern: int) -> int:
        """Return what had taken the uses of an operation before the application of a pattern."""
        for _ in range(_MOST):
            by, ordinal = self._replaced.get(number, (number, pattern))
            if ordinal >= pattern or by == number:
                break
            number = by
        return number
