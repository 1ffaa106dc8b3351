"""Which elements of two sequences correspond."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterator, Sequence
from typing import Literal, TypeVar

T = TypeVar("T", bound=Hashable)
Code = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]  # difflib's

_SMALL = 4_000  # elements of both up to which difflib runs without its heuristic (autojunk)


class Alignment(difflib.SequenceMatcher[T]):
    """difflib's matcher, to which what both have in common at their ends costs next to nothing."""

    def __init__(self, before: Sequence[T], after: Sequence[T]) -> None:
        shorter = min(len(before), len(after))
        head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
        rest = range(shorter - head)
        tail = next((at for at in rest if before[-1 - at] != after[-1 - at]), len(rest))
        left, right = before[head : len(before) - tail], after[head : len(after) - tail]
        super().__init__(None, left, right, autojunk=len(left) + len(right) > _SMALL)
        self._ends = head, tail, len(before), len(after)

    def get_opcodes(self) -> list[Code]:
        head, tail, i, j = self._ends
        codes: list[Code] = [("equal", 0, head, 0, head)] if head else []
        for tag, i1, i2, j1, j2 in super().get_opcodes():
            codes.append((tag, i1 + head, i2 + head, j1 + head, j2 + head))
        return [*codes, ("equal", i - tail, i, j - tail, j)] if tail else codes

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the indices of the elements that correspond."""
        for tag, i1, i2, j1, j2 in self.get_opcodes():
            if tag == "equal":
                yield from zip(range(i1, i2), range(j1, j2), strict=True)
