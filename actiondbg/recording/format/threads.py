"""Parallel work on arrays: numpy releases the GIL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_THREADS = 2  # more need more memory and save little: columns share intermediate results


def do_all(work: Callable[[T], object], items: Sequence[T]) -> None:
    """Call a function for each item; re-raises the first exception."""
    if len(items) < 2:
        for item in items:
            work(item)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(work, items))
