"""The cost of counted calls: totals of functions and threads, statistics, and files of CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.counting.calls import Calls, Function, Thread
from actiondbg.statistics.buckets import Floats, sums_by_group
from actiondbg.statistics.quantities import DURATION, Quantity, Relation, quantity_of, relations_of
from actiondbg.support.atomic_write import open_whole

_MOST_NAMES = 20
# 'actiondbg cost' reads both files by the names of their columns.
COLUMNS = ("dispatch", "library", "thread", "cpu", "node", "start_ns", "duration_ns")
_TOTALS = ("dispatch", "library", "calls", "total_ns")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


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


def write_csv_files(calls: Calls, folder: Path) -> list[Path]:
    """Write one row per call, and one per function; missing counts are empty.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes = nodes_of_cpus()
    paths: list[Path] = []
    for thread in np.unique(calls.thread):
        path = _free_path(folder / _file_name(calls.threads[int(thread)]), paths)
        paths.append(path)
        _write_thread(calls, int(thread), path, nodes)
    return [*paths, _write_functions(calls, folder / "functions.csv")]


def _write_thread(calls: Calls, index: int, path: Path, nodes: dict[int, int]) -> Path:
    thread = calls.threads[index]
    own = calls.only(calls.thread == index)
    columns = [
        np.array([function.name for function in calls.functions])[own.function].tolist(),
        np.array([function.library for function in calls.functions])[own.function].tolist(),
        [thread.name] * own.size,
        own.cpu.tolist(),
        [nodes.get(int(cpu), 0) for cpu in own.cpu],
        _whole(own.start),
        _whole(own.duration),
        *(_whole(values) for values in own.events.values()),
    ]
    return _write(path, [*COLUMNS, *own.events], zip(*columns, strict=True))


def _write_functions(calls: Calls, path: Path) -> Path:
    rows = [
        (
            *(total.function.name, total.function.library, total.calls, int(total.duration)),
            *(int(count) for count in total.events.values()),
        )
        for total in function_totals(calls)
    ]
    return _write(path, [*_TOTALS, *calls.events], rows)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with open_whole(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(rows)
        text.detach()  # flushes
    return path


def _free_path(path: Path, used: Sequence[Path]) -> Path:
    """Return a path that is not used: numbers of processes and threads occur again."""
    paths = (path, *(path.with_stem(f"{path.stem}-{serial}") for serial in range(2, len(used) + 3)))
    return next(one for one in paths if one not in used)


def _file_name(thread: Thread) -> str:
    name = _UNSAFE.sub("_", thread.name) or "thread"
    return f"calls-{thread.process}-{thread.number}-{name}.csv"


def _whole(values: Floats) -> list[int | str]:
    return ["" if np.isnan(value) else int(value) for value in values]
