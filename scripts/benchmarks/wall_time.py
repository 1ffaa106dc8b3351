"""Wall time of runs, interleaved so that noise affects all of them."""

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
    """Return the shortest wall time of each run, in seconds; the rounds are interleaved."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    return {name: min(taken) for name, taken in times.items()}


def beside(
    rounds: int, bare: Callable[[], object], **runs: Callable[[], object]
) -> dict[str, float]:
    """Return the wall time of ``bare`` and of each run, in seconds.

    That of a run is the median of its ratios to a bare run right before it, times the median of
    bare: where a machine is slow for some seconds and then fast again, neighbours are alike, and
    the least times of two runs need not be.
    """
    alone: list[float] = []
    ratios: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            alone.append(seconds(bare))
            ratios[name].append(seconds(run) / alone[-1])
    usual = statistics.median(alone)
    times = {name: usual * statistics.median(many) for name, many in ratios.items()}
    return {"bare": usual, **times}


def median_of(count: int, call: Callable[[], object]) -> float:
    """Return the median wall time of so many calls, in seconds."""
    return statistics.median(seconds(call) for _ in range(count))
