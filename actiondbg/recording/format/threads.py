"""Work on arrays in two threads: numpy lets the other one run meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_THREADS = 2  # more only need more memory: columns have much in common


def do_all(work: Callable[[T], object], items: Sequence[T]) -> None:
    """Do some work for each item; raises what one of them raised."""
    if len(items) < 2:
        for item in items:
            work(item)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(work, items))
