"""Wall time of whole runs, side by side: a noisy machine is noisy for all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def seconds(run: Callable[[], object]) -> float:
    """Return the wall time of one call, in seconds."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def best_of(rounds: int, **runs: Callable[[], object]) -> dict[str, float]:
    """Return the least wall time of each run, in seconds; the rounds are interleaved."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    return {name: min(taken) for name, taken in times.items()}


def median_of(count: int, call: Callable[[], object]) -> float:
    """Return the median wall time of so many calls, in seconds."""
    return statistics.median(seconds(call) for _ in range(count))
