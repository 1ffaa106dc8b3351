"""The cost of counted calls: totals of functions and threads, and statistics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.counting.calls import Calls, Function, Thread
from actiondbg.statistics.quantities import (
    DURATION,
    Quantity,
    Relation,
    quantity_of,
    relations_of,
    sums_by_group,
)

_MOST_NAMES = 20


class NothingCounted(ActiondbgError):
    """No call was counted."""


@dataclass(frozen=True)
class FunctionTotal:
    """The cost of a function.

    Args:
        calls: the number of calls: one for each workgroup of a dispatch.
        duration: nanoseconds.
        events: the counts by event name, over the calls that counted it.
        means: the counts for each of these calls; None if there are none.
    """

    function: Function
    calls: int
    duration: float
    events: dict[str, float]
    means: dict[str, float | None]

    def as_json(self) -> dict[str, object]:
        return {
            "library": self.function.library,
            "name": self.function.name,
            "calls": self.calls,
            "duration_ns": self.duration,
            "events": {
                name: {"total": total, "per_call": self.means[name]}
                for name, total in self.events.items()
            },
        }


@dataclass(frozen=True)
class ThreadTotal:
    """The calls of a thread.

    Args:
        duration: nanoseconds.
        cpus: the number of calls on each CPU.
    """

    thread: Thread
    calls: int
    duration: float
    cpus: dict[int, int]

    def as_json(self) -> dict[str, object]:
        cpus = {str(cpu): calls for cpu, calls in self.cpus.items()}
        return {
            **self.thread._asdict(),
            "calls": self.calls,
            "duration_ns": self.duration,
            "cpus": cpus,
        }


@dataclass(frozen=True)
class CallStatistics:
    """The statistics of calls.

    Args:
        thread: the thread of the calls; None for all.
        quantities: the duration and the events.
        relations: the dependence between each two of them.
    """

    thread: Thread | None
    quantities: list[Quantity]
    relations: list[Relation]

    @property
    def calls(self) -> int:
        return len(self.quantities[0].values)

    def as_json(self) -> dict[str, object]:
        return {
            "thread": self.thread._asdict() if self.thread else None,
            "calls": self.calls,
            "quantities": {one.name: one.as_json() for one in self.quantities},
            "relations": [_relation_json(relation) for relation in self.relations],
        }


@dataclass(frozen=True)
class CallCost:
    """The cost of the calls of a program.

    Args:
        functions: the total of each function, the costliest first.
        threads: the total of each thread.
        statistics: of all calls or of each thread; empty if they are of several functions.
    """

    calls: Calls
    functions: list[FunctionTotal]
    threads: list[ThreadTotal]
    statistics: list[CallStatistics]

    def as_json(self) -> dict[str, object]:
        return {
            "calls": self.calls.size,
            "events": list(self.calls.events),
            "functions": [total.as_json() for total in self.functions],
            "threads": [total.as_json() for total in self.threads],
            "statistics": [one.as_json() for one in self.statistics],
            "notes": self.calls.notes,
        }


@dataclass(frozen=True)
class CallSelection:
    """The calls to measure, and how.

    Args:
        name: a glob of function names; None for all.
        skip_start: leave out calls that began earlier, in milliseconds.
        buckets: the number of quantile buckets.
        by_thread: statistics of each thread instead of all calls.
    """

    name: str | None = None
    skip_start: float = 0.0
    buckets: int = 16
    by_thread: bool = False


def cost_of(calls: Calls, selection: CallSelection) -> CallCost:
    """Return the cost of the selected calls.

    Raises:
        NothingCounted: there is no such call.
    """
    selected = calls if selection.name is None else calls.named(selection.name)
    if not selected.size:
        raise NothingCounted(" ".join([_why_nothing(calls, selection.name), *calls.notes]))
    late = selected.from_time(selection.skip_start)
    if not late.size:
        raise NothingCounted(
            f"All {selected.size:,} calls began in the first {selection.skip_start:g} ms: give a "
            "smaller --skip-start."
        )
    functions = function_totals(late)
    threads = _thread_totals(late)
    statistics: list[CallStatistics] = []
    if selection.by_thread:
        used = np.unique(late.thread)
        statistics = [_statistics(late, selection.buckets, int(thread)) for thread in used]
    elif len(functions) == 1 or selection.name is not None:
        statistics = [_statistics(late, selection.buckets, None)]
    return CallCost(late, functions, threads, statistics)


def nodes_of_cpus(folder: Path = Path("/sys/devices/system/node")) -> dict[int, int]:
    nodes: dict[int, int] = {}
    for path in folder.glob("node[0-9]*/cpulist"):
        node = int(path.parent.name.removeprefix("node"))
        for part in path.read_text().strip().split(","):
            first, _, last = part.partition("-")
            if first:
                nodes.update(dict.fromkeys(range(int(first), int(last or first) + 1), node))
    return nodes


def _why_nothing(calls: Calls, name: str | None) -> str:
    names = list(dict.fromkeys(function.name for function in calls.functions))
    if not names:
        return (
            "No function was counted: the program loaded no module of IREE and no kernel of a "
            "shared library, or it is linked statically."
        )
    some = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    if name is not None and not any(function.counted for function in calls.functions):
        return f"No function matches {name!r}: the program has {some}."
    return f"No function was called: the program loaded {some}."


def function_totals(calls: Calls) -> list[FunctionTotal]:
    """Return the cost of each function, the costliest first."""
    used, group = np.unique(calls.function, return_inverse=True)
    size = len(used)
    number = np.bincount(group, minlength=size)
    duration = sums_by_group(calls.duration, group, size)
    sums = {
        name: sums_by_group(np.nan_to_num(one), group, size) for name, one in calls.events.items()
    }
    counted = {
        name: sums_by_group((~np.isnan(one)).astype(np.float64), group, size)
        for name, one in calls.events.items()
    }
    totals = [
        FunctionTotal(
            calls.functions[int(function)],
            int(number[i]),
            float(duration[i]),
            {name: float(values[i]) for name, values in sums.items()},
            {
                name: float(values[i] / counted[name][i]) if counted[name][i] else None
                for name, values in sums.items()
            },
        )
        for i, function in enumerate(used)
    ]
    return sorted(totals, key=lambda total: -total.duration)


def _thread_totals(calls: Calls) -> list[ThreadTotal]:
    totals: list[ThreadTotal] = []
    for index in np.unique(calls.thread):
        own = calls.only(calls.thread == index)
        cpus, number = np.unique(own.cpu, return_counts=True)
        totals.append(
            ThreadTotal(
                calls.threads[int(index)],
                own.size,
                float(np.sum(own.duration)),
                {int(cpu): int(count) for cpu, count in zip(cpus, number, strict=True)},
            )
        )
    return totals


def _statistics(calls: Calls, buckets: int, thread: int | None) -> CallStatistics:
    """Return the statistics of the calls of a thread, or of all, that counted all events."""
    if thread is not None:
        calls = calls.only(calls.thread == thread)
    counted = calls.only(calls.counted)
    # Threads whose counters could not be opened have durations only.
    whole = counted if counted.size else calls
    events = whole.events if counted.size else {}
    quantities = [
        quantity_of(DURATION, whole.duration, buckets),
        *(quantity_of(name, values, buckets) for name, values in events.items()),
    ]
    return CallStatistics(
        None if thread is None else calls.threads[thread], quantities, relations_of(quantities)
    )


def _relation_json(relation: Relation) -> dict[str, object]:
    return {
        "first": relation.first.name,
        "second": relation.second.name,
        "pearson": relation.pearson,
        "spearman": relation.spearman,
        "first_given_second": relation.first_given_second.tolist(),
        "second_given_first": relation.second_given_first.tolist(),
    }
