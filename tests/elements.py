"""Elements to check, of which there have to be some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def some(elements: Iterable[T]) -> Iterator[T]:
    """Yield the elements; fail if there is none, as a check of each would have checked nothing."""
    is_empty = True
    for one in elements:
        is_empty = False
        yield one
    assert not is_empty, "there is nothing to check"
